"""Asks a far terminal to answer once it has taken a frame, so that frames never pile up on the way.

Over ssh what is written is taken at once by the buffers in between: seconds of frames may wait there while
the local end sees nothing of it. The question is "Device Status Report" (``CSI 5 n``, ECMA-48), which
terminals, tmux and screen answer with ``CSI 0 n`` once they have read everything before it. No key is sent
like that.

Sans-I/O: sizes and the time in, what to write out. A terminal that never answers is asked once and never
waited for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

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
"""Seconds after which a frame is let through without an answer."""
CHANCES = 3
"""Frames that are let through so before no answer is waited for. The terminal is asked anew, as at first."""


def far_away(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is at the end of a line whose buffers cannot be seen from here."""
    return bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


class FrameAnswers:
    """What was written, and how much of it the terminal has taken. Answers come from another thread."""

    def __init__(self) -> None:
        self._asked: deque[tuple[int, int, float]] = deque()
        """For each question without an answer: all that was written up to it, what was taken then, and when
        that was."""
        self._written = 0
        self._taken = 0
        self._rate = 0.0
        """Characters a second that the line was seen to take, and its shortest round trip in seconds."""
        self._round_trip = PATIENCE
        self._answering = False
        """Whether the terminal answered the last question that was waited for."""
        self._chances = CHANCES
        self._let = 0.0
        """When a frame was let through last without an answer."""

    def wrote(self, size: int, now: float) -> str:
        """``size`` characters were written; returns the question to write behind them, if any."""
        self._written += size
        if self._asked and not self._answering:
            return ""
        self._asked.append((self._written, self._taken, now))
        return ASK

    def answered(self, now: float) -> None:
        """The terminal answered."""
        if self._asked:
            self._taken, before, when = self._asked.popleft()
            self._answering, self._chances = True, CHANCES
            took = max(now - when, 0.001)
            self._round_trip = min(took, self._round_trip)
            self._rate = max((self._taken - before) / took, FADING * self._rate)

    @property
    def window(self) -> float:
        """Characters that may be on the way: what the line holds (its rate times its round trip, as in TCP's
        BBR), and as much again."""
        return max(WINDOW, self._rate * min(GAIN * self._round_trip, LONGEST))

    def behind(self, now: float) -> bool:
        """Whether so much is on the way that the next frame is to wait."""
        if not self._answering or not self._asked:
            return False
        if now - max(self._asked[0][2], self._let) > PATIENCE:
            self._let = now
            self._chances -= 1
            if not self._chances:
                self.forget()
            return False
        return self._written - self._taken > self.window

    def waiting(self, now: float) -> bool:
        """Whether an answer is on its way from a terminal that answers."""
        return self._answering and bool(self._asked) and now - self._asked[-1][2] <= PATIENCE

    def forget(self) -> None:
        """No answer is waited for any more."""
        self._asked.clear()
        self._taken = self._written
        self._answering = False
        self._rate, self._round_trip = 0.0, PATIENCE
