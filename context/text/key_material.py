"""What is key material, by the names of files: one list for all that hides, covers or holds it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class KeyMaterial:
    """The lists of ``key_material.toml``, which says how names match."""

    anywhere: tuple[str, ...]
    home: tuple[str, ...]
    home_only: tuple[str, ...]
    secret: tuple[str, ...]
    secret_folders: tuple[str, ...]
    covered: tuple[str, ...]

    def in_home(self) -> tuple[str, ...]:
        """The files and folders that nobody else should see, relative to the home folder: none in another."""
        names = (*self.anywhere, *self.home, *self.home_only, *self.covered)
        paths = {PurePosixPath(name): None for name in names if "*" not in name}
        return tuple(str(path) for path in paths if paths.keys().isdisjoint(path.parents))


@lru_cache(maxsize=1)
def key_material() -> KeyMaterial:
    """The list."""
    data = tomllib.loads(resources.files("context.text").joinpath("key_material.toml").read_text("utf-8"))
    return KeyMaterial(**{name: tuple(values) for name, values in data.items()})


def is_key_folder(path: str) -> bool:
    """Whether a file lies in a folder in which all is secret."""
    names, within = _names(), f"/{path.lower()}"
    *parts, _ = within.split("/")
    if not names.folders.isdisjoint(parts):
        return True
    return not names.firsts.isdisjoint(parts) and any(folder in within for folder in names.paths)


def is_key_file(path: str) -> bool:
    """Whether the name of a file says that it is secret, by itself or with the folders before it."""
    names, lowered = _names(), path.lower()
    name = lowered.rpartition("/")[2]
    if name in names.files or name.startswith(names.begins) or name.endswith(names.endings):
        return True
    if names.patterns.fullmatch(name):
        return True
    return any(f"/{lowered}".endswith(end) for end in names.ends.get(name, ()))


@dataclass(frozen=True, slots=True)
class _Names:
    """The names by what is compared, since each file of a project is looked up.

    These are names and paths of folders, the first names of such paths, names of files, their beginnings and
    endings, and ends of paths by their names.
    """

    folders: frozenset[str]
    paths: tuple[str, ...]
    firsts: frozenset[str]
    files: frozenset[str]
    begins: tuple[str, ...]
    endings: tuple[str, ...]
    patterns: re.Pattern[str]
    ends: dict[str, tuple[str, ...]]


@lru_cache(maxsize=1)
def _names() -> _Names:
    keys = key_material()
    every = [name.lower() for name in (*keys.anywhere, *keys.home, *keys.secret, *keys.secret_folders)]
    folders = [name for name in every if name.endswith("/")]
    paths = [name for name in folders if name.count("/") > 1]
    files = [name for name in every if not name.endswith("/")]
    begins = [name for name in files if name.find("*") == len(name) - 1]
    endings = [name for name in files if name.rfind("*") == 0]
    ends: dict[str, tuple[str, ...]] = {}
    for name in (name for name in files if "/" in name):
        last = name.rpartition("/")[2]
        ends[last] = (*ends.get(last, ()), f"/{name}")
    return _Names(
        folders=frozenset(name[:-1] for name in folders if name.count("/") == 1),
        paths=tuple(f"/{name}" for name in paths),
        firsts=frozenset(name.partition("/")[0] for name in paths),
        files=frozenset(name for name in files if "/" not in name and "*" not in name),
        begins=tuple(name[:-1] for name in begins),
        endings=tuple(name[1:] for name in endings),
        patterns=_any_of(name for name in files if "*" in name and name not in {*begins, *endings}),
        ends=ends,
    )


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in names), re.DOTALL)
