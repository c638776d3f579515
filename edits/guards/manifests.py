"""Manifests: what a project says of the code that it takes from elsewhere.

A change of where code comes from, or of what runs when it is installed, is held; another version of the
same package is not. Which files count, and what in them, is in ``manifests.toml``; they are read by their
own parsers where Python has one, and as lines where it has none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from pathlib import PurePosixPath
from typing import Any

from edits.guards.manifest_lines import (
    Lines,
    Taken,
    read_blocks,
    read_go,
    read_lines,
    read_requirements,
    read_setup_py,
)
from edits.guards.manifest_tables import Elements, Table, read_table, read_xml
from edits.guards.risky_files import folded, name_pattern

_SHOWN = 3
"""Packages or sources that a reason names."""
_LONGEST_SHOWN = 80
"""Characters of one of them."""
_LONGEST_LIST = 200_000
"""Characters up to which a text of another name is read as a list of requirements."""


@dataclass(frozen=True, slots=True)
class _Kinds:
    lock: re.Pattern[str]
    requirements: re.Pattern[str]
    script: Table
    readers: tuple[tuple[re.Pattern[str], Table | Elements | Lines], ...] = field(default=())


def dependency_change(
    names: Iterable[str], old: str | None, new: str, *, moved: str | None = None, packages: bool = True
) -> str | None:
    """Why a change of a file with these ``names`` is one of where code comes from; None if it is not.

    ``old`` and ``new`` are its texts before and after; ``moved`` is its name before if that was another.
    ``old`` is None for a new file: its packages are not held as long as each comes from where its kind comes
    from by itself. Without ``packages``, no new package is held as long as that is so.
    """
    for name in names:
        why = _change(name, old, new, name if moved is None else moved, packages=packages)
        if why is not None:
            return why
    return None


def read_manifest(path: str, text: str) -> Taken | None:
    """What a manifest takes from elsewhere; nothing for another file, None for one that cannot be read."""
    name = folded(path).rpartition("/")[2]
    kinds = _kinds()
    if name == "setup.py":
        return read_setup_py(text)
    if name in ("go.mod", "go.work"):
        return read_go(text)
    if name.endswith((".py", ".pyw")):
        said = _SCRIPT.search(text) if "# /// script" in text else None
        return read_table("", re.sub("(?m)^# ?", "", said[1]), kinds.script) if said else Taken()
    for matches, how in kinds.readers:
        if matches.fullmatch(name):
            if isinstance(how, Table):
                return read_table(name, text, how)
            if isinstance(how, Elements):
                return read_xml(text, how)
            return read_blocks(text, how) if how.blocks else read_lines(text, how)
    if kinds.requirements.fullmatch(name) or _is_in_folder_of_requirements(path):
        return read_requirements(text)
    return Taken()


def _change(name: str, old: str | None, new: str, name_before: str, *, packages: bool) -> str | None:
    if old == new and name == name_before:
        return None
    if _kinds().lock.fullmatch(folded(name).rpartition("/")[2]):
        return "a package manager writes it, with where each package comes from"
    before = Taken() if old is None else _taken(name_before, old, new)
    after = _taken(name, new, old or "")
    if before is None or after is None:
        return "it cannot be read, so what it takes from elsewhere is not known"
    added = sorted(after.names - before.names) if old is not None and packages else []
    moved = sorted(after.sources ^ before.sources)
    reasons = []
    if added:
        reasons.append(f"it adds a dependency: {_listed(added)}")
    if moved:
        reasons.append(
            f"it changes where code comes from, or what runs when it is installed: {_listed(moved)}"
        )
    return "; ".join(reasons) or None


def _taken(path: str, text: str, other: str) -> Taken | None:
    """As :func:`read_manifest`; a text that is a list of requirements, or was one, counts by any name."""
    found = read_manifest(path, text)
    if found != Taken() or PurePosixPath(path).suffix.lower() not in (".txt", ".in", ".pip"):
        return found
    return read_requirements(text) if any(map(_is_list_of_requirements, (text, other))) else found


def _is_list_of_requirements(text: str) -> bool:
    """Whether all lines are requirements and one at least can be nothing else."""
    if not text or len(text) > _LONGEST_LIST:
        return False
    lines = [line for line in map(str.strip, text.split("\n")) if line and not line.startswith("#")]
    return all(map(_LIKE_A_REQUIREMENT.match, lines)) and any(map(_SURELY_ONE.match, lines))


_SCRIPT = re.compile(r"(?m)^# /// script[ \t]*\n((?:^#(?: .*)?\n)*?)^# ///[ \t]*$")
"""What a script says of itself between two comments (PEP 723)."""
_LIKE_A_REQUIREMENT = re.compile(
    r"--?[a-z][a-z-]*[ =]|[A-Za-z0-9][\w.-]*\s*(?:\[[\w, .-]*\])?\s*(?:$|[=~<>!;@#(\\])"
    r"|(?:git|hg|svn|bzr)\+|https?://|file:"
)
_SURELY_ONE = re.compile(
    r"-[rcei] |--(?:requirement|constraint|index-url|extra-index-url|find-links|editable)\b"
    r"|[\w.-]+\s*(?:\[[^\]]*\])?\s*(?:[=~<>!]=|@ )"
)


def _is_in_folder_of_requirements(path: str) -> bool:
    *folders, name = folded(path).split("/")
    return name.endswith((".txt", ".in")) and bool({"requirements", "reqs", "constraints"} & set(folders))


def _listed(found: list[str]) -> str:
    lines = (" ".join(one.split()) for one in found[:_SHOWN])
    cut = (one if len(one) <= _LONGEST_SHOWN else f"{one[:_LONGEST_SHOWN]}…" for one in lines)
    return ", ".join(cut) + (" and more" if len(found) > _SHOWN else "")


@lru_cache(maxsize=1)
def _kinds() -> _Kinds:
    data = tomllib.loads(resources.files("edits.guards").joinpath("manifests.toml").read_text("utf-8"))
    plain, usual = frozenset(data["plain"]), frozenset(data["usual"])
    readers: list[tuple[re.Pattern[str], Table | Elements | Lines]] = []
    readers += [(_names(row), _table(row, plain)) for row in data["table"]]
    for row in data["xml"]:
        readers.append(
            (_names(row), Elements(*map(frozenset, (row["elements"], row["packages"], row["properties"]))))
        )
    for row in data["lines"]:
        readers.append((_names(row), Lines(row["comment"], usual, tuple(row.get("blocks", ())))))
    script = _table(data["script"], plain)
    return _Kinds(
        _names({"files": data["lock"]}), _names({"files": data["requirements"]}), script, tuple(readers)
    )


def _table(row: dict[str, Any], plain: frozenset[str]) -> Table:
    keys = (_keys(row["names"]), _keys(row["sources"]), _keys(row.get("but", [])))
    return Table(*keys, plain, bool(row.get("python")))


def _names(row: dict[str, Any]) -> re.Pattern[str]:
    return re.compile("|".join(map(name_pattern, row["files"])), re.DOTALL)


def _keys(keys: list[str]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(key.split(".")) for key in keys)
