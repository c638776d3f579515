"""A suggestion, and what is left of it for the text as it is now.

A suggestion is made for the text of one moment, and shown in another: what was typed meanwhile has to be the
beginning of what it says, and nothing else around it may have changed. What is typed is then taken off it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from session.assist.suggest.place import Place

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
