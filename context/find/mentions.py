"""Finds the paths, folders, line ranges, symbols and globs that a request mentions.

They are written ``@path``, ``@folder/``, ``@path:10-20``, ``@symbol``, ``@src/**/*.ts``. A path may be
written without the ``@``, and a name with spaces is quoted (``@"a b.md"``). Other words are ignored.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.code.languages import language_of
from context.disk.source import NESTED, Source, is_inside
from context.project.project_paths import ProjectPaths, project_paths
from context.text.secrets import is_secret_file

if TYPE_CHECKING:
    from context.project.snapshot import Snapshot

_AT = re.compile(r"(?<![\w@])@(?:\"([^\"\n]+)\"(:\d+-\d+)?|([^\s\"'`<>|,;]+))")
_QUOTED = re.compile(r"^\"([^\"\n]+)\"(:\d+-\d+)?$")
_BARE = re.compile(r"[^\s\"'`<>|,;()\[\]{}]+")
_LINE_NUMBER = re.compile(r"(?::\d{1,9}){1,3}$")
"""Line and column, as tools write them behind a path; at most three numbers, so that the search is linear."""
_LINES = re.compile(r"^(.+):(\d+)-(\d+)$")
_TRAILING = ".,:;!?)]}'\""
_JOINTS = re.compile(r"\.|::|#")
_SYMBOL = re.compile(r"^[^\W\d]\w*(?:(?:\.|::|#)[^\W\d]\w*)*$")
_INSIDE = re.compile(r"^(.+?)(?:::|:|#)([^\W\d][\w.]*)$")
_PLACE = re.compile(r"[*?]|:\d+-\d+$|/[^/]*\.\w+$|/$")
"""Matches a mention that can only mean a place in a project."""
_ELSEWHERE = re.compile(r"^(?:/[^/]|~/|\.\.?/)")
"""Matches a mention that means a place on the disk, perhaps outside of the project."""
_QUOTES = "\"'`"
_MOST_PATTERNS = 30
"""Number of different globs of one text that are looked up."""
_MOST_DEFINING = 8
"""Number of files that may define a symbol; a name that more define is too common."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A file that is mentioned, or a part of it.

    The part is the line range ``lines`` (never empty; indices from 0, like all ranges here) or the definition
    ``symbol``, which may be qualified by what encloses it (``Grid.at``). With neither, it is the whole file.
    """

    path: str
    lines: range | None = None
    symbol: str | None = None


def find_mentions(text: str, snapshot: Snapshot) -> tuple[Mention, ...]:
    """All mentions in ``text``, in order and without repeats."""
    names = project_paths(snapshot.paths)
    found: dict[Mention, None] = {}
    patterns: set[str] = set()
    for match in _AT.finditer(text):
        word = f"{match[1]}{match[2] or ''}" if match[1] else match[3]
        if not _one_too_many(word, patterns):
            for mention in _mentioned(word, names, snapshot):
                found[mention] = None
    for path in _paths_without_at(_AT.sub(" ", text), names):
        found.setdefault(Mention(path))
    return tuple(found)


def unresolved_mentions(text: str, snapshot: Snapshot) -> dict[str, str]:
    """The mentions with an ``@`` that look like a place in the project but find none, or too many, each with
    the reason."""
    names = project_paths(snapshot.paths)
    unresolved: dict[str, str] = {}
    patterns: set[str] = set()
    for match in _AT.finditer(text):
        word = f"{match[1]}{match[2] or ''}" if match[1] else match[3]
        if _one_too_many(word, patterns):
            unresolved[f"@{word}"] = f"is not looked up: a request may have {_MOST_PATTERNS} patterns"
            continue
        if _mentioned(word, names, snapshot):
            continue
        bare = word.rstrip(_TRAILING)
        part = _LINES.match(bare)
        if part is not None and not _range(part) and _named(part[1], names, folders=False):
            unresolved[f"@{bare}"] = "names no line: lines are counted from 1"
            continue
        if (undefined := _why_undefined(bare, names, snapshot)) is not None:
            unresolved[f"@{bare}"] = undefined
            continue
        defining = defining_files(_JOINTS.split(bare)[-1], snapshot) if _SYMBOL.match(bare) else []
        if len(defining) > _MOST_DEFINING:
            unresolved[f"@{bare}"] = (
                f"is defined in {len(defining)} files: name one of them, as in @{defining[0]}::{bare}"
            )
        elif len(alike := names.named(_LINES.sub(r"\1", bare), 99)) > 1:
            more = f" and {len(alike) - 2} more" if len(alike) > 2 else ""
            unresolved[f"@{bare}"] = f"could be any of {alike[0]}, {alike[1]}{more}: give its folder too"
        elif match[1] or _is_place(bare, behind=text[max(0, match.start() - 1) : match.start()]):
            unresolved[f"@{bare}"] = _why_nothing(_LINES.sub(r"\1", bare).removeprefix("./"), snapshot)
    return unresolved


def _is_pattern(word: str) -> bool:
    return any(mark in word for mark in "*?[")


def _one_too_many(word: str, patterns: set[str]) -> bool:
    """Whether a word is a pattern beyond those that are looked up; it is added to the ``patterns`` otherwise.

    Each may have to look at all paths, and pasted text may have thousands.
    """
    if not _is_pattern(word) or word in patterns:
        return False
    if len(patterns) == _MOST_PATTERNS:
        return True
    patterns.add(word)
    return False


def _why_undefined(word: str, names: ProjectPaths, snapshot: Snapshot) -> str | None:
    """Why a symbol mentioned with its file is not found; None if the word does not mention a known file."""
    inside = _INSIDE.match(word)
    paths = _named(inside[1], names, folders=False) if inside is not None else []
    if inside is None or not paths:
        return None
    if paths[0] not in snapshot.entries and not snapshot.complete:
        return f"is not known yet: {paths[0]} is still being indexed"
    return f"is not defined in {paths[0]}"


def _is_place(word: str, *, behind: str) -> bool:
    """Whether a word can only mean a place. In quotes, ``@/`` is how scripts import a module of their own."""
    if _PLACE.search(word) or language_of(word) is not None:
        return True
    return bool(_ELSEWHERE.match(word)) and behind not in tuple(_QUOTES)


def _why_nothing(path: str, snapshot: Snapshot) -> str:
    """Why nothing can be shown for a path."""
    folder = path
    while folder:
        if folder in snapshot.unread:
            return f"is in {folder}, which is not shown: {snapshot.unread[folder]}"
        folder = folder.rpartition("/")[0]
    inside = os.path.normpath(snapshot.root / path)
    if path.startswith("~/") or os.path.commonpath((inside, snapshot.root)) != str(snapshot.root):
        return "is outside of this project"
    if os.path.lexists(inside):
        if not snapshot.complete:
            return "is not known yet: the project is still being indexed"
        return "is not a file of the project: it is ignored, or has just been created"
    return "names nothing that belongs to this project"


def resolve_target(target: str, snapshot: Snapshot) -> tuple[Mention, ...]:
    """The mentions that one target means; it is written like a mention, with or without the ``@``."""
    quoted = _QUOTED.match(target.removeprefix("@"))
    word = f"{quoted[1]}{quoted[2] or ''}" if quoted else target.removeprefix("@")
    return tuple(_mentioned(word, project_paths(snapshot.paths), snapshot))


def _mentioned(word: str, names: ProjectPaths, snapshot: Snapshot) -> list[Mention]:
    paths = _named(word, names, folders=True) or _nested(word, snapshot)
    part = _LINES.match(word.rstrip(_TRAILING))
    if not paths and part is not None:
        lines = _range(part)
        held = _named(part[1], names, folders=False) or _nested(part[1], snapshot)
        return [Mention(path, lines=lines) for path in held if lines]
    if not paths and _is_pattern(word):
        paths = list(names.matching(word) or names.matching(word.rstrip(_TRAILING)))
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
    return [Mention(path, symbol=symbol) for path in _defining_files(symbol, snapshot)]


def _nested(word: str, snapshot: Snapshot) -> list[str]:
    """The file that a word names in a submodule, or in another repository inside the project: such a folder
    is not listed, and its files are read only where they are named."""
    path = word.rstrip(_TRAILING).removeprefix("./")
    above = (path[:at] for at, mark in enumerate(path) if mark == "/")
    if not any(snapshot.unread.get(folder) == NESTED for folder in above):
        return []
    readable = is_inside(path) and not is_secret_file(path) and isinstance(snapshot.read(path), Source)
    return [path] if readable else []


def _range(part: re.Match[str]) -> range:
    """The lines that a match of ``_LINES`` means; empty for ``0-0``. Nine digits are enough."""
    first, last = sorted(int(digits.lstrip("0")[:9] or 0) for digits in (part[2], part[3]))
    return range(max(0, first - 1), last)


def _defining_files(symbol: str, snapshot: Snapshot) -> list[str]:
    """The files that define ``symbol``; if it is qualified, those that also define what encloses it, if any
    do. None if they are too many."""
    *around, name = symbol.split(".")
    found = defining_files(name, snapshot)
    if around:
        found = [path for path in found if around[-1] in _names(path, snapshot)] or found
    return found if len(found) <= _MOST_DEFINING else []


def defining_files(name: str, snapshot: Snapshot) -> list[str]:
    """The files that define ``name``, written so, in order."""
    likely = snapshot.words.defining_files({name.lower(): 1})[0]
    return sorted(path for path in likely if name in _names(path, snapshot))


def _names(path: str, snapshot: Snapshot) -> frozenset[str]:
    entry = snapshot.entries.get(path)
    return entry.names if entry is not None else frozenset()


def _paths_without_at(text: str, names: ProjectPaths) -> list[str]:
    words = (match[0] for match in _BARE.finditer(text))
    return [
        path
        for word in words
        if not word.startswith("@") and ("/" in word or "." in word)
        for path in _named(word, names, folders=False)
    ]


def _named(word: str, names: ProjectPaths, *, folders: bool) -> list[str]:
    """The files that one word names, as written or without the punctuation of a sentence after it."""
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
