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


async def test_one_line_stands_between_the_editor_and_the_chat(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"long.py": LINES, "short.py": "a = 1\n"}) as it:
        await it.ask("just talk")
        await it.done()
        for name in ("long.py", "short.py"):
            assert await it.app.shown_file.open(name)
            await it.until(lambda: it.app.editor.outer_size.width < 120, "both panes")
            await it.pilot.pause()
            rail = it.app.editor.outer_size.width - 1
            rows = [f"{row:<120}"[rail : rail + 3] for row in it.screen.split("\n")]
            between = rows[1 : it.app.editor.size.height]
            assert all(row[0] in "│┃" and not set(row[1:]) & set("│┃") for row in between), between
            assert any(row[0] == "┃" for row in between) == (name == "long.py")
            assert "Chat ─" in it.screen and "The end of the talk." in it.screen
        await it.pilot.resize_terminal(80, 36)
        await it.until(lambda: "│" not in it.screen.split("\n")[3], "no line where they are stacked")
