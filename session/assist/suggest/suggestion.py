"""A suggestion, what it is made for, and what is left of it for the text as it is now.

It is made for a place: where the cursor is, and the text around it, of one moment. It is shown in another:
what was typed meanwhile has to be the beginning of what it says, and nothing else around it may have
changed. What is typed is then taken off it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

BEFORE = 60
"""Lines before the cursor's that a place holds."""
AFTER = 30
_KEY, _KEY_ENDS = "PRIVATE KEY-----", "-----END"
_LONGEST_KEY = 400
"""Lines of a private key."""


@dataclass(frozen=True)
class Place:
    """A cursor at ``row`` (from 0), with ``left`` and ``right`` of it on its line, and the lines around that
    line. ``below`` counts all lines under it."""

    path: str
    row: int
    below: int
    before: tuple[str, ...]
    left: str
    right: str
    after: tuple[str, ...]

    @property
    def first(self) -> int:
        """The row of the first line that is held."""
        return self.row - len(self.before)

    @cached_property
    def masked(self) -> tuple[str, ...] | None:
        """The lines that are held, with their secrets masked; None where the cursor's line holds one, or may
        hold one once its quotes are closed: a half of a secret is not known as one."""
        from context.text.secrets import masked_lines

        here = self.left + self.right
        lines = masked_lines([*self.before, here, *self.after])
        open_ended = [self.left + quote for quote in "\"'`"]
        if lines[len(self.before)] != here or masked_lines(open_ended) != open_ended:
            return None
        return tuple(lines)

    def line(self, row: int) -> str | None:
        """The line at ``row``; None where it is not held."""
        if row == self.row:
            return self.left + self.right
        at = row - self.first
        if 0 <= at < len(self.before):
            return self.before[at]
        at = row - self.row - 1
        return self.after[at] if 0 <= at < len(self.after) else None


def place_at(path: str, lines: Sequence[str], row: int, column: int) -> Place:
    """The place of a cursor in ``lines``."""
    line, first = lines[row], max(0, row - BEFORE)
    before = lines[first:row]
    # A private key that begins above is known as one by its first line alone.
    above = (each for each in reversed(lines[max(0, first - _LONGEST_KEY) : first]) if _KEY in each)
    begins = next(above, _KEY_ENDS)
    if before and _KEY_ENDS not in begins and " " not in before[0].strip():
        before = [begins, *before[1:]]
    return Place(
        path,
        row,
        len(lines) - row - 1,
        tuple(before),
        line[:column],
        line[column:],
        tuple(lines[row + 1 : row + 1 + AFTER]),
    )


_WORD = re.compile(r"[^\S\n]*(?:\w+|[^\w\s]+)|\s+")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Text to put in at the cursor of ``place``; never empty."""

    place: Place
    text: str

    @property
    def word(self) -> str:
        """Its first word, with the space before it."""
        found = _WORD.match(self.text)
        return found[0] if found is not None else self.text


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Lines to put in the place of ``old``, which begin at row ``first`` and hold the cursor's line or are
    near it. Neither begins or ends with a line that both have."""

    place: Place
    first: int
    old: tuple[str, ...]
    new: tuple[str, ...]


Suggestion = Insertion | Rewrite


def rewrite(place: Place, first: int, old: tuple[str, ...], new: tuple[str, ...]) -> Suggestion | None:
    """The smallest suggestion that makes ``new`` of the lines ``old`` at row ``first``; None where they are
    the same."""
    same = _common(old, new)
    first, old, new = first + same, old[same:], new[same:]
    tail = _common(old[::-1], new[::-1])
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    if not old and not new:
        return None
    if old == (place.left + place.right,) and first == place.row:
        text = "\n".join(new)
        whole = len(text) - len(place.left) - len(place.right)
        if whole > 0 and text.startswith(place.left) and text.endswith(place.right):
            return Insertion(place, text[len(place.left) : len(text) - len(place.right)])
    return Rewrite(place, first, old, new)


def continues(before: Suggestion | None, now: Suggestion | None) -> bool:
    """Whether ``now`` says nothing that ``before`` did not say: it is the rest of it."""
    if isinstance(before, Insertion) and isinstance(now, Insertion):
        return before.text.endswith(now.text)
    if isinstance(before, Rewrite) and isinstance(now, Rewrite):
        return before.first + len(before.new) == now.first + len(now.new) and (
            before.new[len(before.new) - len(now.new) :] == now.new
        )
    return before == now


def remaining(made: Suggestion, now: Place) -> Suggestion | None:
    """What is left of a suggestion where the text is as in ``now``; None where it does not fit, or where all
    of it was typed."""
    was = made.place
    # Most do not fit by these; the lines around are compared last.
    if now.below != was.below or now.row < was.row or now.path != was.path:
        return None
    if now.row == was.row and not now.left.startswith(was.left):
        return None
    if now.left == was.left and was == now:
        return made
    if isinstance(made, Insertion):
        return _insertion(made, now)
    return _rewrite(made, now)


def _insertion(made: Insertion, now: Place) -> Insertion | None:
    """Only what begins the suggestion may have been typed at its cursor."""
    was = made.place
    target = (was.left + made.text).split("\n")
    done = now.row - was.row
    if done >= len(target) or not target[done].startswith(now.left) or now.right != was.right:
        return None
    if not _same_ends(now.after, was.after):
        return None
    for row in range(max(now.first, was.first), now.row):
        line = target[row - was.row] if row >= was.row else was.before[row - was.first]
        if now.before[row - now.first] != line:
            return None
    if now.first > was.row:
        return None
    rest = "\n".join([target[done][len(now.left) :], *target[done + 1 :]])
    return Insertion(now, rest) if rest else None


def _rewrite(made: Rewrite, now: Place) -> Suggestion | None:
    """What was typed on the cursor's line must begin what the suggestion makes of that line."""
    was = made.place
    same = (
        now.row == was.row
        and now.right == was.right
        and now.before == was.before
        and now.after == was.after
        and now.left.startswith(was.left)
    )
    at = now.row - made.first
    if not same or not 0 <= at < min(len(made.old), len(made.new)):
        return None
    if not made.new[at].startswith(now.left):
        return None
    old = (*made.old[:at], now.left + now.right, *made.old[at + 1 :])
    return rewrite(now, made.first, old, made.new)


def _same_ends(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
