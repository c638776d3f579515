"""The end of the app: widgets that end one after the other are waited for, and one that hangs is not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import pytest
from textual.app import App, ComposeResult
from textual.widget import Widget

from tui.app.parts import PATIENCE, Ending

SLOW = 12
"""Widgets that together take twice the patience to end."""


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    logger = logging.getLogger("spark.closing")
    logger.addHandler(caplog.handler)
    yield caplog
    logger.removeHandler(caplog.handler)


class Slow(Widget):
    """Ends a little later than the one before it, as all do on a busy machine."""

    async def on_unmount(self) -> None:
        assert isinstance(self.app, Ends)
        async with self.app.one_at_a_time:
            await asyncio.sleep(2 * PATIENCE / SLOW)


class Stuck(Widget):
    """Never gets to the message that closes it."""

    async def on_mount(self) -> None:
        self.call_later(asyncio.Event().wait)


class Ends(App[None]):
    def __init__(self, *widgets: Widget) -> None:
        super().__init__()
        self._widgets = widgets
        self.one_at_a_time = asyncio.Lock()
        self.ending = Ending(self)

    def compose(self) -> ComposeResult:
        yield from self._widgets

    async def on_mount(self) -> None:
        self.ending.know(asyncio.current_task())
        self.set_timer(0.01, self.leave)

    def leave(self) -> None:
        self.exit()
        self.ending.begin()


async def test_widgets_that_end_one_by_one_are_all_waited_for(
    told: pytest.LogCaptureFixture,
) -> None:
    app = Ends(*(Slow() for _ in range(SLOW)))
    await app.run_async(headless=True)
    app.ending.over()
    assert not told.records


async def test_a_widget_that_never_ends_is_ended_and_named(told: pytest.LogCaptureFixture) -> None:
    app = Ends(Stuck(), *(Slow() for _ in range(2)))
    await app.run_async(headless=True)
    app.ending.over()
    lines = {record.getMessage() for record in told.records}
    assert lines == {"closing did not wait any longer for the widgets Screen, Stuck"}


class Hangs(Ends):
    """Never gets to the message by which it leaves, and has new widgets meanwhile."""

    def leave(self) -> None:
        self.call_later(asyncio.Event().wait)
        super().leave()
        self.more = asyncio.create_task(self.make_more())

    async def make_more(self) -> None:
        while True:
            await asyncio.sleep(PATIENCE / 16)
            self._register(self.screen, Widget())


async def test_new_widgets_do_not_put_the_end_off(told: pytest.LogCaptureFixture) -> None:
    app = Hangs()
    try:
        async with asyncio.timeout(20 * PATIENCE):
            await app.run_async(headless=True)
    finally:
        app.more.cancel()
        app.ending.over()
    assert "closing did not wait any longer for the screen" in {each.getMessage() for each in told.records}
