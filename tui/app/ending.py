"""Ends the app although a part of it hangs: Textual waits without a limit for each of its widgets."""

from __future__ import annotations

import asyncio
from typing import Any

from textual.app import App

from session.closing import leave_behind

PATIENCE = 0.4
"""Seconds that the widgets have to end by themselves, each time they are looked at."""


class Ending:
    """The end of one app."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self._main: asyncio.Task[Any] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def know(self, main: asyncio.Task[Any] | None) -> None:
        """``main`` runs the app's message loop."""
        self._main = main

    def begin(self) -> None:
        """The app was told to leave: what has not ended soon is ended by force. May be repeated."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._cut)

    def over(self) -> None:
        """The app has left."""
        if self._timer is not None:
            self._timer.cancel()

    def _cut(self) -> None:
        # A widget that is stuck in a message never gets to the one that closes it.
        left = [
            (type(node).__name__, task)
            for node in list(self._app._registry)
            if (task := node._task) is not None and not task.done() and task is not asyncio.current_task()
        ]
        if left:
            leave_behind(f"the widgets {', '.join(sorted({name for name, _ in left}))}")
        for _, task in left:
            task.cancel()
        if self._app._running and self._main is not None:
            leave_behind("the screen")
            self._main.cancel()
        self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._cut)
