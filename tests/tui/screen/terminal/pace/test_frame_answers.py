"""Frames wait for a far terminal that answers, and for no other."""

from __future__ import annotations

import re
import time
from collections import deque
from itertools import pairwise

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.bench.pty_spark import Launch, Pty, stage
from tui.screen.terminal.escape_keys import EscapeKeys
from tui.screen.terminal.frame_answers import (
    ANSWER,
    ASK,
    CHANCES,
    NEXT,
    PATIENCE,
    WINDOW,
    FrameAnswers,
    Known,
    Sign,
    far_away,
)


class FarTerminal(RuleBasedStateMachine):
    """A line that keeps the order, and a terminal that answers, or falls silent, at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = FrameAnswers()
        self.now = 0.0
        self.line: deque[int | None] = deque()
        """What is on its way: sizes, and questions."""
        self.largest = 0
        self.silent_since: float | None = None

    @rule(size=st.integers(1, 3 * WINDOW))
    def stream(self, size: int) -> None:
        """A stream has a frame to show."""
        if not self.answers.behind(self.now):
            self.write(size)

    @rule(size=st.integers(1, 200))
    def key(self, size: int) -> None:
        """The frame of a key never waits."""
        self.write(size)

    def write(self, size: int) -> None:
        self.line.append(size)
        if self.answers.wrote(size, self.now) == ASK:
            self.line.append(None)

    @precondition(lambda self: self.line)
    @rule(count=st.integers(1, 5))
    def take(self, count: int) -> None:
        """The terminal reads, and answers what it is asked."""
        for _ in range(min(count, len(self.line))):
            if self.line.popleft() is None:
                self.answers.answered(self.now)

    @precondition(lambda self: self.line)
    @rule()
    def lose(self) -> None:
        """An answer never comes."""
        while self.line and self.line.popleft() is not None:
            pass

    @rule()
    def suspend(self) -> None:
        """Somebody else has the terminal; what was on its way is answered later, or never."""
        self.answers.forget()

    @rule(times=st.integers(1, 3))
    def stray(self, times: int) -> None:
        """Answers that nobody asked for."""
        for _ in range(times):
            self.answers.answered(self.now)

    @rule(seconds=st.floats(0.01, 2 * PATIENCE))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @invariant()
    def a_frame_is_never_held_back_for_long(self) -> None:
        later = self.now + PATIENCE + 0.001
        probe = FrameAnswers()
        probe.__dict__.update(
            {**self.answers.__dict__, "_asked": deque(self.answers._asked)},
        )
        assert not probe.behind(later)

    @invariant()
    def a_terminal_that_does_not_answer_is_asked_once(self) -> None:
        if self.answers.known in (Known.NOTHING, Known.SILENT):
            assert len(self.answers._asked) <= 1

    @invariant()
    def nothing_waits_on_an_empty_line(self) -> None:
        if not self.line and not self.answers._asked:
            assert not self.answers.behind(self.now)


TestFarTerminal = FarTerminal.TestCase


def test_the_table_is_whole() -> None:
    assert NEXT.keys() == {(known, sign) for known in Known for sign in Sign}


def test_a_terminal_that_answers_gets_no_more_than_a_window_ahead() -> None:
    answers = FrameAnswers()
    assert answers.wrote(100, 0.0) == ASK
    answers.answered(0.01)
    written = 0
    while not answers.behind(0.1):
        assert answers.wrote(500, 0.1) == ASK
        written += 500
    assert WINDOW < written <= WINDOW + 500
    answers.answered(0.15)
    answers.answered(0.16)
    assert not answers.behind(0.2)


@pytest.mark.parametrize("rate", [5_000, 20_000, 50_000, 500_000])
@pytest.mark.parametrize("round_trip", [0.02, 0.2, 0.6])
def test_the_window_fits_the_line(rate: int, round_trip: float) -> None:
    """A line of some rate and round trip, emulated: it is kept busy, and little waits before it."""
    answers, line = FrameAnswers(), deque[float]()
    free, worst, sent = 0.0, 0.0, 0
    for step in range(20_000):
        now = step / 1000
        while line and line[0] <= now:
            answers.answered(line.popleft())
        if step % 33 == 0 and not answers.behind(now):
            size = 1500
            free = max(free, now) + size / rate
            if answers.wrote(size, now) == ASK:
                line.append(free + round_trip)
            if step > 10_000:  # until the first answers nothing is held back
                worst = max(worst, free - now)
                sent += size
    wanted = min(rate, 1500 / 0.033)
    assert sent / 10 > 0.6 * wanted
    assert worst < 2 * round_trip + (WINDOW + 2 * 1500) / rate


def test_a_silent_terminal_is_asked_once_and_never_waited_for() -> None:
    answers = FrameAnswers()
    asked = [answers.wrote(WINDOW, at / 10) for at in range(100)]
    assert asked.count(ASK) == 1 and not answers.behind(10.0) and not answers.waiting(10.0)
    assert answers.known is Known.SILENT
    answers.answered(11.0)  # after all
    assert answers.wrote(1, 11.0) == ASK


def test_an_answer_from_before_a_suspension_holds_nothing_back() -> None:
    answers = FrameAnswers()
    answers.wrote(1, 0.0)
    answers.answered(0.1)
    answers.wrote(3 * WINDOW, 0.2)
    assert answers.behind(0.3)
    answers.forget()
    assert not answers.behind(0.3) and not answers.waiting(0.3)
    answers.answered(0.4)
    assert answers.wrote(1, 0.5) == ASK and not answers.behind(0.5)


def test_one_that_falls_silent_gets_a_frame_now_and_then_and_is_not_waited_for_in_the_end() -> None:
    answers = FrameAnswers()
    answers.wrote(1, 0.0)
    answers.answered(0.1)
    now, shown = 1.0, []
    for _ in range(200):
        now += PATIENCE / 20
        if not answers.behind(now):
            shown.append(now)
            answers.wrote(2 * WINDOW, now)
    gaps = [later - earlier for earlier, later in pairwise(shown)]
    assert all(gap > PATIENCE for gap in gaps[:CHANCES]) and gaps[CHANCES + 1] < PATIENCE / 10
    answers.answered(now)  # it is back
    answers.wrote(2 * WINDOW, now)
    answers.wrote(2 * WINDOW, now)
    assert answers.behind(now)


def test_silence_counts_from_the_first_question_without_an_answer() -> None:
    answers = FrameAnswers()
    assert answers.wrote(10, 1.0) == ASK
    assert answers.silence(50.0) is None, "this terminal may answer nobody"
    answers.answered(1.1)
    assert answers.silence(50.0) == 0
    for at in (2.0, 3.0, 4.0):
        assert answers.wrote(10, at) == ASK
    answers.answered(4.5)
    assert answers.silence(5.0) == 2.0
    answers.forget()
    assert answers.silence(9.0) == 6.0, "the line may be lost"
    answers.wrote(10, 9.5)
    assert answers.silence(10.0) == 7.0
    answers.answered(10.5)
    assert answers.silence(11.0) == 0


def test_answers_are_no_keys() -> None:
    for cut in range(len(ANSWER) + 1):
        for running in (True, False):
            keys = EscapeKeys(0.025, lambda running=running: running)  # type: ignore[misc]
            text = keys.feed("a" + ANSWER[:cut], 0.0) + keys.feed(ANSWER[cut:] + "b", 0.0)
            assert (text, keys.answers) == ("ab", 1)


def test_an_answer_behind_an_escape_that_was_a_key_types_nothing() -> None:
    keys = EscapeKeys(0.025, lambda: True)
    assert keys.feed("\x1b", 0.0) == ""
    assert keys.tick(0.03) == "\x1b[27u"
    assert keys.feed(ANSWER[1:], 0.2) == ""


def test_only_far_terminals_are_asked() -> None:
    assert far_away({"SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22"}) and far_away({"SSH_TTY": "/dev/pts/3"})
    assert not far_away({"TERM": "xterm-256color"})


SAY = "say = '" + "".join(f"word{number} " for number in range(4000)) + "The end.'"
SCRIPT = f"[[scenario]]\nid = 'all'\nmatch = ['*']\n[[scenario.step]]\n{SAY}\n"


class LateTerminal:
    """Answers each question some time after it came, and notes how much was written ahead of the answers."""

    def __init__(self, pane: Pty, late: float) -> None:
        self.pane = pane
        self.late = late
        self.ahead: list[int] = []
        self._asked: deque[tuple[int, float]] = deque()
        """The end of each question without an answer, and when it came."""
        self._looked = self._answered = 0

    def until(self, shown: str) -> None:
        """Read and answer until a text is shown."""
        pane, end = self.pane, time.monotonic() + 60
        while shown not in pane.text:
            assert time.monotonic() < end
            if pane.read(0.05):
                for match in re.compile(re.escape(ASK)).finditer(pane.raw, self._looked):
                    self._looked = match.end()
                    self._asked.append((match.end(), time.monotonic()))
                self.ahead.append(len(pane.raw) - self._answered)
            while self._asked and time.monotonic() - self._asked[0][1] > self.late:
                self._answered, _ = self._asked.popleft()
                pane.type(ANSWER)


def test_the_app_holds_frames_back_until_a_far_terminal_answers(launch: Launch) -> None:
    with stage("1500", script=SCRIPT, launch=launch) as at:
        at.environ["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22"
        with at.spark(columns=160, rows=48) as pane:
            terminal = LateTerminal(pane, 0.0)
            terminal.until("ready")
            terminal.late = PATIENCE / 2
            terminal.ahead.clear()
            pane.type("go on\r")
            terminal.until("The end.")
            # A window, and the one frame that went over it: at most a whole pane.
            assert WINDOW < max(terminal.ahead) < WINDOW + 16_000
