"""A search in the lines of a file: its matches, and what replaces them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tui.buffers.rows import Place, Rows

MOST = 10_000
"""Matches that are looked for; the bar then says that there are more."""
LONGEST_LINE = 5_000
"""Characters of a line above which a regular expression passes it over: one could run for ever there."""


class Mode(StrEnum):
    """How the typed text is read."""

    SMART = "aA"
    EXACT = "Aa"
    REGEX = ".*"


HINTS = {Mode.SMART: "any case", Mode.EXACT: "exact case", Mode.REGEX: "regex"}
"""What the modes are called on the screen. In the first, a capital makes case count."""


class SearchError(Exception):
    """A regular expression, or a replacement for one, is not one; the message says why."""


@dataclass(frozen=True, slots=True)
class Match:
    """A match in one line: its row, and its characters from ``start`` to ``end``."""

    row: int
    start: int
    end: int

    @property
    def place(self) -> Place:
        """Where it begins."""
        return self.row, self.start


class Search:
    """What is searched for. Raises SearchError for a regular expression that is none."""

    def __init__(self, text: str, mode: Mode = Mode.SMART) -> None:
        self.text, self.mode = text, mode
        flags = 0 if mode is Mode.EXACT or any(map(str.isupper, text)) else re.IGNORECASE
        try:
            self._pattern = re.compile(text if mode is Mode.REGEX else re.escape(text), flags)
        except re.error as problem:
            raise SearchError(f"no regular expression: {problem}") from problem
        except (OverflowError, RecursionError) as problem:
            raise SearchError("no regular expression: it is too large") from problem

    def matches(self, lines: Sequence[str]) -> list[Match]:
        """The matches from the top, at most :data:`MOST`. An empty match is none."""
        if not self.text:
            return []
        if self.mode is not Mode.REGEX:
            return self._literal(lines)
        found: list[Match] = []
        for row, line in enumerate(lines):
            if len(line) > LONGEST_LINE:
                continue
            found += [Match(row, *at.span()) for at in self._pattern.finditer(line) if at.end() > at.start()]
            if len(found) >= MOST:
                break
        return found[:MOST]

    def _literal(self, lines: Sequence[str]) -> list[Match]:
        """One pass over the whole text, which is many times faster than one over each line."""
        text = "\n".join(lines)
        found: list[Match] = []
        row = line_start = 0
        for at in self._pattern.finditer(text):
            start, end = at.span()
            passed = text.count("\n", line_start, start)
            if passed:
                row += passed
                line_start = text.rfind("\n", line_start, start) + 1
            found.append(Match(row, start - line_start, end - line_start))
            if len(found) >= MOST:
                break
        return found

    def replaced(self, lines: Sequence[str], matches: Sequence[Match], template: str) -> Rows | None:
        """The change that puts ``template`` in the place of all ``matches``; in a regular expression ``\\1``
        and ``\\g<name>`` stand for its groups. None without a match. Raises SearchError."""
        if not matches:
            return None
        first, last = matches[0].row, matches[-1].row
        new = list(lines[first : last + 1])
        for match in reversed(matches):
            line = new[match.row - first]
            put = self._expanded(line, match, template)
            new[match.row - first] = line[: match.start] + put + line[match.end :]
        return Rows(first, tuple(lines[first : last + 1]), tuple("\n".join(new).split("\n")))

    def _expanded(self, line: str, match: Match, template: str) -> str:
        if self.mode is not Mode.REGEX:
            return template
        at = self._pattern.match(line, match.start)
        if at is None:
            return template
        try:
            return at.expand(template)
        except (re.error, IndexError) as problem:
            raise SearchError(f"the replacement names a group that is not there: {problem}") from problem


def next_match(matches: Sequence[Match], place: Place, step: int) -> tuple[int, bool] | None:
    """The match at or after ``place`` (``step`` 1), or before it (-1), and whether the search went round the
    end; None without matches."""
    if not matches:
        return None
    places = [match.place for match in matches]
    if step > 0:
        at = bisect_left(places, place)
        return (at, False) if at < len(places) else (0, True)
    at = bisect_left(places, place) - 1
    return (at, False) if at >= 0 else (len(places) - 1, True)


def in_row(matches: Sequence[Match], row: int) -> list[tuple[int, int]]:
    """The characters of a row that match."""
    low = bisect_left(matches, row, key=lambda match: match.row)
    high = bisect_right(matches, row, key=lambda match: match.row)
    return [(match.start, match.end) for match in matches[low:high]]
