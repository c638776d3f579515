"""The line to the terminal: how much of what was written is still on its way.

A near terminal has taken what the thread that writes got rid of; a far one, behind ssh, what it answered to.
How often frames have to wait for a far one decides how much is drawn.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from time import monotonic, sleep

from tui.screen.terminal.frame_answers import WINDOW, FrameAnswers, far_away
from tui.screen.terminal.line_detail import DetailByLine

LAST_ANSWERS = 0.5
"""Seconds that are waited for answers before the terminal is given back."""


class Line:
    """The line of one terminal. Written to on the event loop; the threads that write and that read keys tell
    what the terminal took."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._lock = threading.RLock()  # a signal handler may write while the loop does
        self._answers = FrameAnswers() if far_away(environ) else None
        self._waiting = 0
        """Characters that the thread that writes has yet to get rid of."""
        self.choice = DetailByLine()

    def question(self, size: int, now: float) -> str:
        """The question to write behind a frame of ``size`` characters, if any."""
        if self._answers is None:
            return ""
        with self._lock:
            return self._answers.wrote(size, now)

    def wrote(self, size: int) -> None:
        """``size`` characters were given to the thread that writes."""
        with self._lock:
            self._waiting += size
        self.choice.wrote(size)

    def passed_on(self, size: int) -> None:
        """The thread that writes got rid of ``size`` characters."""
        with self._lock:
            self._waiting -= size

    def answered(self, times: int, now: float) -> None:
        """The terminal said that it has taken so many frames."""
        if self._answers is not None:
            with self._lock:
                for _ in range(times):
                    self._answers.answered(now)

    def behind(self, now: float) -> bool:
        """Whether the terminal has yet to take what was written before."""
        with self._lock:
            return self._waiting > WINDOW or (self._answers is not None and self._answers.behind(now))

    def takes_frame(self, now: float) -> bool:
        """Whether a stream may show its next frame now."""
        behind = self.behind(now)
        if self._answers is not None:  # a near terminal is slow where the machine is busy
            self.choice.asked(now, held=behind)
        return not behind

    def wait_for_answers(self) -> None:
        """Let the answers come that are on their way, before somebody else reads the terminal's input."""
        if self._answers is None:
            return
        until = monotonic() + LAST_ANSWERS
        while self._waits_for_answers(now := monotonic()) and now < until:
            sleep(0.005)
        with self._lock:
            self._answers.forget()

    def _waits_for_answers(self, now: float) -> bool:
        with self._lock:
            return self._answers is not None and self._answers.waiting(now)
