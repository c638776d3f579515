"""Shows races in the app, and does what the user's keys and ``/try`` ask of them.

The panel of a race, above the composer: a line for the race and one for each attempt. The attempts of the
last race are a screen: each one's verdicts and diff, and Enter takes one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from rich.segment import Segment
from textual import events, work
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.strip import Strip
from textual.widget import Widget

from session.base.events import Event, PromptSubmitted, RaceStarted
from session.commands.race_commands import RaceError
from tui.app.overlays.overlay import Lines, Overlay
from tui.app.panes.layout import Panes
from tui.app.race.rows import RaceView, diff_rows
from tui.front.port import SessionPort
from tui.screen.drawing.palette import Palette, ThemeSwitch
from tui.screen.drawing.rows import Row

LEAST = 3
"""Rows that the panel may take on the lowest screen."""


class AttemptsScreen(Overlay):
    """Lists the attempts above the diff of the chosen one. The result is the number of the one to take."""

    def __init__(self, palette: Palette, view: RaceView, diff: Callable[[int], str]) -> None:
        """``diff`` gives what an attempt changes; it is called in a worker thread."""
        super().__init__()
        self._palette = palette
        self._view = view
        self._diff_of = diff
        self._list = Lines(palette, id="attempts")
        self._diff = Lines(palette, id="lines")
        self._chosen = view.winner or (view.ended.best if view.ended and view.ended.best else 1)
        self._text = ""

    def compose(self) -> ComposeResult:
        """The list and the diff."""
        with Vertical(id="box") as box:
            box.border_title = Content("Attempts")
            box.border_subtitle = Content("↑ ↓ choose · PgUp PgDn scroll · Enter takes it · Esc leaves")
            yield self._list
            yield self._diff

    def on_mount(self) -> None:
        """Show the list and the first diff."""
        self._list.styles.height = min(len(self._view.attempts) + 1, max(3, self.app.size.height // 3))
        self._read()

    def take(self, event: Event) -> None:
        """Follow the race while the screen is open."""
        if self._view.turn and getattr(event, "turn", "") == self._view.turn:
            self._draw()

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = self._list.palette = self._diff.palette = palette
        self._draw()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self.call_after_refresh(self._draw)

    def on_key(self, event: events.Key) -> None:
        """Choose, scroll, or take."""
        event.stop()
        page = max(1, self._diff.size.height - 2)
        step = {"up": -1, "down": 1}.get(event.key, 0)
        scroll = {"pageup": -page, "pagedown": page, "home": -(10**6), "end": 10**6}.get(event.key, 0)
        if step:
            self._chosen = max(1, min(self._chosen + step, len(self._view.attempts)))
            self._read()
        elif scroll:
            self._diff.move(scroll)
        elif event.key == "enter":
            self.dismiss(str(self._chosen))

    @work(exclusive=True)
    async def _read(self) -> None:
        """Read the diff of the chosen attempt, and show it."""
        chosen = self._chosen
        self._draw()
        text = await asyncio.to_thread(self._diff_of, chosen)
        if chosen == self._chosen:
            self._text = text
            self._diff.top = 0
            self._draw()

    def _draw(self) -> None:
        width = self._list.size.width
        fill = "panel" if self._palette.theme.ansi else "selection"
        rows = [self._view.head(width)]
        for number, attempt in self._view.attempts.items():
            chosen = number == self._chosen
            mark, back = ("❯", fill) if chosen else (" ", "panel")
            rows.append(self._view.row(attempt, width, fill=back, mark=mark))
        self._list.show(rows, keep=self._chosen)
        shown = diff_rows(self._text, self._diff.size.width)
        top = self._diff.top
        self._diff.show(shown or [Row([("   it changes nothing yet", "faint")], "panel")], keep=top)


class RacePanel(Widget, can_focus=False):
    """Shows the race that runs, or the last one until the next prompt. It never takes a key."""

    def __init__(self, palette: Palette, view: RaceView) -> None:
        super().__init__(id="race")
        self._palette = palette
        self._view = view
        self._rows: list[Row] = []

    def take(self, event: Event) -> None:
        """Show what changed. The view has the event already."""
        del event
        self._draw()

    def restyle(self, palette: Palette) -> None:
        """Draw in other colours from now on."""
        self._palette = palette
        self._draw()

    def on_mount(self) -> None:
        """Show what there is."""
        self._draw()

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._draw()

    def _draw(self) -> None:
        most = max(LEAST, self.app.size.height // 3)
        self._rows = self._view.rows(self.app.size.width, most)
        if self.styles.height is None or self.size.height != len(self._rows):
            self.styles.height = len(self._rows)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row."""
        if y < len(self._rows):
            return self._rows[y].strip(self._palette, self.size.width)
        return Strip([Segment(" " * self.size.width, self._palette.style("text", "panel"))])


class RaceControl:
    """The panel of the race and the screen of its attempts. Made with the first race."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        themes: ThemeSwitch,
        session: SessionPort,
        view: RaceView | None = None,
    ) -> None:
        """``view`` is a race of an earlier session, until another one begins."""
        self._app = app
        self._panes = panes
        self._themes = themes
        self._session = session
        self._view = RaceView() if view is None else view
        self._panel: RacePanel | None = None

    def take(self, event: Event) -> None:
        """Show an event of a race; the next prompt takes the panel away."""
        if self._view.take(event):
            if isinstance(event, RaceStarted):
                self._show()
            elif self._panel is not None:
                self._panel.take(event)
        elif isinstance(event, PromptSubmitted) and self._panel is not None:
            self._panel.remove()
            self._panel = None

    def look(self) -> None:
        """Show every attempt of the last race, and what it changes."""
        screen = AttemptsScreen(self._themes.palette, self._view, self._diff)
        screen.on_closed = self._closed
        self._app.push_screen(screen)

    def _closed(self, result: str | None) -> None:
        if result is None:
            return
        try:
            self._session.race.take(int(result))
        except RaceError as problem:
            self._panes.status.say(str(problem), "error")

    def _diff(self, number: int) -> str:
        try:
            return self._session.race.diff(number)
        except RaceError as problem:
            return str(problem)

    def _show(self) -> None:
        if self._panel is not None:
            self._panel.remove()
        self._panel = RacePanel(self._themes.palette, self._view)
        self._app.screen_stack[0].mount(self._panel, before=self._panes.held)
