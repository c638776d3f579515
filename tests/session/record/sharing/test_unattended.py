"""The table of a session without a screen, and any run through it."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from session.record.sharing.unattended import TABLE, Signal, State, Unattended
from tests.thorough import share


def test_the_table_has_an_entry_for_every_pair() -> None:
    assert set(TABLE) == {(state, signal) for state in State for signal in Signal}


class AnyLife(RuleBasedStateMachine):
    """Followers come and go, the clock runs out, signals come: a model in plain words beside the table."""

    @initialize(followers=st.integers(0, 2))
    def begin(self, followers: int) -> None:
        self.followers = followers
        self.life = Unattended(followed=bool(followers))
        self.stopped = self.idle = False

    @rule()
    def follower_joins(self) -> None:
        self.followers += 1
        self.life.advance(Signal.JOINED)

    @precondition(lambda self: self.followers)
    @rule()
    def follower_leaves(self) -> None:
        self.followers -= 1
        self.life.advance(Signal.JOINED if self.followers else Signal.LEFT)

    @rule()
    def time_is_over(self) -> None:
        self.stopped = self.stopped or not self.followers
        self.life.advance(Signal.LIMIT)

    @rule()
    def asked_to_end(self) -> None:
        self.stopped = True
        self.life.advance(Signal.END)

    @rule()
    def turns_are_over(self) -> None:
        self.idle = True
        self.life.advance(Signal.IDLE)

    @invariant()
    def the_state_is_what_happened(self) -> None:
        if self.idle:
            assert self.life.state is State.OVER
        elif self.stopped:
            assert self.life.state is State.ENDING
        else:
            assert self.life.state is (State.FOLLOWED if self.followers else State.ALONE)


TestAnyLife = AnyLife.TestCase
TestAnyLife.settings = settings(max_examples=share(200, 40), stateful_step_count=20)
