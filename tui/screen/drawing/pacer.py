"""How often a pane is drawn: any number of changes ask for one frame, which draws the newest state, and when
rows come fast the view moves by half of the pane at once.

Moving by a row paints the whole pane for each row, and nobody can read text that never stands still.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from tui.screen.terminal.driver import frame_interval, takes_frames
from tui.screen.terminal.frames import paint_now

if TYPE_CHECKING:
    from textual.widget import Widget


AT_ONCE = 3
"""Frames that are painted at once after a quiet time: a prompt, and the first tokens that answer it."""
FAST = 8.0
"""Rows in a second from which on the view moves by half of the pane."""


class Pacer:
    """Calls ``paint`` when asked: after a quiet time at once, then once per ``interval``.

    While ``ready`` returns false (the terminal has not taken the last frame) frames are skipped; the next one
    draws the newest state."""

    def __init__(
        self,
        paint: Callable[[], object],
        interval: float | Callable[[], float],
        ready: Callable[[], bool] = lambda: True,
        at_once: int = 1,
    ) -> None:
        """``interval`` is the least time between two frames, in seconds, or says what it is now. ``at_once``
        is how many frames may come without an interval between them; each costs a quiet interval before."""
        self._paint = paint
        self._ready = ready
        self._given = interval
        self._ahead = at_once - 1
        self._due = 0.0
        """When the next frame would be due if every frame took an interval."""
        self._handle: asyncio.TimerHandle | None = None

    @property
    def _interval(self) -> float:
        return self._given if isinstance(self._given, float | int) else self._given()

    def request(self) -> None:
        """Ask for a frame: now if there was quiet enough before, else when the interval is over."""
        if self._handle is None:
            loop = asyncio.get_running_loop()
            delay = max(0.0, self._due - self._ahead * self._interval - loop.time())
            self._handle = loop.call_later(delay, self._run, loop)

    def hurry(self) -> None:
        """Paint the frame that was asked for, if any, without waiting for its time."""
        if self._handle is not None:
            self._handle.cancel()
            loop = asyncio.get_running_loop()
            self._handle = loop.call_later(0.0, self._run, loop)

    def cancel(self) -> None:
        """Cancel the frame that was asked for."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        self._handle = None
        if self._ready():
            self._due = max(self._due, loop.time()) + self._interval
            self._paint()
        else:
            self._due = loop.time() + (1 + self._ahead) * self._interval
            self.request()


def stream_pacer(widget: Widget, paint: Callable[[], object]) -> Pacer:
    """The pacer of a pane that shows a stream: as fast as the line to the terminal carries it. ``paint`` has
    the widget refresh what changed."""

    def frame() -> None:
        paint()
        paint_now(widget)

    return Pacer(frame, lambda: frame_interval(widget.app), lambda: takes_frames(widget.app), AT_ONCE)


class JumpScroll:
    """Follows how fast rows come."""

    def __init__(self) -> None:
        self._rows = 0
        self._at = float("-inf")

    def room(self, rows: int, height: int, now: float) -> int:
        """The rows to leave empty below the text; asked whenever the view has to move. ``rows`` is how many
        there are, ``now`` the time in seconds on any clock."""
        grown, passed = rows - self._rows, now - self._at
        self._rows, self._at = rows, now
        return height // 2 if grown > 0 and grown >= FAST * passed else 0
