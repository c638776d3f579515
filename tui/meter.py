"""Counts what the status line shows of tokens: how many, how fast. The caller tells the time."""

from __future__ import annotations

from collections import deque

CHARS_PER_TOKEN = 4
"""What an English or code token measures on average: for the live estimate only."""
WINDOW = 1.0
"""Seconds over which the live speed is taken."""


class Meter:
    """Tokens of the running turn."""

    def __init__(self) -> None:
        self.used = 0
        """Tokens in the model's window as of the last count."""
        self.estimated = False
        self._input = self._base = 0
        self._chars = 0
        self._first: float | None = None
        self._last = 0.0
        self._recent: deque[tuple[float, int]] = deque()
        self._final: float | None = None

    def begin(self, input_tokens: int) -> None:
        """A turn's request of ``input_tokens`` goes out."""
        self._input = self._base = self.used = input_tokens
        self.estimated = False
        self._chars = 0
        self._first = self._final = None
        self._recent.clear()

    def took(self, chars: int, now: float) -> None:
        """Characters of the answer arrived."""
        if self._first is None:
            self._first = now
        self._last = now
        self._chars += chars
        self._recent.append((now, chars))
        while self._recent and self._recent[0][0] < now - WINDOW:
            self._recent.popleft()
        self.used = self._base + self._chars // CHARS_PER_TOKEN
        self.estimated = True

    def counted(self, output_tokens: int, *, estimated: bool) -> None:
        """The server said how many tokens the turn has brought so far.

        Its input tokens are counted once for every round of the turn, so they do not say how full
        the window is; the request's own count does.
        """
        self.used = self._input + output_tokens
        self.estimated = estimated
        self._base, self._chars = self.used, 0
        if self._first is not None and self._last > self._first:
            self._final = output_tokens / (self._last - self._first)

    def speed(self, now: float) -> float | None:
        """Tokens a second: of the last second while text arrives, then of the whole answer."""
        if self._final is not None:
            return self._final
        if self._first is None:
            return None
        span = min(WINDOW, max(now - self._first, 0.05))
        return sum(chars for at, chars in self._recent if at >= now - WINDOW) / CHARS_PER_TOKEN / span
