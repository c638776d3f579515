"""When a review on save runs, whatever happens in whatever order."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from session.assist.review.schedule import LIVE, TABLE, Schedule, Signal, State
from session.base.text.tables import TableError
from session.setup.user_tables import read_side
from tests.thorough import share


class Saves(RuleBasedStateMachine):
    """No review runs beside a turn, there is one at a time, and no save is forgotten."""

    def __init__(self) -> None:
        super().__init__()
        self.schedule = Schedule(busy=False)
        self.turn = self.running = self.due = False

    def _send(self, signal: Signal) -> None:
        if self.schedule.begins(signal):
            assert not self.running and not self.turn and self.due
            self.running, self.due = True, False

    @rule()
    def save(self) -> None:
        self.due = True
        self._send(Signal.SAVED)

    @rule()
    def prompt(self) -> None:
        self.turn = True
        self.due, self.running = self.due or self.running, False
        self._send(Signal.PROMPT)

    @precondition(lambda self: self.turn)
    @rule()
    def turn_over(self) -> None:
        self.turn = False
        self._send(Signal.TURN_OVER)

    @precondition(lambda self: self.running)
    @rule()
    def done(self) -> None:
        self.running = False
        self._send(Signal.DONE)

    @rule(sure=st.integers(0, 5))
    def off(self, sure: int) -> None:
        if sure == 0:
            self.running = self.due = False
            self._send(Signal.OFF)

    @invariant()
    def what_is_due_runs_unless_a_turn_does(self) -> None:
        assert self.running is (self.schedule.state in LIVE)
        assert not self.due or self.running or self.turn
        assert (self.schedule.state is State.WAITING) is (self.due and self.turn)


Saves.TestCase.settings = settings(max_examples=share(200, 15), deadline=None)
TestSaves = Saves.TestCase


@pytest.mark.parametrize("state", list(State))
def test_every_signal_but_the_end_of_a_review_is_in_each_row(state: State) -> None:
    assert set(Signal) - TABLE[state].keys() <= {Signal.DONE}


def test_the_setting_is_one_of_its_values() -> None:
    assert read_side({}).review == "on" and read_side({"review": "security"}).review == "security"
    with pytest.raises(TableError, match="review must be one of"):
        read_side({"review": "always"})
