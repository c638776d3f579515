"""A hunk lands where the user has unsaved text: both are shown, and the user settles it by a key."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.tui.stage import GREETER, Stage, stage

MINE = '    return "MINE"'
LANDED = '    return f"Good-bye, {name}"'
ROW = 10
"""The row of the line that both change."""


async def conflict(it: Stage) -> None:
    """The user types over a line, does not save, and the model lands a hunk there."""
    assert await it.app.shown_file.open("greeter.py")
    await it.pilot.press("f2")
    line = it.app.editor.buffer.lines[ROW]
    it.app.editor.replace(MINE, (ROW, 0), (ROW, len(line)))
    await it.pilot.press("right")
    await it.ask("make it polite")
    await it.done()
    await it.until(lambda: "h2 changed your unsaved text" in it.screen, "the question")


def on_disk(it: Stage) -> str:
    return (it.root / "greeter.py").read_text()


async def test_both_versions_are_shown_and_nothing_of_the_users_wears_the_landed_bar(tmp_path: Path) -> None:
    async with stage(tmp_path, size=(160, 48)) as it:
        await conflict(it)
        rows = [line[:60].rstrip() for line in it.screen.splitlines()]
        at = next(index for index, row in enumerate(rows) if "MINE" in row)
        assert rows[at].startswith("! ")
        assert rows[at + 1].startswith("! ") and "landed by h2" in rows[at + 1]
        assert LANDED.strip() in rows[at + 2]
        assert "✓ h2  greeter.py 12" in it.chat and "conflicts with your unsaved text" in it.chat
        assert MINE in it.app.editor.buffer.text and LANDED not in it.app.editor.buffer.text
        assert [mark.hunk for mark in it.app.shown_file.marks.of("greeter.py")] == ["h1"]


async def test_a_conflict_names_the_hunk_whose_undo_it_is(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f2")
        row = it.app.editor.buffer.lines.index(LANDED)
        it.app.editor.replace(MINE, (row, 0), (row, len(LANDED)))
        await it.pilot.press("right")
        await it.session.hunks.undo("h2")
        await it.until(lambda: "the undo of h2 changed your unsaved text" in it.screen, "the question")
        assert "on disk, h2 undone" in it.screen and "outside of spark" not in it.screen


async def test_mine_undoes_the_hunk_in_the_ledger(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await conflict(it)
        await it.answer("m")
        await it.until(lambda: "↶ h2" in it.chat, "the undo")
        assert MINE in it.app.editor.buffer.text and it.app.shown_file.dirty
        assert LANDED not in on_disk(it) and MINE not in on_disk(it)
        assert not it.app.editor.buffer.conflicts and it.app.panes.held.question is None
        await it.pilot.press("f2", "ctrl+s")
        await it.until(lambda: MINE in on_disk(it), "the save")


@pytest.mark.parametrize(("key", "lines"), [("t", [LANDED]), ("b", [MINE, LANDED])])
async def test_theirs_and_both_are_one_step(key: str, lines: list[str], tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await conflict(it)
        await it.answer(key)
        await it.until(lambda: it.app.panes.held.question is None, "the end of the question")
        end = ROW + 1 + len(lines)
        assert it.app.editor.buffer.lines[ROW + 1 : end] == lines, "h1 above added a line"
        assert "conflicts" not in it.chat and "✓ h2" in it.chat
        assert it.app.shown_file.dirty == (key == "b")
        await it.pilot.press("f2", "ctrl+z")
        assert MINE in it.app.editor.buffer.text and LANDED not in it.app.editor.buffer.text
        await it.pilot.press("ctrl+y", "ctrl+s")
        await it.until(lambda: on_disk(it) == it.app.editor.buffer.text, "the save")


async def test_saving_asks_until_the_conflict_is_settled(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await conflict(it)
        await it.pilot.press("f2", "ctrl+s")
        await it.until(lambda: "saving overwrites what h2 wrote" in it.screen, "the question")
        assert LANDED in on_disk(it)
        await it.answer("n")
        assert LANDED in on_disk(it) and it.app.editor.buffer.conflicts
        await it.until(lambda: it.app.focused is it.app.editor, "the editor")
        await it.pilot.press("ctrl+s")
        await it.answer("y")
        await it.until(lambda: MINE in on_disk(it), "the save")
        assert LANDED not in on_disk(it) and not it.app.shown_file.dirty
        assert "your text replaced it" in it.chat


async def test_edited_by_hand_and_undone_elsewhere_the_conflict_follows(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await conflict(it)
        await it.pilot.press("shift+tab")
        await asyncio.sleep(0.6)
        await it.pilot.press("e")
        await it.until(lambda: it.app.focused is it.app.editor, "the editor")
        assert it.app.editor.cursor_location[0] == ROW + 1
        await it.pilot.press("end", "enter", "x")
        x = it.app.editor.buffer.lines[ROW + 2]
        (open_one,) = it.app.editor.buffer.conflicts
        assert it.app.editor.buffer.lines[open_one.start : open_one.end] == [MINE, x]
        await it.session.hunks.undo("h2")
        await it.until(lambda: not it.app.editor.buffer.conflicts, "the end of the conflict")
        assert f"{MINE}\n{x}\n" in it.app.editor.buffer.text
        assert on_disk(it).startswith(GREETER.split("def part")[0][:20]) and LANDED not in on_disk(it)
