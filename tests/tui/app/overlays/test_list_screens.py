"""Screens with a list are closed, drawn and sized at any moment of their opening: nothing raises."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from textual.app import App

from session.base.events import HunkOpened
from themes.loader import load_theme
from tui.app.overlays.chosen_list import ListScreen
from tui.app.overlays.context_panel import ContextScreen
from tui.app.review.review_book import ReviewBook
from tui.app.review.review_finding_control import FindingsScreen
from tui.app.review.review_screen import ReviewScreen
from tui.screen.drawing.palette import Palette

MOMENTS = (0, 1, 2, 3, 5, 8)
"""Turns of the event loop; after the last ones a screen is open."""


class Verdicts:
    """Knows no lines, and takes a moment to say so."""

    async def lines(self, each: object) -> list[Any]:
        await asyncio.sleep(0)
        return []


def book() -> ReviewBook:
    made = ReviewBook()
    made.take(HunkOpened("h1", "t1", "a.py", "update"))
    return made


async def never(draft: str | None) -> None:
    await asyncio.get_running_loop().create_future()


SESSION: Any = SimpleNamespace(
    running=False, context=SimpleNamespace(explain=never, pinned=()), files=SimpleNamespace(list=list)
)
NOTES: Any = SimpleNamespace(open=())
VERDICTS: Any = Verdicts()
SCREENS: dict[str, Callable[[Palette], ListScreen]] = {
    "review": lambda palette: ReviewScreen(palette, book(), VERDICTS),
    "findings": lambda palette: FindingsScreen(palette, NOTES, VERDICTS, "off"),
    "window": lambda palette: ContextScreen(palette, SESSION.context, SESSION.files.list, ""),
}


def use(screen: ListScreen) -> None:
    screen._draw()
    screen._fit()
    screen.action_move(1)  # type: ignore[attr-defined]
    screen.restyle(Palette(load_theme("light")))


@pytest.mark.parametrize("which", SCREENS)
async def test_a_screen_may_be_used_and_closed_at_any_moment_of_its_opening(which: str) -> None:
    app = App[None]()
    async with app.run_test(size=(90, 30)) as pilot:
        for moment in MOMENTS:
            screen = SCREENS[which](Palette(load_theme("dark")))
            opened = app.push_screen(screen)
            for _ in range(moment):
                await asyncio.sleep(0)
            use(screen)
            screen.dismiss()
            use(screen)
            await opened
            screen.dismiss()
            use(screen)
            await pilot.pause(0)
            use(screen)
        assert len(app.screen_stack) == 1
