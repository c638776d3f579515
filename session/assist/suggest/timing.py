"""When to ask: a moment after a key, not too often, and at most two requests at a time."""

from __future__ import annotations

from dataclasses import dataclass

from session.assist.suggest.suggestion import Place

TYPED_SECONDS = 0.008
"""Between a typed character and the request, so that a burst of keys is one."""
ERASED_SECONDS = 0.4
"""The same after a deletion: most often another text follows."""
MOST_AT_ONCE = 2
PER_SECOND = 2.0
"""Requests that come up for each second of typing; :data:`SAVED` of them can be saved up."""
SAVED = 8.0
LONGEST_LINE = 400
"""Characters of the cursor's line from which on nothing is asked for: it is data."""
_RIGHT = 8
"""Characters right of the cursor up to which text is put in there; more of them are written anew."""


@dataclass(frozen=True, slots=True)
class Worth:
    """What is worth asking at a place: nothing, an insertion, or a rewrite of the lines around it."""

    insertion: bool = False
    rewrite: bool = False


NOTHING = Worth()


def worth(place: Place, *, erased: bool) -> Worth:
    """What to ask for, once the user typed or (``erased``) deleted something."""
    right = place.right.rstrip()
    if len(place.left) + len(right) > LONGEST_LINE:
        return NOTHING
    if place.right[:1].isidentifier() or place.right[:1].isdigit():
        # The cursor is inside a word, or before one: what is missing there is seen by the lines around it.
        return Worth(rewrite=True)
    if erased or len(right) > _RIGHT:
        return Worth(rewrite=bool(place.left.strip() or right))
    if not place.left.strip() and not any(line.strip() for line in (*place.before, *place.after)):
        return NOTHING
    return Worth(insertion=True)


class Pace:
    """How many requests may go out. The caller passes the time in seconds."""

    def __init__(self) -> None:
        self._saved = SAVED
        self._at = 0.0
        self.running = 0

    def wait(self, now: float) -> float | None:
        """Seconds until a request may go; None until one of those that run has ended."""
        if self.running >= MOST_AT_ONCE:
            return None
        self._refill(now)
        return 0.0 if self._saved >= 1.0 else (1.0 - self._saved) / PER_SECOND

    def goes(self, now: float) -> None:
        """A request goes out."""
        self._refill(now)
        self._saved -= 1.0
        self.running += 1

    def ended(self) -> None:
        """A request has ended."""
        self.running -= 1

    def _refill(self, now: float) -> None:
        self._saved = min(SAVED, self._saved + max(0.0, now - self._at) * PER_SECOND)
        self._at = now
