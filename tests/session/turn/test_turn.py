from __future__ import annotations

import itertools

import pytest

from session.turn.turn import TABLE, IllegalSignalError, Phase, Signal, Turn

ENDS = (Phase.COMPLETED, Phase.INTERRUPTED, Phase.FAILED)
LIVE = tuple(phase for phase in Phase if phase not in ENDS)

# The rules of the module's docstring and of the turn's story, written out one by one.
ALLOWED = {
    (Phase.PREPARING, Signal.SENT): Phase.WAITING,
    (Phase.WAITING, Signal.ARRIVED): Phase.STREAMING,
    (Phase.WAITING, Signal.ANSWERED): Phase.SETTLING,
    (Phase.WAITING, Signal.LOST): Phase.WAITING,
    (Phase.STREAMING, Signal.LOST): Phase.WAITING,
    (Phase.STREAMING, Signal.ARRIVED): Phase.STREAMING,
    (Phase.STREAMING, Signal.ANSWERED): Phase.SETTLING,
    (Phase.SETTLING, Signal.CALLED): Phase.CALLING,
    (Phase.CALLING, Signal.CONTINUED): Phase.WAITING,
    (Phase.SETTLING, Signal.CONTINUED): Phase.WAITING,
    (Phase.SETTLING, Signal.SETTLED): Phase.COMPLETED,
    **{(phase, Signal.INTERRUPT): Phase.INTERRUPTED for phase in LIVE},
    **{(phase, Signal.FAIL): Phase.FAILED for phase in LIVE},
}


def turn_in(phase: Phase) -> Turn:
    turn = Turn("t1")
    turn.phase = phase
    return turn


@pytest.mark.parametrize(("phase", "signal"), list(itertools.product(LIVE, Signal)))
def test_every_signal_in_every_live_phase(phase: Phase, signal: Signal) -> None:
    turn = turn_in(phase)
    following = ALLOWED.get((phase, signal))
    if following is None:
        with pytest.raises(IllegalSignalError, match=rf"{signal} while {phase} in turn t1"):
            turn.advance(signal)
        assert turn.phase is phase
    else:
        assert turn.advance(signal) is (following is not phase)
        assert turn.phase is following


@pytest.mark.parametrize(("phase", "signal"), list(itertools.product(ENDS, Signal)))
def test_a_turn_that_has_ended_ignores_every_signal(phase: Phase, signal: Signal) -> None:
    turn = turn_in(phase)
    assert turn.over
    assert turn.advance(signal) is False
    assert turn.phase is phase


def test_the_table_names_every_phase() -> None:
    assert set(TABLE) == set(Phase)


def test_a_new_turn_prepares_and_is_not_over() -> None:
    turn = Turn("t1")
    assert turn.phase is Phase.PREPARING
    assert not turn.over


def test_only_a_settled_answer_completes() -> None:
    completing = [
        (phase, signal) for phase, row in TABLE.items() for signal in row if row[signal] is Phase.COMPLETED
    ]
    assert completing == [(Phase.SETTLING, Signal.SETTLED)]


def test_a_turn_with_a_tool_call_goes_round() -> None:
    turn = Turn("t1")
    for signal in (
        Signal.SENT,
        Signal.ARRIVED,
        Signal.ARRIVED,
        Signal.ANSWERED,
        Signal.CONTINUED,
        Signal.ARRIVED,
        Signal.ANSWERED,
        Signal.SETTLED,
    ):
        turn.advance(signal)
    assert turn.phase is Phase.COMPLETED


def test_every_live_phase_can_be_reached_and_left() -> None:
    reached = {Phase.PREPARING}
    for _ in Phase:
        reached |= {following for phase in reached for following in TABLE[phase].values()}
    assert reached == set(Phase)
