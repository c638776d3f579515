"""Paints Textual's updates cell by cell, in place of Textual's own painting of whole lines.

Together with :mod:`tui.screen.terminal.driver` this is all that depends on private names of Textual.

The line to the terminal: how much of what was written is still on its way.

A near terminal has taken what the thread that writes got rid of; a far one, behind ssh, what it answered to.
How often frames have to wait for a far one decides how much is drawn.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import Any

import textual.screen
from rich.color import ColorSystem
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate
from textual.app import App
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.widget import Widget

from tui.screen.grid.grid import Grid
from tui.screen.grid.pens import Pens
from tui.screen.grid.writer import abilities
from tui.screen.terminal.frame_answers import WINDOW, FrameAnswers, far_away
from tui.screen.terminal.line_detail import FULL, Detail, DetailByLine

LAST_ANSWERS = 0.5
"""Seconds that are waited for answers before the terminal is given back."""


class Line:
    """The line of one terminal. Written to on the event loop; the threads that write and that read keys tell
    what the terminal took."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._lock = threading.RLock()  # a signal handler may write while the loop does
        self._answers = FrameAnswers() if far_away(environ) else None
        self._waiting = 0
        """Characters that the thread that writes has yet to get rid of."""
        self.choice = DetailByLine()

    def question(self, size: int, now: float) -> str:
        """The question to write behind a frame of ``size`` characters, if any."""
        if self._answers is None:
            return ""
        with self._lock:
            return self._answers.wrote(size, now)

    def wrote(self, size: int) -> None:
        """``size`` characters were given to the thread that writes."""
        with self._lock:
            self._waiting += size
        self.choice.wrote(size)

    def passed_on(self, size: int) -> None:
        """The thread that writes got rid of ``size`` characters."""
        with self._lock:
            self._waiting -= size

    def answered(self, times: int, now: float) -> None:
        """The terminal said that it has taken so many frames."""
        if self._answers is not None:
            with self._lock:
                for _ in range(times):
                    self._answers.answered(now)

    def behind(self, now: float) -> bool:
        """Whether the terminal has yet to take what was written before."""
        with self._lock:
            return self._waiting > WINDOW or (self._answers is not None and self._answers.behind(now))

    def takes_frame(self, now: float) -> bool:
        """Whether a stream may show its next frame now."""
        behind = self.behind(now)
        if self._answers is not None:  # a near terminal is slow where the machine is busy
            self.choice.asked(now, held=behind)
        return not behind

    def silence(self) -> int:
        """Seconds since a far terminal should have answered; -1 where that is not known."""
        if self._answers is None:
            return -1
        with self._lock:
            silent = self._answers.silence(monotonic())
        return -1 if silent is None else int(silent)

    def wait_for_answers(self) -> None:
        """Let the answers come that are on their way, before somebody else reads the terminal's input."""
        if self._answers is None:
            return
        until = monotonic() + LAST_ANSWERS
        while self._waits_for_answers(now := monotonic()) and now < until:
            sleep(0.005)
        with self._lock:
            self._answers.forget()

    def _waits_for_answers(self, now: float) -> bool:
        with self._lock:
            return self._answers is not None and self._answers.waiting(now)


SYNC_BEGINS, SYNC_ENDS = "\x1b[?2026h", "\x1b[?2026l"
"""Synchronized output: the terminal shows what is between them at once."""
UPDATE_SECONDS = 0.004
"""Textual's least time between two updates of the screen. Streams have a pace of their own, see
:mod:`tui.screen.drawing.pacer`; a key and the first token are not to wait."""
_SMALL = 64
"""A frame of up to this many characters reaches the terminal in one piece anyway."""
OTHER_SCREEN = "\x1b[?1049h"
PLAIN = "\x1b]8;;\x1b\\\x1b[m"
"""No link, no colours and no attributes."""

CLEAR = "\x0f\x1b[0m\x1b[?25l\x1b[?7l\x1b[2J"
"""The usual characters, no colours, no cursor, no line wrap, nothing on the screen: what a program that wrote
over ours may have left otherwise."""


class Frames:
    """The painting of one app on one terminal."""

    def __init__(self, app: App[Any], write: Callable[[str], None]) -> None:
        self._app = app
        self._write = write
        self._plain = app._display
        self._abilities = abilities(os.environ)
        self._grid: Grid | None = None
        self.line = Line(os.environ)
        self._clears = False
        """Whether the next frame begins with an empty screen."""
        self.held = False
        """Whether nothing is painted, because what the terminal shows is to stay."""
        self.on_painted: Callable[[], None] | None = None
        """Called once, after the next frame."""
        textual.screen.UPDATE_PERIOD = UPDATE_SECONDS  # type: ignore[misc]
        # Textual has no hook for it: this hides the method of the class.
        app._display = self.display  # type: ignore[method-assign]

    def forget(self) -> None:
        """Something else wrote to the terminal, or changed its size: the next frame paints all of it."""
        self._grid = None
        self.line.choice.disturbed(monotonic())

    def clear(self) -> None:
        """Empty the screen together with the next frame, so that nobody sees it empty."""
        self.forget()
        self._clears = True

    def release(self) -> None:
        """Paint from now on."""
        if self.held:
            self.held = False
            self.forget()
            self._app.refresh()

    def scroll(self, screen: Screen[Any], rows: Region, by: int) -> None:
        """Have the terminal move ``rows`` up or down, if they are as wide as it and show one widget alone."""
        grid = self._grid
        if grid is None or not grid.known or self.held or screen is not self._app.screen:
            return
        size, cuts = screen._compositor.size, screen._compositor.cuts
        alone = all(len(cuts[y]) == 2 for y in rows.line_range if y < len(cuts))
        if alone and (grid.width, grid.height) == size and size.region.contains_region(rows):
            grid.scroll(rows.y, rows.bottom, by)

    def display(self, screen: Screen[Any], renderable: Any) -> None:
        """Show an update of the screen."""
        app = self._app
        if renderable is None:  # nothing changed
            self._plain(screen, None)
            return
        if not isinstance(renderable, LayoutUpdate | ChopsUpdate) or app.is_headless or app.is_inline:
            self.forget()
            self._plain(screen, renderable)
            return
        try:
            if app._running and not app._closed and not app._batch_count and not self.held:
                self._show(screen, renderable)
        finally:
            app.post_display_hook()

    def _show(self, screen: Screen[Any], update: CompositorUpdate) -> None:
        app = self._app
        try:
            data = self._painted(screen, update)
        except Exception as problem:  # noqa: BLE001 (Textual tells it, and ends the app)
            self.forget()
            app._handle_exception(problem)
            return
        if self._clears:
            data, self._clears = CLEAR + data, False
        if data:
            together = app._sync_available and len(data) > _SMALL
            question = self.line.question(len(data), monotonic())
            self._write((f"{SYNC_BEGINS}{data}{SYNC_ENDS}" if together else data) + question)
        painted, self.on_painted = self.on_painted, None
        if painted is not None:
            painted()

    def _painted(self, screen: Screen[Any], update: CompositorUpdate | None) -> str:
        """What shows ``update``."""
        size = screen._compositor.size
        grid = self._grid
        if grid is None or (grid.width, grid.height) != size or not grid.known:
            grid = self._grid = self._new_grid(size)
            if not isinstance(update, LayoutUpdate):
                stack = self._app._background_screens
                update = screen._compositor.render_update(full=True, screen_stack=stack)  # type: ignore[assignment]
        if isinstance(update, LayoutUpdate):
            _paint_layout(grid, update)
        elif isinstance(update, ChopsUpdate):
            _paint_chops(grid, update)
        position = self._app.screen.outer_size.clamp_offset(self._app.cursor_position)
        self._app._previous_cursor_position = position
        return grid.frame((position.x, position.y))

    def _new_grid(self, size: Size) -> Grid:
        colours = self._app.console._color_system or ColorSystem.TRUECOLOR
        return Grid(size.width, size.height, Pens(colours, self._ink_colours(colours)), self._abilities)

    def _ink_colours(self, colours: ColorSystem) -> ColorSystem:
        """The colours of text, of which a slow line carries fewer."""
        if self.line.choice.detail.all_colours or colours is not ColorSystem.TRUECOLOR:
            return colours
        return ColorSystem.EIGHT_BIT

    def follow_detail(self) -> None:
        """Draw text in as many colours as the line carries; what is on the terminal stays as it is."""
        if self._grid is not None:
            self._grid.pens.draw_ink_in(self._ink_colours(self._grid.pens.colours))


def frames_of(app: App[Any]) -> Frames | None:
    """The painting of ``app``; None where it has no terminal, or another one paints."""
    frames = getattr(app._driver, "frames", None)
    return frames if isinstance(frames, Frames) else None


def holds_frames(app: App[Any]) -> bool:
    """Whether nothing is painted, so that nothing has to be drawn either."""
    frames = frames_of(app)
    return frames is not None and frames.held


def when_painted(app: App[Any], then: Callable[[], None]) -> None:
    """Call ``then`` once the first frame is painted; at once where no frame is held."""
    frames = frames_of(app)
    if frames is None or not frames.held:
        then()
    else:
        frames.on_painted = then


def release_frames(app: App[Any]) -> None:
    """Paint from now on, if nothing was painted so far."""
    frames = frames_of(app)
    if frames is not None:
        frames.release()


def paint_now(widget: Widget) -> None:
    """Paint what changed in ``widget``. By itself it would take Textual three messages, two idle events and a
    timer to get to it, and whatever else waits goes first."""
    app = widget.app
    if not (widget.is_attached and widget._repaint_required and widget.display and widget._is_mounted):
        return
    screen = widget.screen
    if screen is not app.screen or screen._layout_required or widget not in screen._compositor:
        return
    widget._repaint_required = False
    screen._dirty_widgets.add(widget)
    try:
        screen._on_timer_update()
    except Exception as problem:  # noqa: BLE001 (Textual tells it, and ends the app)
        app._handle_exception(problem)


def scrolled(widget: Widget, by: int) -> None:
    """Have the terminal move what ``widget`` shows up by some lines (down where that is negative), so that it
    is not written again. To be called as all lines of the widget are rendered."""
    frames = frames_of(widget.app)
    if frames is not None and by:
        frames.scroll(widget.screen, widget.content_region, by)


def style_version(node: DOMNode) -> int:
    """A number that changes whenever a style of ``node`` does."""
    return node.styles._cache_key


def detail_of(app: App[Any]) -> Detail:
    """What the line to the terminal of ``app`` lets be drawn."""
    frames = frames_of(app)
    return FULL if frames is None else frames.line.choice.detail


def _paint_layout(grid: Grid, update: LayoutUpdate) -> None:
    """Paint a part of the screen in rows."""
    for y, strips in enumerate(update.strips, update.region.y):
        x = update.region.x
        for strip in strips:
            x = grid.paint(x, y, strip._segments)


def _paint_chops(grid: Grid, update: ChopsUpdate) -> None:
    """Paint the pieces of rows that an update touches. A piece has one widget, so it is right as a whole."""
    for y, first, last in update.spans:
        for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if strip is not None and x < last and end > first:
                grid.paint(x, y, strip._segments)
