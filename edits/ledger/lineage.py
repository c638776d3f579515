"""The history of a file's lines: those it has now, and those that changes removed, in one order.

A removed line is hidden and keeps its position, and undo shows it again. So lines that several changes
removed from one place come back in their old order, whichever is undone first. A new line goes below
the hidden lines at its position, but above those that were replaced by the line below it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from edits.files.text import split

Group = tuple[int, int]
"""Identifies the lines that one splice exchanged: the number of the change, and of the splice in it."""
Replacement = tuple[int, Sequence[str], Sequence[str]]
"""A first line, from 0, and the old and the new lines with their endings."""
Site = tuple[int, tuple[str, ...], tuple[str, ...]]
"""Where a hunk's lines are to be hidden and shown: the first line, from 0, and the old and new lines."""

_REST = sys.maxsize
_SOMEONE = ""


@dataclass(slots=True, eq=False)
class _Run:
    """Adjacent lines with the same history. Runs are compared by identity."""

    count: int
    texts: tuple[str, ...] = ()
    """The lines with their endings; empty for lines that no change has affected."""
    hidden_by: str | None = None
    """The hunk that removed the lines, ``_SOMEONE`` for a change without a hunk, None for lines that show."""
    roles: dict[str, tuple[bool, Group]] = field(default_factory=dict)
    """For each hunk that exchanged the lines: whether they show if it is landed (or if it is undone)."""
    within: frozenset[Group] = frozenset()
    """Exchanges that removed lines above and below these while these were hidden."""

    def groups(self) -> set[Group]:
        return {group for _, group in self.roles.values()}


class Lineage:
    """The lines of one file. Its changes are added one by one, the oldest first."""

    def __init__(self) -> None:
        self._runs = [_Run(_REST)]
        self._changes = 0
        self._undone: set[str] = set()

    def change(self, hunk: str | None, lands: bool, replacements: Sequence[Replacement]) -> None:
        """Add a change. A hunk landed or was undone (not ``lands``); without a hunk, someone else wrote."""
        self._changes += 1
        if hunk is not None:
            (self._undone.discard if lands else self._undone.add)(hunk)
        # From the last to the first, so that line numbers stay valid.
        for number in range(len(replacements) - 1, -1, -1):
            self._exchange(hunk, lands, replacements[number], (self._changes, number))

    def sites(self, hunk: str, landed: bool) -> list[Site] | None:
        """What must change for ``hunk`` to be landed or undone.

        None if one of its lines is gone, or another line is between them.
        """
        sites: list[Site] = []
        start: int | None = None
        old, new = list[str](), list[str]()
        line = 0
        for run in self._runs:
            role = run.roles.get(hunk)
            shows = run.hidden_by is None
            if role is None or (shows and role[0] == landed):
                if shows and start is not None:
                    sites.append((start, tuple(old), tuple(new)))
                    start, old, new = None, [], []
            elif not shows and run.hidden_by != hunk:
                return None
            elif shows or role[0] == landed:
                start = line if start is None else start
                (old if shows else new).extend(run.texts)
            line += run.count if shows else 0
        return sites if self._undivided(hunk, landed) else None

    def taken_by(self, hunk: str) -> str | None:
        """Another hunk that removed lines that ``hunk`` added or would remove."""
        for run in self._runs:
            if hunk in run.roles and run.hidden_by not in (None, hunk, _SOMEONE):
                return run.hidden_by
        return None

    def leaning(self, hunk: str) -> frozenset[str]:
        """The landed hunks that removed lines of ``hunk``, or put lines between them: what keeps it from
        being undone alone."""
        found: set[str] = set()
        extents: dict[Group, list[int]] = {}
        for index, run in enumerate(self._runs):
            if hunk in run.roles:
                extents.setdefault(run.roles[hunk][1], []).append(index)
                if run.hidden_by not in (None, hunk, _SOMEONE):
                    found.add(run.hidden_by or "")
        for group, places in extents.items():
            for run in self._runs[places[0] : places[-1]]:
                if hunk not in run.roles and group not in run.within:
                    # Also what is hidden now: it may show again when what hides it is undone first.
                    found |= {other for other, (shows, _) in run.roles.items() if shows}
        return frozenset(found - self._undone)

    def extent(self, hunk: str) -> tuple[int, int]:
        """The lines from the first to the last that a landed hunk changed; from 0, end exclusive."""
        low, high = _REST, 0
        line = 0
        for run in self._runs:
            shown = run.count if run.hidden_by is None else 0
            if hunk in run.roles:
                low, high = min(low, line), max(high, line + shown)
            line += shown
        return (low, high) if low <= high else (0, 0)

    def _undivided(self, hunk: str, landed: bool) -> bool:
        """Whether no other lines are among those that each exchange hides and shows."""
        extents: dict[Group, list[int]] = {}
        hides: set[Group] = set()
        for index, run in enumerate(self._runs):
            role = run.roles.get(hunk)
            if role is not None:
                extents.setdefault(role[1], []).append(index)
                if run.hidden_by is None and role[0] != landed:
                    hides.add(role[1])
        return not any(
            run.hidden_by is None and hunk not in run.roles and group not in run.within
            for group in hides
            for run in self._runs[extents[group][0] : extents[group][-1]]
        )

    def _exchange(self, hunk: str | None, lands: bool, replacement: Replacement, group: Group) -> None:
        start, old, new = replacement
        first = top = self._at(start)
        after = self._at(start + len(old)) if old else first
        while top and self._runs[top - 1].hidden_by is not None:
            top -= 1
        back = self._hidden(hunk, lands, top, after, new)
        taken = [run for run in self._runs[first:after] if run.hidden_by is None]
        self._take(taken, hunk, lands, old, group)
        if taken:
            for run in self._runs[first : self._runs.index(taken[-1])]:
                if run not in taken:
                    run.within |= {group}
        for run in back:
            run.hidden_by = None
        if new and not back:
            made = _Run(len(new), tuple(new), roles={} if hunk is None else {hunk: (lands, group)})
            at = self._runs.index(taken[-1]) + 1 if taken else self._above(top, first)
            self._runs.insert(at, made)

    def _take(
        self, taken: Sequence[_Run], hunk: str | None, lands: bool, old: Sequence[str], group: Group
    ) -> None:
        done = 0
        for run in taken:
            run.texts = tuple(old[done : done + run.count])
            run.hidden_by = _SOMEONE if hunk is None else hunk
            if hunk is not None and run.roles.get(hunk, (lands,))[0] == lands:
                run.roles[hunk] = (not lands, group)
            done += run.count

    def _hidden(self, hunk: str | None, lands: bool, top: int, after: int, new: Sequence[str]) -> list[_Run]:
        """The lines that ``hunk`` hid in this range, if they are the ones that it shows again now."""
        if hunk is None:
            return []
        back = [
            run
            for run in self._runs[top:after]
            if run.hidden_by == hunk and run.roles.get(hunk, (not lands,))[0] == lands
        ]
        texts = [text for run in back for text in run.texts]
        if _bare(texts) != _bare(new):
            return []
        done = 0
        for run in back:
            run.texts = tuple(new[done : done + run.count])
            done += run.count
        return back

    def _above(self, top: int, below: int) -> int:
        """The position among the hidden runs from ``top`` for a new line above the run ``below``."""
        groups = self._runs[below].groups()
        at = below
        for index in range(below - 1, top - 1, -1):
            if groups & self._runs[index].groups():
                groups |= self._runs[index].groups()
                at = index
        return at

    def _at(self, line: int) -> int:
        """The index of the visible run that begins with ``line``; a run is split if necessary."""
        for index, run in enumerate(self._runs):
            if run.hidden_by is not None:
                continue
            if line < run.count:
                if line:
                    self._runs[index : index + 1] = _cut(run, line)
                    index += 1
                return index
            line -= run.count
        return len(self._runs)


def _cut(run: _Run, count: int) -> list[_Run]:
    rest = _REST if run.count == _REST else run.count - count
    return [
        replace(run, count=count, texts=run.texts[:count], roles=dict(run.roles)),
        replace(run, count=rest, texts=run.texts[count:], roles=dict(run.roles)),
    ]


def _bare(texts: Sequence[str]) -> list[str]:
    return [split(text)[0][0] for text in texts]
