"""Unsaved text is asked about, kept through every end, and offered at the next start."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.project.unsaved_texts import UnsavedText, UnsavedTexts
from tests.tui.stage import GREETER, POLITE, Stage, stage

OTHER = "one = 1\ntwo = 2\nthree = 3\n"


async def type_in(it: Stage, path: str, *keys: str) -> None:
    assert await it.app.shown_file.open(path)
    await it.pilot.press("f2", *keys)


async def end_suddenly(it: Stage) -> None:
    """As if the process had been killed once the text was kept."""
    text = it.app.editor.buffer.text
    await it.until(lambda: [each.text for each in left(it)] == [text], "the kept text")


def left(it: Stage) -> list[UnsavedText]:
    """What another process would find, were this one gone."""
    it.session.unsaved.close()
    return UnsavedTexts(it.session.folders.state / "unsaved").left()


async def test_unsaved_text_of_a_killed_process_is_offered_and_comes_back(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "other.py": OTHER}) as it:
        await type_in(it, "other.py", "x", "y")
        await end_suddenly(it)
    async with stage(tmp_path, files={"other.py": OTHER.replace("three", "drei")}) as it:
        await it.until(lambda: "Unsaved text of other.py from" in it.screen, "the offer")
        await it.answer("y")
        await it.until(lambda: it.app.shown_file.path == "other.py", "the file")
        await it.until(lambda: it.app.shown_file.dirty, "the text")
        assert it.app.editor.buffer.text == "xyone = 1\ntwo = 2\ndrei = 3\n", (
            "merged with the file as it is now"
        )
        assert (it.root / "other.py").read_text() == OTHER.replace("three", "drei")
        await it.until(lambda: it.app.panes.held.question is None, "the end of the question")
        await it.pilot.press("f2", "ctrl+z")
        assert it.app.editor.buffer.text == OTHER.replace("three", "drei")


async def test_an_offered_text_can_be_left_for_later_or_discarded(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"other.py": OTHER}) as it:
        await type_in(it, "other.py", "x")
        await end_suddenly(it)
    async with stage(tmp_path, files={"other.py": OTHER}) as it:
        await it.until(lambda: "Unsaved text of other.py from" in it.screen, "the offer")
        await it.pilot.press("escape", "h", "i")
        assert it.app.composer.text == "hi", "the offer takes no keys from the prompt"
        await it.answer("n")
        await it.until(lambda: it.app.panes.held.question is None, "the end of the question")
    async with stage(tmp_path, files={"other.py": OTHER}) as it:
        await it.until(lambda: "Unsaved text of other.py from" in it.screen, "the offer")
        await it.answer("d")
        await it.until(lambda: not list(it.session.folders.state.glob("unsaved/*/*.json")), "its removal")
    async with stage(tmp_path, files={"other.py": OTHER}) as it:
        await it.pilot.pause(0.5)
        assert "Unsaved text" not in it.screen


@pytest.mark.parametrize(
    ("key", "kept", "on_disk"), [("k", True, OTHER), ("d", False, OTHER), ("y", False, "x" + OTHER)]
)
async def test_quitting_keeps_discards_or_saves(key: str, kept: bool, on_disk: str, tmp_path: Path) -> None:
    async with stage(tmp_path, files={"other.py": OTHER}) as it:
        await type_in(it, "other.py", "x")
        await it.pilot.press("ctrl+q")
        await it.until(lambda: "1 file has unsaved text" in it.screen, "the question")
        await it.answer(key)
        await it.until(lambda: it.app.return_code == 0, "the end")
        it.app.controls.files.flush()
        assert bool(left(it)) == kept
        assert (it.root / "other.py").read_text() == on_disk


async def test_quitting_a_second_time_keeps_the_text_for_the_next_start(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"other.py": OTHER}) as it:
        await type_in(it, "other.py", "x")
        await it.pilot.press("ctrl+q")
        await it.until(lambda: "1 file has unsaved text" in it.screen, "the question")
        it.key("ctrl+q")
        await it.until(lambda: it.app.return_code == 0, "the end")
        assert [text.text for text in left(it)] == ["x" + OTHER]


async def test_closing_a_file_with_unsaved_text_asks(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"greeter.py": GREETER, "other.py": OTHER}) as it:
        await type_in(it, "greeter.py")
        await type_in(it, "other.py", "x", "ctrl+f4")
        await it.until(lambda: "other.py has unsaved text" in it.screen, "the question")
        await it.answer("n")
        assert it.app.shown_file.path == "other.py" and it.app.shown_file.dirty
        await it.until(lambda: it.app.focused is it.app.editor, "the editor")
        await it.pilot.press("ctrl+f4")
        await it.answer("d")
        await it.until(lambda: it.app.shown_file.path == "greeter.py", "the file that was shown before")
        assert (it.root / "other.py").read_text() == OTHER
        await it.pilot.press("f2", "ctrl+f4")
        assert not it.app.shown_file.path and it.app.focused is it.app.composer


async def test_the_tabs_stand_in_the_title_with_what_is_unsaved(tmp_path: Path) -> None:
    files = {"greeter.py": GREETER, "other.py": OTHER, "a/same.py": "", "b/same.py": ""}
    async with stage(tmp_path, files=files) as it:
        for path in files:
            await type_in(it, path, "x")
        title = it.screen.splitlines()[0]
        assert " greeter.py ● │ other.py ● │ a/same.py ● │ b/same.py ●  1:2" in title
        await it.pilot.resize_terminal(44, 30)
        title = it.screen.splitlines()[0]
        assert "‹2 a/same.py ● │ b/same.py ●  1:2" in title


async def test_what_became_of_a_hunk_that_was_not_shown_is_told(tmp_path: Path) -> None:
    script = f'{POLITE}\n[[scenario.step]]\npatch = ["greet"]\n\n[[scenario.step]]\nstall = 600.0\n'
    files = {"greeter.py": GREETER, "other.py": OTHER}
    async with stage(tmp_path, files=files, script=script, rate=100) as it:
        await type_in(it, "other.py", "x")
        await it.ask("make it polite")
        await it.until(lambda: "h1 is being written in greeter.py" in it.screen, "the hunk")
        await it.until(lambda: "h1 landed in greeter.py" in it.screen, "what became of it")
        assert it.app.shown_file.path == "other.py" and it.session.running
