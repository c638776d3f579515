"""The places of a change as they are offered, one after the other.

Rules, which the table holds:

1. One place is offered at a time. It is taken or passed over, and the next is made ready.
2. What is made ready is a place as its file is now, with a text for it; one that has none is passed over.
3. Nothing is offered while one lands. A place that cannot land is passed over.
4. Another change, a prompt, or the user ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from session.assist.next_edit.place import NextPlace


class State(StrEnum):
    """The states of a chain."""

    PREPARING = "preparing"
    OFFERED = "offered"
    LANDING = "landing"
    OVER = "over"


class Signal(StrEnum):
    """What can happen."""

    READY = "ready"
    TAKE = "take"
    SKIP = "skip"
    DONE = "done"
    END = "end"


TABLE: dict[State, dict[Signal, State]] = {
    State.PREPARING: {
        Signal.READY: State.OFFERED,
        Signal.SKIP: State.PREPARING,
        Signal.END: State.OVER,
    },
    State.OFFERED: {Signal.TAKE: State.LANDING, Signal.SKIP: State.PREPARING, Signal.END: State.OVER},
    State.LANDING: {Signal.DONE: State.PREPARING, Signal.END: State.OVER},
    State.OVER: {},
}


class Chain:
    """The places of one change. Only :meth:`signal` changes the state."""

    def __init__(self, places: Sequence[NextPlace]) -> None:
        self.turn = ""
        """The turn of its hunks: the first of them, so that undo takes all back together."""
        self.told = False
        """Whether a place was offered yet."""
        self._places = list(places)
        self._total = len(places)
        self.state = State.PREPARING if places else State.OVER

    @property
    def offered(self) -> NextPlace | None:
        """The place that is offered now."""
        return self._places[0] if self.state is State.OFFERED else None

    @property
    def coming(self) -> tuple[NextPlace, ...]:
        """The place that is made ready, offered or landed now, and the ones after it."""
        return tuple(self._places)

    @property
    def number(self) -> int:
        """The number of the place that is offered, from 1."""
        return self._total - len(self._places) + 1

    @property
    def total(self) -> int:
        """How many there were in the beginning."""
        return self._total

    def ready(self, place: NextPlace) -> bool:
        """Offer the first place, which is as in ``place`` now."""
        if not self.signal(Signal.READY):
            return False
        self._places[0] = place
        return True

    def signal(self, signal: Signal) -> bool:
        """Take a signal; false where the table has nothing for it in this state."""
        following = TABLE[self.state].get(signal)
        if following is None:
            return False
        self.state = following
        if signal in (Signal.SKIP, Signal.DONE):
            del self._places[0]
        if self.state is State.PREPARING and not self._places:
            self.state = State.OVER
        return True
