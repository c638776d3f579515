"""What the row compositor paints over an older screen is the screen as Textual renders it whole."""

from __future__ import annotations

import inspect
import random
from typing import Any

import pytest
from rich.segment import Segment
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from tests.garbage import garbage_of
from tui.screen.grid.row_compositor import RowCompositor, row_screen
from tui.screen.terminal.frames import paint_now

Cells = list[list[str]]


class Lines(Widget):
    """A pane of numbered lines, which notes the lines that it draws."""

    def __init__(self, mark: str, id: str) -> None:
        super().__init__(id=id)
        self.mark, self.drawn, self.count = mark, 0, 0
        self.rows = [f"{mark}{y}" for y in range(40)]

    def render_line(self, y: int) -> Strip:
        self.drawn += 1
        return Strip([Segment(self.rows[y].ljust(self.size.width, self.mark)[: self.size.width])])

    def change(self, first: int, count: int) -> None:
        """Change some lines, and ask for them to be painted."""
        self.count += 1
        for y in range(first, min(first + count, len(self.rows))):
            self.rows[y] = f"{self.mark}{y} {self.count}"
        self.refresh(Region(0, first, self.size.width, count))


class Panes(App[None]):
    """Panes beside each other, one over them, and a line below."""

    CSS = """
    Screen { layers: base above; }
    #left, #right { width: 1fr; height: 100%; border-top: solid red; border-left: solid red; padding: 0 1; }
    #above { layer: above; width: 20; height: 6; offset: 15 3; border: round blue; display: none; }
    .over #above { display: block; }
    #below { dock: bottom; height: 1; }
    """

    held = False

    def get_default_screen(self) -> Screen[None]:
        return row_screen(held=lambda: self.held)

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield Lines("l", "left")
            yield Lines("r", "right")
        yield Lines("a", "above")
        yield Static("0", id="below")

    def on_mount(self) -> None:
        self.shown: Cells = []
        self.whole = self.parts = 0
        self._display = self.take  # type: ignore[assignment, method-assign]

    def take(self, screen: Screen[Any], update: object) -> None:
        """Paint an update over what was shown before."""
        if isinstance(update, LayoutUpdate):
            self.whole += 1
            rows = ["".join(strip.text for strip in row) for row in update.strips]
            self.shown = [list(row) for row in rows]
        elif isinstance(update, ChopsUpdate) and self.shown:
            self.parts += 1
            for y, first, last in update.spans:
                for end, (x, strip) in zip(update.chop_ends[y], update.chops[y].items(), strict=True):
                    if x < last and end > first:
                        assert strip is not None and strip.cell_length == end - x
                        self.shown[y][x:end] = strip.text

    def pane(self, name: str) -> Lines:
        return self.query_one(f"#{name}", Lines)


def rendered(app: Panes) -> Cells:
    """The screen as Textual's own compositor renders it."""
    compositor = app.screen._compositor
    rows = Compositor._render_chops(compositor, compositor.size.region, lambda _: True)
    return [list(Strip.join(row.values()).text) for row in rows]


@pytest.mark.parametrize("seed", range(6))
async def test_parts_painted_over_each_other_are_the_whole_screen(seed: int) -> None:
    choose = random.Random(seed)
    app = Panes()
    async with app.run_test(size=(60, 20)) as pilot:
        app.refresh(layout=True)
        await pilot.pause()
        for step in range(40):
            for _ in range(choose.randint(1, 3)):
                what = choose.random()
                if what < 0.08:
                    app.screen.toggle_class("over")
                elif what < 0.12:
                    await pilot.resize_terminal(choose.randint(30, 80), choose.randint(8, 24))
                elif what < 0.16:
                    app.refresh()
                elif what < 0.4:
                    app.query_one("#below", Static).update(str(step))
                else:
                    pane = app.pane(choose.choice(["left", "right", "above"]))
                    pane.change(choose.randrange(20), choose.randint(1, 6))
            await pilot.pause()
            assert app.shown == rendered(app), f"step {step}"
        assert app.parts > 10 and app.whole > 1


async def test_only_the_lines_that_changed_are_asked_for() -> None:
    app = Panes()
    async with app.run_test(size=(60, 20)) as pilot:
        app.refresh(layout=True)
        await pilot.pause()
        left, right = app.pane("left"), app.pane("right")
        right.rows[5] = "changed, and nobody was told"
        right._styles_cache.clear()  # whoever asks for a line of it draws the line anew
        left.drawn = right.drawn = 0
        left.change(3, 2)
        app.query_one("#below", Static).update("far below")
        await pilot.pause()
        assert (left.drawn, right.drawn) == (2, 0)


async def test_a_whole_screen_leaves_nothing_to_the_garbage_collector() -> None:
    app = Panes()
    async with app.run_test(size=(60, 20)) as pilot:
        app.screen.add_class("over")
        for _ in range(3):
            app.refresh(layout=True)
            await pilot.pause()
        whole = app.whole
        with garbage_of(Strip) as left:
            for pane in ("left", "right", "above"):
                app.pane(pane).change(0, 40)
            app.refresh()
            await pilot.pause()
        assert app.whole > whole and not left


async def test_a_pane_under_another_shows_only_beside_it() -> None:
    app = Panes()
    async with app.run_test(size=(60, 20)) as pilot:
        app.screen.add_class("over")
        app.refresh(layout=True)
        await pilot.pause()
        before = [row[15:35] for row in app.shown[3:9]]
        for pane in ("left", "right"):
            app.pane(pane).change(0, 18)
        await pilot.pause()
        assert [row[15:35] for row in app.shown[3:9]] == before
        assert "l4 1" in "".join(app.shown[5])


async def test_a_change_is_painted_at_once_with_all_that_waits_and_once_only() -> None:
    app = Panes()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        before = app.parts
        app.pane("left").change(0, 3)
        app.pane("right").change(0, 3)
        paint_now(app.pane("left"))
        assert app.parts == before + 1 and "l2 1" in "".join(app.shown[3])
        paint_now(app.pane("left"))
        assert app.parts == before + 1
        await pilot.pause()
        assert "r2 1" in "".join(app.shown[3])


async def test_while_held_nothing_is_rendered_and_nothing_is_lost() -> None:
    app = Panes()
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.pause()
        app.held = True
        app.pane("left").change(0, 3)
        await pilot.pause()
        assert "l2 1" not in "".join(app.shown[3])
        app.held = False
        app.refresh()
        await pilot.pause()
        assert "l2 1" in "".join(app.shown[3])


def test_the_private_names_are_where_they_were() -> None:
    assert type(row_screen()._compositor) is RowCompositor
    assert "self._compositor = Compositor()" in inspect.getsource(Screen.__init__)
    source = inspect.getsource(Compositor)
    assert "return self.render_partial_update()" in source
    assert "chops = self._render_chops(crop, lambda y: True)" in source
    for name in ("_dirty_regions", "_regions_to_spans", "visible_widgets", "cuts"):
        assert name in inspect.getsource(Compositor.render_partial_update) + source
