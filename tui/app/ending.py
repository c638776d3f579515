"""Ends the app although a part of it hangs: Textual waits without a limit for each of its widgets."""

from __future__ import annotations

import asyncio
from typing import Any

from textual.app import App

from session.base.closing import leave_behind

PATIENCE = 0.4
"""Seconds within which a widget ends, where any is left."""
_LOOKS = 8
"""The number of looks in that time. Looks are counted and not seconds: while the machine stalls nobody looks,
and on a busy one the widgets end one after the other, which takes longer together."""


class Ending:
    """The end of one app."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._main: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._left: dict[asyncio.Task[Any], str] = {}
        """The tasks of the widgets at the last look, and the widgets' names."""
        self._in_vain = 0
        """The looks since one of them ended."""

    def know(self, main: asyncio.Task[Any] | None) -> None:
        """``main`` runs the app's message loop."""
        self._main = main

    def begin(self) -> None:
        """The app was told to leave: what does not end is ended by force. May be repeated."""
        if self._timer is None:
            self._look_later()

    def over(self) -> None:
        """The app has left."""
        if self._timer is not None:
            self._timer.cancel()

    def _look_later(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(PATIENCE / _LOOKS, self._look)

    def _look(self) -> None:
        left = {
            task: type(node).__name__
            for node in list(self._app._registry)
            if (task := node._task) is not None and not task.done() and task is not asyncio.current_task()
        }
        ended = self._left.keys() - left.keys()
        self._in_vain = 0 if ended else self._in_vain + 1
        self._left = left
        if self._in_vain == _LOOKS:
            self._in_vain = 0
            self._cut()
        self._look_later()

    def _cut(self) -> None:
        # A widget that is stuck in a message never gets to the one that closes it.
        if self._left:
            leave_behind(f"the widgets {', '.join(sorted(set(self._left.values())))}")
        for task in self._left:
            task.cancel()
        if self._app._running and self._main is not None:
            leave_behind("the screen")
            self._main.cancel()
