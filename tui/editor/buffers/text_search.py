"""A search in the lines of a file: its matches, and what replaces them."""

from __future__ import annotations

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from tui.editor.buffers.rows import Place, Rows

MOST = 10_000
"""Matches that are looked for; the bar then says that there are more."""
LONGEST_LINE = 5_000
"""Characters of a line above which a regular expression passes it over."""
PATIENCE = 0.25
"""Seconds after which a regular expression is stopped: one that tries the same text over and over, as
``(a+)+$`` does, would never end, and keys wait for it."""
TOO_SLOW = "this regular expression takes too long on this text: it was stopped"

if TYPE_CHECKING:
    import regex


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
        self._pattern = re.compile(re.escape(text), flags)
        self._expression = _compiled(text, flags) if mode is Mode.REGEX else None

    def matches(self, lines: Sequence[str]) -> list[Match]:
        """The matches from the top, at most :data:`MOST`. An empty match is none. Raises SearchError where a
        regular expression takes longer than :data:`PATIENCE`."""
        if not self.text:
            return []
        if self._expression is None:
            return self._literal(lines)
        found: list[Match] = []
        until = time.monotonic() + PATIENCE
        for row, line in enumerate(lines):
            if len(line) > LONGEST_LINE:
                continue
            try:
                hits = self._expression.finditer(line, timeout=_left(until))
                found += [Match(row, *at.span()) for at in hits if at.end() > at.start()]
            except TimeoutError as problem:
                raise SearchError(TOO_SLOW) from problem
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
        until = time.monotonic() + PATIENCE
        new = list(lines[first : last + 1])
        for match in reversed(matches):
            line = new[match.row - first]
            put = self._expanded(line, match, template, until)
            new[match.row - first] = line[: match.start] + put + line[match.end :]
        return Rows(first, tuple(lines[first : last + 1]), tuple("\n".join(new).split("\n")))

    def _expanded(self, line: str, match: Match, template: str, until: float) -> str:
        if self._expression is None:
            return template
        import regex

        try:
            at = self._expression.match(line, match.start, timeout=_left(until))
            return template if at is None else at.expand(template)
        except TimeoutError as problem:
            raise SearchError(TOO_SLOW) from problem
        except (regex.error, IndexError) as problem:
            raise SearchError(f"the replacement names a group that is not there: {problem}") from problem


def _compiled(text: str, flags: int) -> regex.Pattern[str]:
    """A regular expression that can be stopped, which those of the standard library cannot. The package is
    imported by the first one."""
    import regex

    try:
        return regex.compile(text, flags)
    except regex.error as problem:
        raise SearchError(f"not a regular expression: {problem}") from problem
    except (OverflowError, RecursionError, MemoryError) as problem:
        raise SearchError("not a regular expression: it is too large") from problem


def _left(until: float) -> float:
    return max(0.001, until - time.monotonic())


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
