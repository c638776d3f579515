"""Shows the progress of a download on standard error, in one redrawn line or in a line now and then."""

from __future__ import annotations

import sys
import time
from collections import deque
from shutil import get_terminal_size

from session.models.engine.process import said_bytes
from tui.front.printing import say, say_again

DRAWN_SECONDS, LOGGED_SECONDS = 0.1, 10.0
_WINDOW_SECONDS = 10.0
"""The speed is measured over this many seconds."""


class PullProgress:
    """Shows how much is downloaded, the speed and the time left."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._alive = sys.stderr.isatty()
        self._shown = 0.0
        self._seen: deque[tuple[float, int]] = deque()
        self._drawn = False

    def show(self, there: int, whole: int) -> None:
        """Bytes downloaded so far, and of the whole file."""
        now = time.monotonic()
        self._seen.append((now, there))
        while now - self._seen[0][0] > _WINDOW_SECONDS:
            self._seen.popleft()
        if there < whole and now - self._shown < (DRAWN_SECONDS if self._alive else LOGGED_SECONDS):
            return
        self._shown = now
        line = progress_line(self._name, there, whole, self._speed())
        if self._alive:
            width = get_terminal_size().columns - 1
            say_again(line[:width], width)
            self._drawn = True
        else:
            say(line, err=True)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        self.end()
        say(f"spark: {text}", err=True)

    def end(self) -> None:
        """End the line that is redrawn."""
        if self._drawn:
            say(err=True)
            self._drawn = False

    def _speed(self) -> float:
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - began) if now > began else 0.0


def progress_line(name: str, there: int, whole: int, speed: float) -> str:
    """One line of progress; ``speed`` is in bytes per second, 0 where it is unknown."""
    share = f"{name}  {said_bytes(there)} of {said_bytes(whole)}  {100 * there // max(1, whole)} %"
    if speed <= 0 or there >= whole:
        return share
    left = int((whole - there) / speed)
    minutes, seconds = divmod(left, 60)
    hours, minutes = divmod(minutes, 60)
    wait = (
        f"{hours} h {minutes} min" if hours else f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    )
    return f"{share}  {said_bytes(speed)}/s  {wait} left"
