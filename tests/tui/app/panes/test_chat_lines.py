"""The chat draws its lines, border and all, as Textual draws them."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tests.tui.stage import stage
from themes.loader import theme_names
from tui.chat.chat import ChatView


def cells(strips: list[Strip]) -> list[list[tuple[str, str]]]:
    """Characters, and how each is drawn."""
    out = []
    for strip in strips:
        assert strip.cell_length == sum(segment.cell_length for segment in strip)
        out.append([(letter, _drawn(segment.style)) for segment in strip for letter in segment.text])
    return out


def _drawn(style: Style | None) -> str:
    """How a terminal is told of a style. Its own background is what there is without one."""
    return (style or Style()).render("x").replace(";49", "").replace("49m", "m")


def both(chat: ChatView, crop: Region) -> tuple[list[list[tuple[str, str]]], list[list[tuple[str, str]]]]:
    own = cells(chat.render_lines(crop))
    chat._styles_cache.clear()
    return own, cells(Widget.render_lines(chat, crop))


THEMES = theme_names()
SIZES = ((120, 36), (90, 30), (60, 14))


@pytest.mark.parametrize("theme", THEMES)
async def test_each_line_is_what_textual_makes_of_it(tmp_path: Path, theme: str) -> None:
    async with stage(tmp_path, theme=theme) as it:
        await it.ask("just talk")
        await it.done()
        chat = it.app.chat
        for size in SIZES if theme == THEMES[0] else SIZES[:1]:
            await it.pilot.resize_terminal(*size)
            for focused in (it.app.composer, chat):
                focused.focus()
                await it.pilot.pause()
                width, height = chat.outer_size
                if not height:
                    continue
                for crop in (
                    Region(0, 0, width, height),
                    Region(0, 3, width, 2),
                    Region(0, 0, width, 1),
                    Region(2, 1, width - 4, height - 1),
                ):
                    own, textuals = both(chat, crop)
                    assert own == textuals


async def test_what_is_selected_and_found_is_drawn_alike(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        await it.pilot.press("f3", "/", "t", "h", "i", "n", "g", "enter", "V", "up")
        chat = it.app.chat
        own, textuals = both(chat, Region(0, 0, *chat.outer_size))
        assert own == textuals
        assert len({style for row in own for _, style in row}) > 5
