"""The parts of the app: the panes, there from the first frame on, and what comes with the session later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import App

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
