"""The suggestions of the last minutes: what is typed again is answered without a request."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from session.assist.suggest.place import Place
from session.assist.suggest.suggestion import Suggestion, remaining

MOST = 40


@dataclass(frozen=True, slots=True)
class Found:
    """What is left of the answer for ``asked``; None where that was that there is nothing to suggest."""

    asked: Place
    left: Suggestion | None


class Memory:
    """The newest suggestions, by the place they were made for."""

    def __init__(self) -> None:
        self._made: OrderedDict[Place, Suggestion | None] = OrderedDict()

    def keep(self, place: Place, made: Suggestion | None) -> None:
        """Keep the answer for ``place``, which may be that there is nothing to suggest."""
        self._made.pop(place, None)
        self._made[place] = made
        if len(self._made) > MOST:
            self._made.popitem(last=False)

    def find(self, now: Place, shown: Place | None = None) -> Found | None:
        """What is left at ``now`` of an answer: of the one for the place ``shown`` if it still fits, so that
        nothing jumps; of the one for this very place; or of the newest that fits. None where nothing is
        known."""
        for place in (shown, now):
            if place is not None and (made := self._made.get(place)) is not None:
                left = remaining(made, now)
                if left is not None:
                    return Found(place, left)
        if now in self._made:
            return Found(now, None)
        for place, made in reversed(self._made.items()):
            if made is not None and (left := remaining(made, now)) is not None:
                return Found(place, left)
        return None

    def refuse(self, place: Place) -> None:
        """The user does not want what was suggested at ``place``."""
        for kept, made in list(self._made.items()):
            if made is not None and remaining(made, place) is not None:
                self._made[kept] = None

    def drop(self, place: Place) -> None:
        """The answer for ``place`` does not count: it was cut off."""
        self._made.pop(place, None)
