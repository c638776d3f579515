"""The signs beside lines: their kinds, read from ``signs.toml``, the store of those that stand in files, and
the notes of hunks and findings.

A note stands where a hunk that needs the user's OK would land, where one was refused, and where an open
finding is in the file as the editor has it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Literal

from session.base import events as said
from session.base.events import Event, FindingClosed, FindingReported

Column = Literal["hunk", "note"]
_HUNKS = "hunks"
"""The source of refused and held hunks; that of one hunk has its name behind it."""
_RANKS = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True, slots=True)
class Sign:
    """A kind of sign: the glyph of one cell, the theme's role for it, and what it tells. Of several on a line
    the one with the lowest ``rank`` is shown."""

    name: str
    column: Column
    glyph: str
    role: str
    about: str
    rank: int


@cache
def signs() -> Mapping[str, Sign]:
    """All kinds of signs by name, in the order of their ranks."""
    source = resources.files("tui.editor").joinpath("signs.toml").read_text("utf-8")
    tables = tomllib.loads(source)["sign"]
    return {table["name"]: Sign(**table, rank=rank) for rank, table in enumerate(tables)}


class Notes:
    """The signs of the column ``note``, by file and row. Each *source* puts and removes its own; they move
    with the lines that they stand beside."""

    def __init__(self) -> None:
        self._files: dict[str, dict[str, dict[int, str]]] = {}
        """Path → source → row → name of a sign."""
        self.on_change: Callable[[], None] = lambda: None
        """Called when signs come or go."""

    def put(self, source: str, path: str, rows: Mapping[int, str]) -> None:
        """Have ``source`` show these signs in a file, names of signs by row from 0, and no others."""
        unknown = set(rows.values()) - signs().keys()
        if unknown:
            raise ValueError(f"no sign is called {min(unknown)!r}")
        sources = self._files.setdefault(path, {})
        if sources.get(source, {}) == rows:
            return
        if rows:
            sources[source] = dict(rows)
        else:
            sources.pop(source, None)
        self.on_change()

    def clear(self, source: str) -> None:
        """Remove the signs of ``source`` from all files."""
        found = [sources for sources in self._files.values() if source in sources]
        for sources in found:
            del sources[source]
        if found:
            self.on_change()

    def at(self, path: str, row: int) -> str:
        """The sign beside a row; empty where there is none."""
        sources = self._files.get(path)
        if not sources:
            return ""
        found = [rows[row] for rows in sources.values() if row in rows]
        return min(found, key=lambda name: signs()[name].rank, default="")

    def of(self, path: str, source: str | None = None) -> dict[int, str]:
        """The signs of a file by row, those of one source or what is shown of all."""
        sources = self._files.get(path, {})
        if source is not None:
            return dict(sources.get(source, {}))
        return {row: self.at(path, row) for row in sorted({row for rows in sources.values() for row in rows})}

    def edited(self, path: str, row: int, gone: int, come: int) -> None:
        """Follow an edit: ``gone`` rows from ``row`` on became ``come`` rows. A sign beside a row that went
        stays at the nearest row that came in its place, and goes where none did."""
        for rows in self._files.get(path, {}).values():
            moved: dict[int, str] = {}
            for at, name in rows.items():
                if at < row:
                    moved[at] = name
                elif at >= row + gone:
                    moved[at + come - gone] = name
                elif come:
                    moved[min(at, row + come - 1)] = name
            rows.clear()
            rows.update(moved)

    def renamed(self, path: str, to: str) -> None:
        """Follow a move of a file."""
        if path in self._files:
            self._files[to] = self._files.pop(path)


@dataclass(frozen=True, slots=True)
class _Aim:
    path: str
    start: int
    end: int


class HunkNotes:
    """Keeps the notes of held and refused hunks up to date with the session's events."""

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._aims: dict[str, _Aim] = {}
        """The lines that a hunk aims at, from 1, the end one past the last."""
        self._held: set[str] = set()

    def take(self, event: said.Event) -> None:
        """Take one event in. A refused hunk is noted until the next prompt."""
        match event:
            case said.HunkAimed(hunk=hunk, path=path, start=start, end=end):
                self._aims[hunk] = _Aim(path, start, end)
                self._note_held(hunk)
            case said.HunkHeld(hunk=hunk):
                self._held.add(hunk)
                self._note_held(hunk)
            case said.HunkRefused(hunk=hunk):
                self._settled(hunk)
                if aim := self._aims.pop(hunk, None):
                    self._notes.put(
                        _HUNKS, aim.path, {**self._notes.of(aim.path, _HUNKS), aim.start - 1: "refused"}
                    )
            case said.HunkLanded(hunk=hunk) | said.HunkDropped(hunk=hunk):
                self._settled(hunk)
                self._aims.pop(hunk, None)
            case said.PromptSubmitted():
                self._notes.clear(_HUNKS)
            case _:
                pass

    def _note_held(self, hunk: str) -> None:
        """Note a held hunk where it aims at, as far as that is known."""
        aim = self._aims.get(hunk)
        if aim is not None and hunk in self._held:
            rows = range(aim.start - 1, max(aim.start, aim.end - 1))
            self._notes.put(_hunk_source(hunk), aim.path, dict.fromkeys(rows, "held"))

    def _settled(self, hunk: str) -> None:
        self._held.discard(hunk)
        self._notes.clear(_hunk_source(hunk))


def _hunk_source(hunk: str) -> str:
    return f"{_HUNKS} {hunk}"


class FindingNotes:
    """The open findings, oldest first, each with a sign that moves with its lines."""

    def __init__(self, notes: Notes, row_of: Callable[[str, int, int], int | None]) -> None:
        """``row_of`` gives the row of an open file's text where rows of the file on disk are."""
        self._notes = notes
        self._row_of = row_of
        self._open: dict[str, FindingReported] = {}

    @property
    def open(self) -> Sequence[FindingReported]:
        """The open findings, the worst first, each file's in the order of its lines."""
        return sorted(self._open.values(), key=lambda each: (_RANKS[each.severity], each.path, each.start))

    def take(self, event: Event) -> bool:
        """Take ``event`` into account; true if the open findings changed."""
        match event:
            case FindingReported(finding=name, path=path, start=start, end=end):
                self._open[name] = event
                row = self._row_of(path, start - 1, end)
                if row is not None:
                    rows = range(row, row + end - start + 1)
                    self._notes.put(_finding_source(name), path, dict.fromkeys(rows, event.severity))
            case FindingClosed(finding=name):
                self._open.pop(name, None)
                self._notes.clear(_finding_source(name))
            case _:
                return False
        return True

    def line_of(self, finding: FindingReported) -> int:
        """The first line of a finding now, from 1: where its sign is, else where it was found."""
        rows = self._notes.of(finding.path, _finding_source(finding.finding))
        return min(rows) + 1 if rows else finding.start

    def at(self, path: str, row: int) -> FindingReported | None:
        """The worst of the open findings on a row."""
        return next(
            (
                each
                for each in self.open
                if each.path == path and row in self._notes.of(path, _finding_source(each.finding))
            ),
            None,
        )

    def __bool__(self) -> bool:
        return bool(self._open)


def _finding_source(name: str) -> str:
    return f"finding {name}"
