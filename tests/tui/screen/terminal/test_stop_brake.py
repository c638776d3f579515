"""The brake freezes screen and landing while a key may be a stop, and always lets go of them again."""

from __future__ import annotations

import io
import threading

import pytest
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from session.project.edit_thread import LandingPause
from tui.screen.terminal.stop_brake import BrakedOutput, StopBrake


class Session:
    """Turns that begin and end as the test says."""

    def __init__(self) -> None:
        self.running = False
        self.landing_pause = LandingPause()


class BrakePlay(RuleBasedStateMachine):
    """Keys, stops that take effect late, and turns that end by themselves, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.brake = StopBrake()
        self.brake.turns = self.session = Session()
        self.pending = 0
        """The stop keys that the app has yet to handle."""
        self.open_key = False

    @rule()
    def turn_begins(self) -> None:
        self.session.running = True

    @rule()
    def turn_ends_by_itself(self) -> None:
        self.session.running = False

    @rule()
    def key_begins(self) -> None:
        self.open_key = True
        self.brake.undecided()
        assert self.brake.frozen or not self.session.running

    @precondition(lambda self: self.open_key)
    @rule()
    def key_is_another(self) -> None:
        self.open_key = False
        self.brake.decided()
        assert not self.brake.frozen or self.pending

    @rule()
    def key_is_a_stop(self) -> None:
        self.pending += 1
        self.brake.stopping()
        if self.open_key:
            self.open_key = False
            self.brake.decided()
        assert self.brake.frozen or not self.session.running, "the rest of the read must not let go"

    @precondition(lambda self: self.pending)
    @rule()
    def app_stops(self) -> None:
        self.pending -= 1
        self.session.running = False
        self.brake.stopped()

    @rule()
    def no_more_keys_are_read(self) -> None:
        self.brake.release()
        self.pending, self.open_key = 0, False
        assert not self.brake.frozen

    @invariant()
    def frozen_only_while_something_is_open(self) -> None:
        assert not self.brake.frozen or self.pending or self.open_key

    @invariant()
    def landing_stands_still_with_the_screen(self) -> None:
        assert self.session.landing_pause.paused is self.brake.frozen


TestBrakePlay = BrakePlay.TestCase


def test_nothing_is_written_while_frozen_and_nothing_is_lost() -> None:
    brake, written = StopBrake(), io.StringIO()
    brake.turns = session = Session()
    session.running = True
    output = BrakedOutput(written, brake)
    output.write("before ")
    brake.undecided()
    thread = threading.Thread(target=lambda: output.write("after"))
    thread.start()
    thread.join(0.05)
    assert written.getvalue() == "before "
    brake.decided()
    thread.join(20)
    assert written.getvalue() == "before after"


@pytest.mark.parametrize("runs", [True, False])
@pytest.mark.parametrize("acts", [True, False])
def test_escape_is_a_key_while_a_turn_runs_and_where_it_acts(runs: bool, acts: bool) -> None:
    brake, session = StopBrake(), Session()
    brake.turns, session.running = session, runs
    brake.esc_acts = lambda: acts
    assert brake.esc_is_a_key is (runs or acts)
    brake.undecided()
    assert brake.frozen is runs, "without a turn there is nothing to freeze"
