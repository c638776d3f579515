"""The places of one rename as they are offered, one after the other.

Rules, which the table holds:

1. One place is offered at a time. It is taken or passed over, and the next is offered.
2. Nothing is offered while one lands. A place that cannot land is passed over.
3. Another change, a prompt, or the user ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from session.next_edit.places import NextPlace
from session.next_edit.rename import Rename


class State(StrEnum):
    """The states of a chain."""

    OFFERED = "offered"
    LANDING = "landing"
    OVER = "over"


class Signal(StrEnum):
    """What can happen."""

    TAKE = "take"
    SKIP = "skip"
    DONE = "done"
    END = "end"


TABLE: dict[State, dict[Signal, State]] = {
    State.OFFERED: {Signal.TAKE: State.LANDING, Signal.SKIP: State.OFFERED, Signal.END: State.OVER},
    State.LANDING: {Signal.DONE: State.OFFERED, Signal.END: State.OVER},
    State.OVER: {},
}


class Chain:
    """The places of one rename. Only :meth:`signal` changes the state."""

    def __init__(self, rename: Rename, places: Sequence[NextPlace]) -> None:
        self.rename = rename
        self.turn = ""
        """The turn of its hunks: the first of them, so that undo takes all back together."""
        self._places = list(places)
        self._total = len(places)
        self.state = State.OFFERED if places else State.OVER

    @property
    def offered(self) -> NextPlace | None:
        """The place that is offered now."""
        return self._places[0] if self.state is State.OFFERED else None

    @property
    def number(self) -> int:
        """The number of the place that is offered, from 1."""
        return self._total - len(self._places) + 1

    @property
    def total(self) -> int:
        """How many there were in the beginning."""
        return self._total

    def signal(self, signal: Signal) -> bool:
        """Take a signal; false where the table has nothing for it in this state."""
        following = TABLE[self.state].get(signal)
        if following is None:
            return False
        self.state = following
        if signal in (Signal.SKIP, Signal.DONE):
            del self._places[0]
        if self.state is State.OFFERED and not self._places:
            self.state = State.OVER
        return True
