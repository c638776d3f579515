"""A pause in landing: nothing is written while it is undecided whether the user stops the turn.

The first byte of an Esc key is also the first byte of every arrow key. Landing pauses when that byte is
read, and is resumed, or ended by the stop, when it is known which key it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable


class LandingPause:
    """Shared by the thread that reads keys, the event loop and the edit thread. All methods are for any
    thread, and only :meth:`wait` blocks."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = False

    @property
    def paused(self) -> bool:
        """Whether landing is paused."""
        return self._paused

    def begin(self) -> None:
        """Let no write begin from now on. A write in progress finishes."""
        self._paused = True

    def end(self) -> None:
        """Let writes begin again. Does nothing when landing is not paused."""
        with self._changed:
            self._paused = False
            self._changed.notify_all()

    def look_again(self) -> None:
        """Have the waiting thread ask again whether it is stopped."""
        with self._changed:
            self._changed.notify_all()

    def wait(self, stopped: Callable[[], bool]) -> bool:
        """Wait until a write may begin; false when ``stopped`` says that it must not begin at all."""
        with self._changed:
            self._changed.wait_for(lambda: not self._paused or stopped())
        return not stopped()
