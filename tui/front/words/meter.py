"""Measures tokens and their speed for the status line. The caller passes the time."""

from __future__ import annotations

from collections import deque

from session.base.events import Usage

CHARS_PER_TOKEN = 4
"""The average number of characters of a token, used only for the live estimate."""
WINDOW = 1.0
"""The live speed is measured over this many seconds."""
LEAST = 0.2
"""A first burst counts as at least this long, in seconds, so that its speed is not overstated."""


class Meter:
    """Tokens of the running turn."""

    def __init__(self) -> None:
        self.used = 0
        """Tokens in the model's window as of the last count."""
        self.estimated = False
        self._input = self._base = 0
        self._chars = 0
        self._first: float | None = None
        self._recent: deque[tuple[float, int]] = deque()

    def begin(self, input_tokens: int) -> None:
        """A request of ``input_tokens`` is sent."""
        self._input = self._base = self.used = input_tokens
        self.estimated = False
        self._chars = 0
        self._first = None
        self._recent.clear()

    def took(self, chars: int, now: float) -> None:
        """Characters of the answer arrived."""
        while self._recent and self._recent[0][0] < now - WINDOW:
            self._recent.popleft()
        if self._first is None or not self._recent:
            self._first = now
        self._chars += chars
        self._recent.append((now, chars))
        self.used = self._base + self._chars // CHARS_PER_TOKEN
        self.estimated = True

    def counted(self, usage: Usage) -> None:
        """The server reported the tokens of the turn so far. It counts input tokens once per request of the
        turn, so they do not tell how full the window is; the count before sending does."""
        kept = usage.output_tokens if usage.kept_tokens is None else usage.kept_tokens
        self.used = self._input + kept
        self.estimated = usage.estimated
        self._base, self._chars = self.used, 0

    def paused(self) -> None:
        """The stream pauses while a tool call runs or the user is asked."""
        self._first = None
        self._recent.clear()

    def speed(self, now: float) -> float | None:
        """Tokens per second over the last second; None when none arrived."""
        chars = sum(chars for at, chars in self._recent if at >= now - WINDOW)
        if self._first is None or not chars:
            return None
        return chars / CHARS_PER_TOKEN / min(WINDOW, max(now - self._first, LEAST))
