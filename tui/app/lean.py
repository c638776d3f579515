"""Lean drawing: fewer frames and colours over a slow line, by itself or as the user wishes."""

from __future__ import annotations

from typing import Any

from textual.app import App

from tui.app.panes.status import StatusLine
from tui.screen.drawing.palette import ThemeSwitch
from tui.screen.terminal.frames import detail_of, frames_of
from tui.screen.terminal.line_detail import WISHES, Detail

_TOLD = {
    "auto": "lean drawing: by the speed of the line",
    "on": "lean drawing: on; few frames, few colours, plain code",
    "off": "lean drawing: off; everything is drawn, however slow the line",
}
SLOW = "The line is slow: fewer frames and colours, plain code; /lean off keeps them"


class LeanLook:
    """Draws what the line to the terminal carries, and says so once."""

    def __init__(self, app: App[Any], themes: ThemeSwitch, status: StatusLine, wish: str) -> None:
        """``wish`` is one of :data:`~tui.screen.terminal.line_detail.WISHES`."""
        self._app = app
        self._themes = themes
        self._status = status
        self.wish = wish
        """What the user chose last, else the setting."""
        self._told = False
        if (frames := frames_of(app)) is not None:
            frames.line.choice.on_change = self._changed
            frames.line.choice.wish(wish)

    @property
    def figures_interval(self) -> float:
        """The least time between two changes of the figures in the status line, in seconds."""
        return detail_of(self._app).figures

    def choose(self, wish: str) -> None:
        """Draw as the user wishes; without a wish, as the next one says."""
        names = [*WISHES]
        wish = wish or names[(names.index(self.wish) + 1) % len(names)]
        if wish not in WISHES:
            self._status.say(f"/lean takes one of: {', '.join(names)}", "error")
            return
        self.wish = wish
        if (frames := frames_of(self._app)) is not None:
            frames.line.choice.wish(wish)
        self._status.say(_TOLD[wish])

    def _changed(self, detail: Detail) -> None:
        # Not here: a pane is about to paint.
        self._app.call_later(self._follow)
        if not detail.coloured_code and self.wish == "auto" and not self._told:
            self._told = True
            self._status.say(SLOW, "warning")

    def _follow(self) -> None:
        detail, frames = detail_of(self._app), frames_of(self._app)
        if frames is not None:
            frames.follow_detail()
        self._themes.colour_code(coloured=detail.coloured_code)
