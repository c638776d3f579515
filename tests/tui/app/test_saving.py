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
        assert "●" not in it.screen.splitlines()[0]
        assert (it.root / "greeter.py").read_text() == "xy" + GREETER


async def test_unsaved_text_stays_when_its_file_becomes_read_only(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.pilot.press("f2", "x")
        file = it.root / "greeter.py"
        before = file.read_text()
        file.chmod(0o444)
        it.app.shown_file.read_again()
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "read-only" in it.app.status.status.message, "why it is not saved")
        (it.root / "other.py").write_text("other = 1\n")
        assert not await it.app.shown_file.open("other.py"), "leaving it would lose the text"
        assert it.app.editor.content == "x" + before and file.read_text() == before
        file.chmod(0o644)
        it.app.shown_file.read_again()
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
            assert it.app.editor.content == "xyz" + GREETER and file.read_text() == GREETER
        await it.until(lambda: "saved greeter.py" in it.screen, "the save")
        assert file.read_text() == "x" + GREETER
        assert it.app.editor.content == "xyz" + GREETER and it.app.shown_file.dirty
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
        await it.until(lambda: it.app.editor.content == both, "both texts in the editor")
        assert it.app.shown_file.dirty and file.read_text() == GREETER + "# another landing\n"


async def test_another_file_is_opened_only_after_what_was_typed_is_on_disk(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "other.py": "other = 1\n"}) as it:
        await it.until(lambda: len(it.session.files.list()) == 2, "the file list")
        assert await it.app.shown_file.open("greeter.py")
        await it.pilot.press("f2", "x")
        with Ledger(it.session.folders.ledger).exclusive():
            await it.pilot.press("ctrl+p", *"other")
            it.key("enter")
            await it.until(it.app.shown_file._saving.locked, "the save")
            it.key("y", "y")
            assert it.app.shown_file.path == "greeter.py"
        await it.until(lambda: it.app.shown_file.path == "other.py", "the other file")
        assert (it.root / "greeter.py").read_text().endswith("x" + GREETER)
        await it.until(lambda: it.app.editor.content == "yother = 1\n", "the key typed meanwhile")


async def test_quitting_with_unsaved_text_asks_once(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.pilot.press("f2", "x", "ctrl+q")
        assert "unsaved" in it.screen and it.app.is_running
        it.key("ctrl+q")
        await it.until(lambda: it.app.return_code == 0, "the end")
