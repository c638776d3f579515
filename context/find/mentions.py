"""Finds what a request names: paths, folders, line ranges, symbols and globs.

They are written ``@path``, ``@folder/``, ``@path:10-20``, ``@symbol``, ``@src/**/*.ts``; a path may stand
without its ``@``, and a name with spaces is quoted (``@"a b.md"``). Other words are left alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.code.languages import language_of
from context.project.project_paths import ProjectPaths, project_paths
from context.text.globs import glob

if TYPE_CHECKING:
    from context.project.snapshot import Snapshot

_AT = re.compile(r"(?<![\w@])@(?:\"([^\"\n]+)\"(:\d+-\d+)?|([^\s\"'`<>|,;]+))")
_QUOTED = re.compile(r"^\"([^\"\n]+)\"(:\d+-\d+)?$")
_BARE = re.compile(r"[^\s\"'`<>|,;()\[\]{}]+")
_LINE_NUMBER = re.compile(r"(?::\d+)+$")
_LINES = re.compile(r"^(.+):(\d+)-(\d+)$")
_TRAILING = ".,:;!?)]}'\""
_JOINTS = re.compile(r"\.|::|#")
_SYMBOL = re.compile(r"^[^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)*$")
_INSIDE = re.compile(r"^(.+?)(?:::|:|#)([^\W\d][\w.]*)$")
_MEANT = re.compile(r"[*?]|:\d+-\d+$|/[^/]*\.\w+$|/$")
"""What a mention holds that can be nothing but a place in a project."""
_MOST_HOLDERS = 8
"""Files that define a symbol; where more do, the name says too little."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A file that is named, or a part of it: the line range ``lines`` (indices from 0, like all ranges
    here) or the definition called ``symbol``, with what it is in before a dot (``Grid.at``) where that was
    said; with neither, the whole file."""

    path: str
    lines: range | None = None
    symbol: str | None = None


def find_mentions(text: str, snapshot: Snapshot) -> tuple[Mention, ...]:
    """All that ``text`` names, in the order named, each once."""
    names = project_paths(snapshot.paths)
    found: dict[Mention, None] = {}
    for match in _AT.finditer(text):
        word = f"{match[1]}{match[2] or ''}" if match[1] else match[3]
        for mention in _mentioned(word, names, snapshot):
            found[mention] = None
    for path in _bare(_AT.sub(" ", text), names):
        found.setdefault(Mention(path))
    return tuple(found)


def named_in_vain(text: str, snapshot: Snapshot) -> dict[str, str]:
    """What ``text`` mentions with an ``@`` as a place in the project, or by a name that too much in it has,
    and why nothing is shown for it."""
    names = project_paths(snapshot.paths)
    vain: dict[str, str] = {}
    for match in _AT.finditer(text):
        word = f"{match[1]}{match[2] or ''}" if match[1] else match[3]
        if _mentioned(word, names, snapshot):
            continue
        bare = word.rstrip(_TRAILING)
        holders = _all_holders(_JOINTS.split(bare)[-1], snapshot) if _SYMBOL.match(bare) else []
        if len(holders) > _MOST_HOLDERS:
            vain[f"@{bare}"] = (
                f"is defined in {len(holders)} files: name one of them, as in @{holders[0]}::{bare}"
            )
        elif len(alike := names.named(_LINES.sub(r"\1", bare), 99)) > 1:
            more = f" and {len(alike) - 2} more" if len(alike) > 2 else ""
            vain[f"@{bare}"] = f"could be any of {alike[0]}, {alike[1]}{more}: give its folder too"
        elif match[1] or _MEANT.search(bare) or language_of(bare) is not None:
            vain[f"@{bare}"] = _why_nothing(_LINES.sub(r"\1", bare).removeprefix("./"), snapshot)
    return vain


def _why_nothing(path: str, snapshot: Snapshot) -> str:
    """Why a path that belongs to no file that can be shown does not."""
    folder = path
    while folder:
        if folder in snapshot.unread:
            return f"is in {folder}, which is not shown: {snapshot.unread[folder]}"
        folder = folder.rpartition("/")[0]
    inside = os.path.normpath(snapshot.root / path)
    if os.path.commonpath((inside, snapshot.root)) == str(snapshot.root) and os.path.lexists(inside):
        return "is ignored, and so no part of the project"
    return "names nothing that belongs to this project"


def named_by(target: str, snapshot: Snapshot) -> tuple[Mention, ...]:
    """What one target names: a mention, with or without its ``@``."""
    quoted = _QUOTED.match(target.removeprefix("@"))
    word = f"{quoted[1]}{quoted[2] or ''}" if quoted else target.removeprefix("@")
    return tuple(_mentioned(word, project_paths(snapshot.paths), snapshot))


def matching(pattern: str, paths: Iterable[str]) -> list[str]:
    """The paths that a glob matches (``context.text.globs``)."""
    matches = glob(pattern)
    return [path for path in paths if matches(path)]


def _mentioned(word: str, names: ProjectPaths, snapshot: Snapshot) -> list[Mention]:
    paths = _named(word, names, folders=True)
    part = _LINES.match(word.rstrip(_TRAILING))
    if not paths and part is not None:
        first, last = int(part[2]), int(part[3])
        lines = range(max(0, min(first, last) - 1), max(first, last))
        return [Mention(path, lines=lines) for path in _named(part[1], names, folders=False)]
    if not paths and any(mark in word for mark in "*?["):
        paths = matching(word, snapshot.paths) or matching(word.rstrip(_TRAILING), snapshot.paths)
    if paths:
        return [Mention(path) for path in paths]
    bare = word.rstrip(_TRAILING)
    inside = _INSIDE.match(bare)
    if inside is not None and (held := _named(inside[1], names, folders=False)):
        symbol = inside[2].rstrip(".")
        name = symbol.rpartition(".")[2]
        return [Mention(path, symbol=symbol) for path in held if name in _names(path, snapshot)]
    if not _SYMBOL.match(bare):
        return []
    symbol = ".".join(_JOINTS.split(bare))
    return [Mention(path, symbol=symbol) for path in _holders(symbol, snapshot)]


def _holders(symbol: str, snapshot: Snapshot) -> list[str]:
    """The files that define ``symbol``, spelt so; those alone that define what it is said to be in, if any
    do; none where they are too many."""
    *around, name = symbol.split(".")
    found = _all_holders(name, snapshot)
    if around:
        found = [path for path in found if around[-1] in _names(path, snapshot)] or found
    return found if len(found) <= _MOST_HOLDERS else []


def _all_holders(name: str, snapshot: Snapshot) -> list[str]:
    likely = snapshot.words.makers({name.lower(): 1})[0]
    return sorted(path for path in likely if name in _names(path, snapshot))


def _names(path: str, snapshot: Snapshot) -> frozenset[str]:
    entry = snapshot.entries.get(path)
    return entry.names if entry is not None else frozenset()


def _bare(text: str, names: ProjectPaths) -> list[str]:
    words = (match[0] for match in _BARE.finditer(text))
    return [
        path
        for word in words
        if not word.startswith("@") and ("/" in word or "." in word)
        for path in _named(word, names, folders=False)
    ]


def _named(word: str, names: ProjectPaths, *, folders: bool) -> list[str]:
    """The files that one word names, tried as written and then without what a sentence puts after it."""
    bare = word.rstrip(_TRAILING)
    for name in (word, bare, _LINE_NUMBER.sub("", bare)):
        path = name.removeprefix("./").rstrip("/")
        if path in names:
            return [path]
        below = names.below(path) if folders and path else ()
        if below:
            return list(below)
        alone = names.named(path) if "." in path and "/" not in path else []
        if len(alone) == 1:
            return alone
    return []
