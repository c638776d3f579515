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
"""Characters that may be on the way before another frame of a stream is held back."""
PATIENCE = 3.0
"""Seconds after which an answer is not waited for any more. The terminal is then asked anew, as at first."""


def far_away(environ: Mapping[str, str]) -> bool:
    """Whether the terminal is at the end of a line whose buffers cannot be seen from here."""
    return bool(environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"))


class FrameAnswers:
    """What was written, and how much of it the terminal has taken. Answers come from another thread."""

    def __init__(self) -> None:
        self._asked: deque[tuple[int, float]] = deque()
        """For each question without an answer: all that was written up to it, and when."""
        self._written = 0
        self._taken = 0
        self._answering = False
        """Whether the terminal answered the last question that was waited for."""

    def wrote(self, size: int, now: float) -> str:
        """``size`` characters were written; returns the question to write behind them, if any."""
        self._written += size
        if self._asked and not self._answering:
            return ""
        self._asked.append((self._written, now))
        return ASK

    def answered(self) -> None:
        """The terminal answered."""
        if self._asked:
            self._taken, _ = self._asked.popleft()
            self._answering = True

    def behind(self, now: float) -> bool:
        """Whether so much is on the way that the next frame is to wait."""
        if not self._answering or not self._asked:
            return False
        if now - self._asked[0][1] > PATIENCE:
            self.forget()
            return False
        return self._written - self._taken > WINDOW

    def waiting(self, now: float) -> bool:
        """Whether an answer is on its way from a terminal that answers."""
        return self._answering and bool(self._asked) and now - self._asked[-1][1] <= PATIENCE

    def forget(self) -> None:
        """No answer is waited for any more."""
        self._asked.clear()
        self._taken = self._written
        self._answering = False
