"""Asks a far terminal to answer once it has taken a frame, so that frames never pile up on the way.

Over ssh what is written is taken at once by the buffers in between: seconds of frames may wait there while
the local end sees nothing of it. The question is "Device Status Report" (``CSI 5 n``, ECMA-48), which
terminals, tmux and screen answer with ``CSI 0 n`` once they have read everything before it. No key is sent
like that; the answer to a question for the cursor's place (``CSI 6 n``) looks like F3 with Shift.

Sans-I/O: sizes and the time in, what to write out. :data:`NEXT` is what is known of the terminal. One that
never answers is asked once and never waited for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import Enum

ASK = "\x1b[5n"
ANSWER = "\x1b[0n"
WINDOW = 4096
"""Characters that may always be on the way before another frame of a stream is held back."""
GAIN = 2.0
"""How much more may be on the way than the line itself holds: at 1 it would stand idle between frames."""
LONGEST = 0.7
"""Seconds of the line's rate that may be on the way at most: where it was never empty, its round trip was
never seen without what waited before it."""
FADING = 0.98
"""What the fastest rate is multiplied by with each answer, so that a line that became slower is noticed."""
PATIENCE = 3.0
"""Seconds after which an answer is overdue, and a frame is let through without it."""
CHANCES = 3
"""Overdue answers after which none is waited for. The terminal is asked anew, as at first."""


class Known(Enum):
    """What is known of the terminal."""

    NOTHING = "nothing"
    """It was not asked yet, or its first answer is on its way."""
    SILENT = "silent"
    """It did not answer the first question in time: it is not asked any more."""
    ANSWERS = "answers"
    """Frames wait for its answers."""
    LATE = "late"
    """An answer is overdue: now and then a frame is let through without one."""


class Sign(Enum):
    """What is learned of the terminal."""

    ANSWER = "answer"
    OVERDUE = "overdue"
    """The oldest answer is overdue."""
    LOST = "lost"
    """:data:`CHANCES` answers in a row were overdue, or somebody else had the terminal."""


NEXT: Mapping[tuple[Known, Sign], Known] = {
    (Known.NOTHING, Sign.ANSWER): Known.ANSWERS,
    (Known.NOTHING, Sign.OVERDUE): Known.SILENT,
    (Known.NOTHING, Sign.LOST): Known.NOTHING,
    (Known.SILENT, Sign.ANSWER): Known.ANSWERS,  # late, over a line that was full
    (Known.SILENT, Sign.OVERDUE): Known.SILENT,
    (Known.SILENT, Sign.LOST): Known.NOTHING,
    (Known.ANSWERS, Sign.ANSWER): Known.ANSWERS,
    (Known.ANSWERS, Sign.OVERDUE): Known.LATE,
    (Known.ANSWERS, Sign.LOST): Known.NOTHING,
    (Known.LATE, Sign.ANSWER): Known.ANSWERS,
    (Known.LATE, Sign.OVERDUE): Known.LATE,
    (Known.LATE, Sign.LOST): Known.NOTHING,
}
"""What is known after each sign."""
WAITED_FOR = (Known.ANSWERS, Known.LATE)
"""Where frames wait for answers, and each frame ends with a question."""


def far_away(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is at the end of a line whose buffers cannot be seen from here."""
    return bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


class FrameAnswers:
    """What was written, and how much of it the terminal has taken."""

    def __init__(self) -> None:
        self.known = Known.NOTHING
        self._asked: deque[tuple[int, int, float]] = deque()
        """For each question without an answer: all that was written up to it, what was taken then, and when
        that was."""
        self._written = 0
        self._taken = 0
        self._rate = 0.0
        """Characters a second that the line was seen to take, and its shortest round trip in seconds."""
        self._round_trip = PATIENCE
        self._overdue = 0
        """Answers in a row that were overdue."""
        self._let = 0.0
        """When a frame was let through last without an answer."""
        self._unanswered: float | None = None
        """When the terminal was asked what it has not answered since."""
        self._ever = False
        """Whether it ever answered."""

    @property
    def window(self) -> float:
        """Characters that may be on the way: what the line holds (its rate times its round trip, as in TCP's
        BBR), and as much again."""
        return max(WINDOW, self._rate * min(GAIN * self._round_trip, LONGEST))

    def wrote(self, size: int, now: float) -> str:
        """``size`` characters were written; returns the question to write behind them, if any."""
        self._written += size
        first = self.known is Known.NOTHING and not self._asked
        if not first and self.known not in WAITED_FOR:
            return ""
        self._asked.append((self._written, self._taken, now))
        if self._unanswered is None:
            self._unanswered = now
        return ASK

    def answered(self, now: float) -> None:
        """The terminal answered. An answer to no question is of a time before :meth:`forget`."""
        self._ever = True
        if not self._asked:
            self._unanswered = None
            return
        self._taken, before, when = self._asked.popleft()
        took = max(now - when, 0.001)
        self._round_trip = min(took, self._round_trip)
        self._rate = max((self._taken - before) / took, FADING * self._rate)
        self._overdue = 0
        self._unanswered = self._asked[0][2] if self._asked else None
        self.known = NEXT[self.known, Sign.ANSWER]

    def behind(self, now: float) -> bool:
        """Whether so much is on the way that the next frame is to wait."""
        if self._is_overdue(now):
            self._overdue += self.known in WAITED_FOR
            self._let = now
            self.known = NEXT[self.known, Sign.OVERDUE]
            if self._overdue >= CHANCES:
                self.forget()
            return False
        if self.known not in WAITED_FOR or not self._asked:
            return False
        return self._written - self._taken > self.window

    def waiting(self, now: float) -> bool:
        """Whether an answer is on its way from a terminal that answers."""
        return self.known in WAITED_FOR and bool(self._asked) and now - self._asked[-1][2] <= PATIENCE

    def silence(self, now: float) -> float | None:
        """Seconds since the oldest question to which no answer has come, 0 where all were answered; None for
        a terminal that never answers."""
        if not self._ever:
            return None
        return 0.0 if self._unanswered is None else now - self._unanswered

    def forget(self) -> None:
        """No answer is waited for any more: somebody else has the terminal, or it is lost."""
        self._asked.clear()
        self._taken = self._written
        self._rate, self._round_trip = 0.0, PATIENCE
        self._overdue = 0
        self.known = NEXT[self.known, Sign.LOST]

    def _is_overdue(self, now: float) -> bool:
        """Whether the oldest answer is overdue, and no frame was let through without it since."""
        return bool(self._asked) and now - max(self._asked[0][2], self._let) > PATIENCE
