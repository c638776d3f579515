"""The plan of a sandbox: what it shows, hides and limits, as the mapping that ``namespaces.py`` reads."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from context.text.key_material import key_material
from context.text.secrets import is_secret_file

MEGABYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that all processes of a command may use together; a command that uses more is ended."""

    memory: int = 4_096 * MEGABYTE
    """Bytes that are not shared with files on a disk."""
    processes: int = 512
    disk: int = 4_096 * MEGABYTE
    """Bytes written, in one file or in all."""
    files: int = 1_000_000
    """Files and folders made: a file system has room for so many, however small they are."""


@dataclass(frozen=True, slots=True)
class View:
    """The part of the machine that a command sees besides the project. Paths are absolute, without links."""

    home: str
    """The user's home folder; empty where the command does not see it, or it is a part of the project."""
    elsewhere: tuple[str, ...]
    """The folders at the top of the file tree that are no part of the system: the user's programs may have
    sockets and pipes there too."""
    shown: tuple[str, ...]
    """Folders below a temporary or run-time folder that the command needs, such as a virtual environment."""
    hidden: tuple[str, ...]
    caches: tuple[str, ...]
    temporary: tuple[str, ...]
    run_time: tuple[str, ...]


def view(project: Path, home: Path, environ: Mapping[str, str], private: Iterable[Path]) -> View:
    """The view of a command in ``project``; ``private`` are spark's own folders, which are hidden.

    Nothing that contains the project is hidden, and no cache inside the project is an overlay of its own.
    """
    data = _data()
    hidden = [*(home / name for name in key_material().in_home()), *_keys_in(home), *private]
    caches = [home / name for name in data["caches"]]
    replaced = (*data["temporary"], *data["run_time"], *data["memory"])
    return View(
        home=_home(home, project, replaced),
        elsewhere=_elsewhere((*data["system"], *replaced)),
        shown=_shown(environ, replaced),
        hidden=tuple(_real(path) for path in hidden if path.exists() and not _holds(path, project)),
        caches=tuple(_real(path) for path in caches if path.is_dir() and not _touch(path, project)),
        temporary=tuple(data["temporary"]),
        run_time=tuple(data["run_time"]),
    )


def plan(
    view: View, limits: Limits, *, project: Path, box: Path, network: bool, gone: Iterable[str] = ()
) -> dict[str, Any]:
    """The plan for one command in ``project``; ``box`` is the sandbox's own folder, and the files in ``gone``
    are deleted in the sandbox."""
    return {
        "project": str(project),
        "box": str(box),
        "network": network,
        "gone": sorted(gone),
        "limits": asdict(limits),
        **asdict(view),
    }


def _home(home: Path, project: Path, replaced: Iterable[str]) -> str:
    resolved = home.resolve()
    unseen = any(resolved.is_relative_to(each) for each in replaced) or resolved.is_relative_to(project)
    return "" if unseen or not resolved.is_dir() or resolved == Path("/") else str(resolved)


def _keys_in(folder: Path) -> list[Path]:
    """The files right in ``folder`` that hold secrets by their names, such as ``.env``."""
    with suppress(OSError), os.scandir(folder) as entries:
        return [Path(each.path) for each in entries if is_secret_file(each.name) and each.is_file()]
    return []


def _elsewhere(system: Sequence[str]) -> tuple[str, ...]:
    with os.scandir("/") as entries:
        folders = [each.path for each in entries if each.is_dir(follow_symlinks=False)]
    return tuple(sorted(set(folders) - set(system)))


def _shown(environ: Mapping[str, str], replaced: Sequence[str]) -> tuple[str, ...]:
    """The folders that ``PATH`` and ``VIRTUAL_ENV`` name below ``replaced``, and spark's own Python; for a
    ``bin``, its parent."""
    named = [*environ.get("PATH", "").split(os.pathsep), environ.get("VIRTUAL_ENV", ""), sys.prefix]
    found: dict[str, None] = {}
    for name in named:
        folder = Path(name)
        below = any(folder.is_relative_to(each) and str(folder) != each for each in replaced)
        if folder.is_absolute() and below and folder.is_dir():
            parent = folder.parent if folder.name in ("bin", "sbin") else folder
            found[str(folder if str(parent) in replaced else parent)] = None
    return tuple(found)


def _holds(path: Path, project: Path) -> bool:
    return project.is_relative_to(path.resolve())


def _touch(path: Path, project: Path) -> bool:
    resolved = path.resolve()
    return project.is_relative_to(resolved) or resolved.is_relative_to(project)


def _real(path: Path) -> str:
    return str(path.resolve())


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("plan.toml").read_text("utf-8"))
