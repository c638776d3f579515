"""The window's title, and telling a user who looks elsewhere: a turn ended, or waits for them.

The sequences are OSC 9 (iTerm2, WezTerm, Windows Terminal, Ghostty, kitty), OSC 777 (rxvt, VTE, foot) and the
bell, which every terminal has. tmux passes sequences on inside its own wrapper where ``allow-passthrough`` is
on, and the bell always.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING

from textual.app import App
from textual.timer import Timer

from tui.front.keys.keymap import shown
from tui.screen.terminal.lending import write_sequence

if TYPE_CHECKING:
    from session.base.events import Event
    from tui.app.panes.status import StatusLine
    from tui.front.words.silence import Silence


LONGEST = 120
"""Characters of a message that are sent."""
_OSC9 = frozenset({"iTerm.app", "WezTerm", "ghostty", "WarpTerminal"})
"""Values of ``TERM_PROGRAM``."""
SAVE_TITLE = "\x1b[22;2t"
RESTORE_TITLE = "\x1b[23;2t"
"""Save the window's title before it is changed, and restore it (xterm's ctlseqs, "Window manipulation")."""
STALL = 3.0
"""Seconds without anything from the server after which they are shown."""
LONG = 10.0
"""Seconds from which the end of a turn is told where nobody knows whether the user looks: tmux reports the
focus only with its option ``focus-events``."""


def way_of(environ: Mapping[str, str]) -> str:
    """How this terminal is told, where the setting is ``auto``: a terminal that is not known gets a bell."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if program in _OSC9 or "WT_SESSION" in environ or "kitty" in term or "ghostty" in term:
        return "osc9"
    if "VTE_VERSION" in environ or term.startswith(("foot", "rxvt-unicode")):
        return "osc777"
    return "bell"


def notification(way: str, title: str, message: str, environ: Mapping[str, str]) -> str:
    """The sequence that tells ``message``; empty where nothing is to be told. Both texts are cut to printable
    characters, so that a folder's name cannot end the sequence either."""
    way = way_of(environ) if way == "auto" else way
    title, text = _printable(title), _printable(message)
    match way:
        case "osc9":
            sequence = f"\x1b]9;{title}: {text}\a"
        case "osc777":
            sequence = f"\x1b]777;notify;{title.replace(';', ',')};{text.replace(';', ',')}\a"
        case "bell":
            return "\a"
        case _:
            return ""
    if "TMUX" in environ:
        # The bell marks the window in tmux, also where it passes nothing on.
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\" + "\a"
    return sequence


def window_title(title: str) -> str:
    """The sequence that names the terminal's window (OSC 2), and in screen and tmux the pane."""
    return f"\x1b]2;{_printable(title)}\a"


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())[:LONGEST]


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
        self._silence: Silence | None = None
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
        """Something arrived from the server, or a tool of the turn."""
        if self._silence is None:
            from tui.front.words.silence import Silence  # not before a session

            self._silence = Silence(monotonic())
        if self._silence.heard(event, monotonic()):
            self._show_silence(0)

    def _hear(self) -> None:
        if self._silence is not None:
            self._silence.broken(monotonic())
        self._show_silence(0)

    def _show_silence(self, seconds: int) -> None:
        if self._status.status.stalled != seconds:
            self._status.show(stalled=seconds)

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
        now = monotonic()
        if self._silence is None or self._waits:
            self._show_silence(0)
            return
        silent = self._silence.seconds(now)
        self._show_silence(silent if silent >= STALL else 0)
        if told := self._silence.line(now, shown("interrupt")):
            self.on_still(told)

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
