"""Saving in the editor: what lands meanwhile, what is typed meanwhile, and what keeps the text unsaved."""

from __future__ import annotations

from pathlib import Path

from edits.ledger.ledger import Ledger
from tests.tui.stage import GREETER, stage


async def test_save_right_behind_the_text_saves_all_of_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        it.app.editor.focus()
        for char in "quick":
            it.key(char, char)
        it.key("ctrl+s")
        await it.until(lambda: "saved" in it.screen, "the save")
        assert (it.root / "greeter.py").read_text() == "quick" + GREETER


async def test_the_user_types_and_saves(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.pilot.press("f2", "x", "y")
        assert "greeter.py ●" in it.screen
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "●" not in it.screen.splitlines()[0], "the save")
        assert (it.root / "greeter.py").read_text() == "xy" + GREETER


async def test_unsaved_text_stays_when_its_file_becomes_read_only(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.pilot.press("f2", "x")
        file = it.root / "greeter.py"
        before = file.read_text()
        file.chmod(0o444)
        it.app.controls.disk.changed(("greeter.py",))
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "read-only" in it.app.status.status.message, "why it is not saved")
        assert it.app.editor.buffer.text == "x" + before and file.read_text() == before
        file.chmod(0o644)
        it.app.controls.disk.changed(("greeter.py",))
        await it.pilot.press("ctrl+s")
        await it.until(lambda: file.read_text() == "x" + before, "the save")
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "no unsaved changes" in it.app.status.status.message, "that all is saved")


async def test_keys_typed_while_a_save_waits_are_kept_and_stay_unsaved(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        file = it.root / "greeter.py"
        await it.pilot.press("f2", "x")
        with Ledger(it.session.folders.ledger).exclusive():
            await it.pilot.press("ctrl+s", "y", "z")
            assert it.app.editor.buffer.text == "xyz" + GREETER and file.read_text() == GREETER
        await it.until(lambda: "saved greeter.py" in it.screen, "the save")
        assert file.read_text() == "x" + GREETER
        assert it.app.editor.buffer.text == "xyz" + GREETER and it.app.shown_file.dirty
        await it.pilot.press("ctrl+s")
        await it.until(lambda: not it.app.shown_file.dirty, "the second save")
        assert file.read_text() == "xyz" + GREETER


async def test_a_save_that_fails_keeps_the_text_and_says_why(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        file = it.root / "greeter.py"
        await it.pilot.press("f2", "x")
        with Ledger(it.session.folders.ledger).exclusive():
            await it.pilot.press("ctrl+s", "y")
            file.write_text(GREETER + "# another landing\n")
        await it.until(lambda: "nothing was saved" in it.app.status.status.message, "why it is not saved")
        both = "xy" + GREETER + "# another landing\n"
        await it.until(lambda: it.app.editor.buffer.text == both, "both texts in the editor")
        assert it.app.shown_file.dirty and file.read_text() == GREETER + "# another landing\n"


async def test_a_dirty_file_is_not_written_when_another_is_opened_and_comes_back_as_it_was(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "other.py": "other = 1\n" * 90}) as it:
        await it.until(lambda: len(it.session.files.list()) == 2, "the file list")
        assert await it.app.shown_file.open("other.py")
        await it.pilot.press("f2", *["down"] * 50, "x")
        place, top = it.app.editor.cursor_location, it.app.editor.scroll_offset.y
        await it.pilot.press("ctrl+p", *"greet", "enter")
        await it.until(lambda: it.app.shown_file.path == "greeter.py", "the other file")
        await it.pilot.press("y")
        assert (it.root / "other.py").read_text() == "other = 1\n" * 90, "nothing is saved unasked"
        await it.pilot.press("ctrl+pagedown")
        editor = it.app.editor
        assert it.app.shown_file.path == "other.py" and editor.cursor_location == place
        assert editor.scroll_offset.y == top > 0
        await it.pilot.press("ctrl+z")
        assert editor.buffer.text == "other = 1\n" * 90 and not it.app.shown_file.dirty
        await it.pilot.press("ctrl+y", "ctrl+pageup")
        assert editor.buffer.text == "y" + GREETER
        await it.pilot.press("ctrl+z")
        assert editor.buffer.text == GREETER


async def test_keys_behind_the_one_that_opens_a_file_go_into_that_file(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "other.py": "other = 1\n"}) as it:
        await it.until(lambda: len(it.session.files.list()) == 2, "the file list")
        assert await it.app.shown_file.open("greeter.py")
        await it.pilot.press("f2", "x")
        with Ledger(it.session.folders.ledger).exclusive():
            await it.pilot.press("ctrl+s", "ctrl+p", *"other")
            it.key("enter")
            await it.until(lambda: len(it.app.screen_stack) == 1, "the list to close")
            it.key("y", "y")
        await it.until(lambda: it.app.shown_file.path == "other.py", "the other file")
        await it.until(lambda: it.app.editor.buffer.text == "yother = 1\n", "the key typed meanwhile")


async def test_quitting_with_unsaved_text_asks_and_lists_every_file(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "other.py": "other = 1\n"}) as it:
        for path in ("greeter.py", "other.py"):
            assert await it.app.shown_file.open(path)
            await it.pilot.press("f2", "x")
        await it.pilot.press("ctrl+q")
        await it.until(lambda: "2 files have unsaved text" in it.screen, "the question")
        assert "greeter.py" in it.screen and "other.py" in it.screen and it.app.is_running
        await it.answer("n")
        assert it.app.is_running and len(it.app.shown_file.buffers.dirty) == 2
        await it.pilot.press("ctrl+q")
        await it.until(lambda: "2 files have unsaved text" in it.screen, "the question")
        await it.answer("y")
        await it.until(lambda: it.app.return_code == 0, "the end")
        assert (it.root / "greeter.py").read_text() == "x" + GREETER
        assert (it.root / "other.py").read_text() == "xother = 1\n"
