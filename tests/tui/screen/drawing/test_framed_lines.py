"""The lines of the panes with their border: drawn anew where they changed, and only there."""

from __future__ import annotations

from pathlib import Path

from textual.geometry import Region
from textual.strip import Strip

from tests.tui.stage import Stage, stage

LINES = "".join(f"value_{number} = {number}\n" for number in range(200))


def drawn(it: Stage) -> list[Strip]:
    """All lines of the editor, as the terminal gets them."""
    size = it.app.editor.outer_size
    return it.app.editor.render_lines(Region(0, 0, size.width, size.height))


async def test_a_key_draws_only_its_line_and_the_title_anew(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"long.py": LINES}) as it:
        assert await it.app.shown_file.open("long.py")
        await it.pilot.press("f2", "x", "down")
        await it.pilot.pause()
        before = drawn(it)
        await it.pilot.press("y")
        await it.until(lambda: "vyalue_1" in it.screen, "the key")
        after = drawn(it)
        anew = [y for y, (was, now) in enumerate(zip(before, after, strict=True)) if was is not now]
        assert 2 in anew and set(anew) <= {0, 2}
        assert after[2].text.split()[:2] == ["2", "vyalue_1"]


async def test_another_theme_draws_every_line_anew(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"long.py": LINES}) as it:
        assert await it.app.shown_file.open("long.py")
        await it.pilot.press("f2")
        await it.pilot.pause()
        before = drawn(it)
        it.app.themes.use("light")
        await it.pilot.pause()
        after = drawn(it)
        assert [strip.text for strip in before] == [strip.text for strip in after]
        assert all(list(was) != list(now) for was, now in zip(before, after, strict=True))


async def test_the_chat_keeps_its_border_and_lines_beside_an_open_file(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        alone = it.screen
        assert await it.app.shown_file.open("greeter.py")
        await it.until(lambda: it.app.chat.gutter.left == 1, "the border")
        await it.pilot.pause()
        chat = it.app.chat
        rows = chat.render_lines(Region(0, 0, chat.outer_size.width, chat.outer_size.height))
        assert all(strip.text.startswith("│") for strip in rows[1:])
        assert alone.startswith("─ Chat ─") and rows[0].text.startswith("┌─ Chat ─")
        assert "The end of the talk." in alone and any("The end of the talk." in each.text for each in rows)
