"""What is said of a turn in which nothing has come for long."""

from __future__ import annotations

from session.base.events import (
    AttemptAnswered,
    AttemptEnded,
    Event,
    FilesChanged,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnStarted,
)
from tui.front.words.silence import Silence

STARTED = TurnStarted("s1", "t1", "model", "medium", 100)
CALLED = ToolCalled("t1", "c1", "run", "run npm test")
RETURNED = ToolEnded("t1", "c1", "run", "done", "run npm test · 2 s")


def after(*events: Event) -> Silence:
    silence = Silence(0.0)
    for event in events:
        silence.heard(event, 0.0)
    return silence


def test_a_minute_is_told_once_a_turn_with_what_stops_it() -> None:
    silence = after(STARTED)
    assert silence.line(59.9, "Esc") == ""
    assert silence.line(60.0, "Esc") == "Nothing new has come from the server for 60 s. Esc stops the turn."
    assert silence.line(200.0, "Esc") == ""
    silence.heard(STARTED, 200.0)
    assert silence.line(261.0, "Esc") == "Nothing new has come from the server for 61 s. Esc stops the turn."


def test_signs_of_life_are_nothing_new() -> None:
    silence = after(STARTED)
    assert not silence.heard(ReasoningDelta("t1", ""), 30.0)
    assert not silence.heard(FilesChanged(("a.py",)), 30.0)
    assert silence.seconds(60.0) == 60
    assert silence.heard(TextDelta("t1", "a"), 60.0)
    assert silence.seconds(61.0) == 1


def test_a_call_that_runs_is_what_the_user_waits_for() -> None:
    silence = after(STARTED, CALLED)
    assert silence.line(60.0, "Esc") == "Nothing new has come from run npm test for 60 s. Esc stops the turn."
    assert "server" in after(STARTED, CALLED, RETURNED).line(60.0, "Esc")


def test_an_attempt_that_is_judged_is_named() -> None:
    answered = AttemptAnswered("t1", 2, 1, 3, ("a.py",))
    told = "Checks judge attempt 2, and nothing new has come for 60 s. Esc stops the turn."
    assert after(STARTED, answered).line(60.0, "Esc") == told
    assert "server" in after(STARTED, answered, AttemptEnded("t1", 2, "red", 10)).line(60.0, "Esc")


def test_outside_a_turn_nothing_is_told() -> None:
    assert Silence(0.0).line(100.0, "Esc") == ""
    assert after(STARTED, TurnEnded("t1", "completed")).line(100.0, "Esc") == ""


def test_an_answer_of_the_user_starts_the_count_again() -> None:
    silence = after(STARTED)
    silence.broken(50.0)
    assert silence.line(100.0, "Esc") == ""
    assert silence.line(110.0, "Esc") != ""
