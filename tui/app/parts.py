"""The parts of the app: the panes, there from the first frame on, and what comes with the session later.

The app ends although one of its parts hangs: Textual waits without a limit for each of its widgets.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from textual.app import App

from session.base.closing import leave_behind
from tui.app.panes.layout import Panes
from tui.app.panes.status import StatusLine
from tui.chat.chat import ChatView
from tui.chat.composer.composer import Composer

if TYPE_CHECKING:
    from pathlib import Path

    from session.session import Session
    from session.setup.model_offers import Offer
    from tui.app.control.feed import Feed
    from tui.app.controls import Controls
    from tui.app.session_start import SessionStart
    from tui.editor.editor import EditorPane
    from tui.editor.shown_file import ShownFile


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


class AppParts(App[int], inherit_bindings=False):
    """Names the parts, and says which of them are there yet. The app makes them."""

    panes: Panes

    def __init__(self, **options: Any) -> None:
        """``options`` are those of :class:`textual.app.App`."""
        super().__init__(**options)
        self._start: SessionStart | None = None
        """Set with the first frame."""

    @property
    def editor(self) -> EditorPane:
        """The pane that shows a file."""
        return self.panes.editor

    @property
    def chat(self) -> ChatView:
        """The pane that shows the conversation."""
        return self.panes.chat

    @property
    def composer(self) -> Composer:
        """Where prompts are typed."""
        return self.panes.composer

    @property
    def status(self) -> StatusLine:
        """The line at the bottom."""
        return self.panes.status

    @property
    def start(self) -> SessionStart:
        """What makes the session; there from the first frame on."""
        if self._start is None:
            raise RuntimeError("the app is not on the screen yet")
        return self._start

    @property
    def taken(self) -> Offer | None:
        """What to open again with, once the app is left."""
        return self._start.taken if self._start is not None else None

    @property
    def detached(self) -> bool:
        """Whether the session was left open, to go on without this screen."""
        return self._start is not None and self._start.detached

    @property
    def successor(self) -> Path | None:
        """The journal of a session to open next: the one that was followed."""
        return self._start.successor if self._start is not None else None

    @property
    def ready(self) -> bool:
        """Whether the session is there."""
        return self._start is not None and self._start.controls is not None

    @property
    def controls(self) -> Controls:
        """What came with the session; only asked for where it must be there."""
        return self.start.made

    @property
    def session(self) -> Session:
        """The session."""
        return self.controls.session

    @property
    def shown_file(self) -> ShownFile:
        """The file in the editor."""
        return self.controls.shown_file

    @property
    def feed(self) -> Feed:
        """What reads the session's events."""
        return self.controls.feed
