"""Counts what the status line shows of tokens: how many, how fast. The caller tells the time."""

from __future__ import annotations

from collections import deque

CHARS_PER_TOKEN = 4
"""What an English or code token measures on average: for the live estimate only."""
WINDOW = 1.0
"""Seconds over which the live speed is taken."""
LEAST = 0.2
"""Seconds that a first burst is taken to last at least, so that its speed is not told too high."""


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
        """A turn's request of ``input_tokens`` goes out."""
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

    def counted(self, output_tokens: int, *, estimated: bool) -> None:
        """The server said how many tokens the turn has brought so far.

        Its input tokens are counted once for every round of the turn, so they do not say how full
        the window is; the request's own count does.
        """
        self.used = self._input + output_tokens
        self.estimated = estimated
        self._base, self._chars = self.used, 0

    def paused(self) -> None:
        """Nothing comes for as long as a call or the user takes."""
        self._first = None
        self._recent.clear()

    def speed(self, now: float) -> float | None:
        """Tokens a second over the last second; None when nothing came in it."""
        chars = sum(chars for at, chars in self._recent if at >= now - WINDOW)
        if self._first is None or not chars:
            return None
        return chars / CHARS_PER_TOKEN / min(WINDOW, max(now - self._first, LEAST))
