"""The window's title, and telling a user who looks elsewhere: a turn ended, or waits for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING

from textual.app import App
from textual.timer import Timer

from tui.keys.keymap import shown
from tui.look.notify import RESTORE_TITLE, SAVE_TITLE, notification, window_title
from tui.terminal.lending import write_sequence

if TYPE_CHECKING:
    from session.events import Event
    from tui.panes.status import StatusLine

STALL = 3.0
"""Seconds without anything from the server after which they are shown."""
STILL = 60.0
"""Seconds without anything new after which a line says so, once a turn."""
LONG = 10.0
"""Seconds from which the end of a turn is told where nobody knows whether the user looks: tmux reports the
focus only with its option ``focus-events``."""


class Attention:
    """Follows the turn and the focus of the terminal."""

    def __init__(
        self,
        app: App[int],
        status: StatusLine,
        folder: str,
        notify: str,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """``folder`` is the project's name, ``notify`` the setting."""
        self._app = app
        self._status = status
        self._folder = folder
        self._notify = notify
        self._environ = environ
        self._focused: bool | None = None
        """Whether the terminal has the focus; None before it ever said."""
        self._waits = ""
        """What needs the user's OK; empty where nothing does."""
        self._began: float | None = None
        self._heard = 0.0
        self._said_still = False
        self.on_still: Callable[[str], None] = lambda line: None
        """Called with what is to be said of a turn in which nothing has come for long."""
        self._title = ""
        self._timer: Timer | None = None

    def begin(self) -> None:
        """Name the window; its title so far is saved."""
        write_sequence(self._app, SAVE_TITLE)
        self._name()

    def end(self) -> None:
        """Give the window its title back."""
        write_sequence(self._app, RESTORE_TITLE)

    def focus(self, *, focused: bool) -> None:
        """The terminal gained or lost the focus."""
        self._focused = focused

    def turn(self, *, running: bool) -> None:
        """A turn began or ended."""
        now = monotonic()
        if running:
            self._began = self._began if self._began is not None else now
            self._said_still = False
            self._hear()
            if self._timer is None:
                self._timer = self._app.set_interval(1.0, self._look)
        elif self._began is not None:
            took, self._began = now - self._began, None
            self._tell("The turn has ended", took)
            if self._timer is not None:
                self._timer.stop()
                self._timer = None
            self._status.show(stalled=0)
        self._name()

    def heard(self, event: Event) -> None:
        """Something arrived from the server, or a tool of the turn. An empty part of an answer is only a sign
        of life, and a saved file is none."""
        from session.events import FileSaved, FilesChanged, ReasoningDelta, TextDelta  # not before a session

        empty = isinstance(event, TextDelta | ReasoningDelta) and not event.text
        if not empty and not isinstance(event, FileSaved | FilesChanged):
            self._hear()

    def _hear(self) -> None:
        self._heard = monotonic()
        if self._status.status.stalled:
            self._status.show(stalled=0)

    def waits(self, title: str) -> None:
        """Something needs the user's OK, or nothing any more (an empty ``title``)."""
        if title and title != self._waits:
            self._tell(title, monotonic() - self._began if self._began is not None else 0.0)
        self._waits = title
        if not title:
            self._hear()
        self._name()

    def _look(self) -> None:
        """Show how long nothing has come, once that is long."""
        silent = int(monotonic() - self._heard)
        self._status.show(stalled=silent if silent >= STALL and not self._waits else 0)
        if silent >= STILL and not self._waits and not self._said_still:
            self._said_still = True
            self.on_still(f"Nothing new has come for {silent} s. {shown('interrupt')} stops the turn.")

    def _tell(self, message: str, took: float) -> None:
        """Tell ``message`` to a user who looks elsewhere, or may after the turn ``took`` so many seconds."""
        if self._focused is False or (self._focused is None and took >= LONG):
            sequence = notification(self._notify, f"spark {self._folder}", message, self._environ)
            if sequence:
                write_sequence(self._app, sequence)

    def _name(self) -> None:
        state = "Waiting for you" if self._waits else "working" if self._began is not None else ""
        title = " · ".join(filter(None, (state, self._folder, "spark")))
        if title != self._title:
            self._title = title
            write_sequence(self._app, window_title(title))
