"""What is drawn follows the line; lines are emulated in a time of their own."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tui.screen.terminal.frame_answers import ASK, FrameAnswers
from tui.screen.terminal.line_detail import (
    BUDGET,
    FEWER,
    FULL,
    LEAN,
    LONGEST_PATIENCE,
    NEXT,
    PATIENCE,
    PERIOD,
    WISHES,
    Detail,
    DetailByLine,
    Verdict,
)

LEVELS = (FULL, FEWER, LEAN)


def test_the_table_is_whole_and_goes_a_step_up_at_a_time() -> None:
    assert NEXT.keys() == {(detail, verdict) for detail in LEVELS for verdict in Verdict}
    for (detail, verdict), after in NEXT.items():
        step = LEVELS.index(after) - LEVELS.index(detail)
        if verdict is Verdict.KEPT_UP:
            assert step == 0
        elif verdict is Verdict.ROOMY:
            assert step in (-1, 0)
        else:
            assert step >= 0


def stream(choice: DetailByLine, now: float, periods: float, *, held: bool, size: int) -> float:
    """A stream of so many periods, with ``size`` characters a period; returns the time after it."""
    steps = round(periods * 30)
    for _ in range(steps):
        choice.asked(now, held=held)
        choice.wrote(size // 30)
        now += PERIOD / 30
    return now


def test_a_line_that_keeps_up_carries_everything() -> None:
    choice = DetailByLine()
    stream(choice, 0.0, 60, held=False, size=100)
    assert choice.detail is FULL


def test_a_slow_line_carries_less_step_by_step_and_more_again_once_it_keeps_up() -> None:
    choice, seen = DetailByLine(), list[Detail]()
    choice.on_change = seen.append
    now = stream(choice, 0.0, 1.2, held=True, size=2 * BUDGET)
    assert choice.detail is FEWER
    now = stream(choice, now, 1.2, held=True, size=2 * BUDGET)
    assert choice.detail is LEAN
    stream(choice, now, 2 * PATIENCE + 3, held=False, size=100)
    assert seen == [FEWER, LEAN, FEWER, FULL]


def test_a_very_slow_line_gets_the_least_at_once() -> None:
    choice = DetailByLine()
    stream(choice, 0.0, 1.2, held=True, size=BUDGET // 2)
    assert choice.detail is LEAN


def test_a_step_up_that_fails_makes_the_next_one_wait_longer() -> None:
    choice, now, waits = DetailByLine(), 0.0, list[float]()
    now = stream(choice, now, 1.2, held=True, size=BUDGET // 2)
    for _ in range(8):
        since = now
        while choice.detail is LEAN:
            now = stream(choice, now, 0.1, held=False, size=100)
        waits.append(now - since)
        while choice.detail is not LEAN:
            now = stream(choice, now, 0.1, held=True, size=2 * BUDGET)
    assert waits == sorted(waits) and waits[3] > 6 * waits[0] and waits[-1] < LONGEST_PATIENCE * PERIOD * 1.2


def test_a_resize_storm_and_a_stopped_process_say_nothing_of_the_line() -> None:
    choice, now = DetailByLine(), 100.0
    for _ in range(60):  # a drag of the window's corner, three seconds long
        choice.disturbed(now)
        choice.asked(now, held=True)
        now += 0.05
    now = stream(choice, now, 0.5, held=True, size=BUDGET // 2)
    now = stream(choice, now, 2, held=False, size=100)
    for stop in (0.9, 1.3, 1.9, 5.0):
        choice.asked(now, held=True)
        now += stop  # SIGSTOP, SIGCONT
        now = stream(choice, now, 0.1, held=True, size=100)
        now = stream(choice, now, 1.5, held=False, size=100)
    assert choice.detail is FULL


def test_pauses_are_not_judged() -> None:
    choice, now = DetailByLine(), 0.0
    for _ in range(40):
        choice.asked(now, held=True)  # and then the program was stopped
        now += 100 * PERIOD
    assert choice.detail is FULL


@pytest.mark.parametrize("wish", ["on", "off"])
def test_the_wish_of_the_user_comes_first(wish: str) -> None:
    choice, seen = DetailByLine(wish), list[Detail]()
    choice.on_change = seen.append
    stream(choice, 0.0, 5, held=True, size=100)
    assert choice.detail is WISHES[wish] and not seen
    choice.wish("auto")
    assert choice.detail is LEAN
    choice.wish("off")
    assert choice.detail is FULL


class Streams(RuleBasedStateMachine):
    """Streams of any kind over any line, with wishes between them."""

    def __init__(self) -> None:
        super().__init__()
        self.choice = DetailByLine()
        self.drawn = self.choice.detail
        self.choice.on_change = self.changed
        self.now = 0.0

    def changed(self, detail: Detail) -> None:
        assert detail is not self.drawn
        self.drawn = detail

    @rule(periods=st.floats(0.1, 12), held=st.booleans(), size=st.sampled_from([30, BUDGET // 2, 3 * BUDGET]))
    def stream(self, periods: float, held: bool, size: int) -> None:
        self.now = stream(self.choice, self.now, periods, held=held, size=size)

    @rule(seconds=st.floats(0, 1000))
    def quiet(self, seconds: float) -> None:
        self.now += seconds

    @rule(wish=st.sampled_from([*WISHES]))
    def wish(self, wish: str) -> None:
        self.choice.wish(wish)

    @invariant()
    def every_change_is_told(self) -> None:
        assert self.drawn is self.choice.detail

    @invariant()
    def no_patience_is_endless(self) -> None:
        assert self.choice._patience <= LONGEST_PATIENCE


TestStreams = Streams.TestCase


@dataclass
class SlowLine:
    """A line of some rate and delay each way, whose buffers take everything; the time is its own."""

    rate: float
    delay: float
    free: float = 0.0
    answers: deque[float] = field(default_factory=deque)
    """When each answer comes back."""

    def send(self, size: int, now: float, *, asked: bool) -> float:
        """Send ``size`` bytes; returns when they have arrived."""
        self.free = max(self.free, now) + size / self.rate
        if asked:
            self.answers.append(self.free + 2 * self.delay)
        return self.free + self.delay


BYTES = {FULL: 34, FEWER: 25, LEAN: 13}
"""The bytes of a token of code, about."""


@pytest.mark.parametrize("rate", [20_000, 50_000, 1_000_000])
def test_the_picture_is_never_a_second_old_at_a_thousand_tokens_a_second(rate: int) -> None:
    """Emulated: what is shown is younger than a second, and a key never waits for more than the window."""
    answers, choice, line = FrameAnswers(), DetailByLine(), SlowLine(rate, 0.05)
    painted = due = now = 0.0
    shown, arriving = 0.0, deque[tuple[float, float]]()
    ages, keys = list[float](), list[float]()
    for step in range(20_000):
        now = step / 1000
        while line.answers and line.answers[0] <= now:
            answers.answered(line.answers.popleft())
        if now >= due:
            held = answers.behind(now)
            choice.asked(now, held=held)
            due = now + choice.detail.interval
            if not held:
                # A frame has what came since the last one, and never more than the pane has cells.
                size = min(int(1000 * (now - painted) * BYTES[choice.detail]), 9_000) + 20
                painted = now
                choice.wrote(size)
                arriving.append((line.send(size, now, asked=answers.wrote(size, now) == ASK), now))
        if step % 200 == 0:
            choice.wrote(12)
            keys.append(line.send(12, now, asked=answers.wrote(12, now) == ASK) - now)
        while arriving and arriving[0][0] <= now:
            shown = arriving.popleft()[1]
        if now > 3.0:
            ages.append(now - shown)
    assert max(ages) < 1.0
    assert max(keys[50:]) < line.delay + (9_000 + 2 * 4096) / rate + 0.1
    assert choice.detail is (FULL if rate >= 50_000 else LEAN)
