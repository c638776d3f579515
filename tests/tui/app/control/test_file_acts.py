"""Open files as the keys work on them: tabs, saving, and what is asked about unsaved text."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.base.events import FileBroken, HunkLanded
from session.project.unsaved_texts import UnsavedText, UnsavedTexts
from tests.tui.stage import GREETER, Stage, stage
from tui.editor.buffers.buffer import Buffer

FILES = {"greeter.py": GREETER, "other.py": "one = 1\ntwo = 2\n", "third.py": "three = 3\n"}


def asked(it: Stage) -> tuple[str, str]:
    """The question in the bar, and what is listed below it."""
    question = it.app.panes.held.question
    return (question.title, question.text) if question is not None else ("", "")


def message(it: Stage) -> str:
    return it.app.status.status.message


def is_shown(it: Stage, path: str) -> bool:
    """Whether the editor shows this file."""
    return it.app.editor.path == path


def asks_no_more(it: Stage, title: str) -> bool:
    """Whether something else is asked now, or nothing."""
    return asked(it)[0] != title


async def shown(it: Stage, path: str, line: int | None = None) -> None:
    """Open a file as the keys do."""
    it.app.controls.files.open(path, line)
    opened = asyncio.Event()
    it.app.editor.call_later(opened.set)
    await opened.wait()
    await it.until(lambda: it.app.editor.path == path and it.app.editor.has_focus, path)


async def dirty(it: Stage, path: str, text: str) -> Buffer:
    """Open a file and put a text of the user's into it."""
    await shown(it, path)
    it.app.editor.buffer.put(text)
    return it.app.editor.buffer


async def conflict(it: Stage, mine: str = "mine") -> Buffer:
    """The user and somebody else change the same line."""
    buffer = await dirty(it, "other.py", f"one = {mine}\ntwo = 2\n")
    (it.root / "other.py").write_text("one = theirs\ntwo = 2\n")
    it.app.controls.disk.changed(("other.py",))
    await it.until(lambda: buffer.conflicts, "the conflict")
    return buffer


async def test_files_are_opened_at_a_line_gone_round_and_closed(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, files = it.app, it.app.controls.files
        closed: list[str] = []
        files.on_closed = lambda buffer: closed.append(buffer.path)
        await files.close_tab()
        assert message(it) == "no file is open"
        await files.next_tab(1)
        assert is_shown(it, "")
        for line, row in ((4, 3), (1, 0), (0, 0), (-5, 0), (99, 11), (11, 10)):
            await shown(it, "greeter.py", line)
            assert app.editor.cursor_location[0] == row, line
        app.editor.move_cursor((5, 2))
        app.pane_control.focus("chat")
        await shown(it, "greeter.py")
        assert app.editor.cursor_location == (5, 2), "without a line the cursor stays"
        files.open("none.py")
        await app.shown_file.order.settled()
        await it.pilot.pause()
        assert is_shown(it, "greeter.py")
        for path in ("other.py", "third.py"):
            await shown(it, path)
        gone: list[str] = []
        for step in (1, 1, -1, -1, -1):
            await files.next_tab(step)
            gone.append(app.editor.path)
        assert gone == ["greeter.py", "other.py", "greeter.py", "third.py", "other.py"]
        for left in ("third.py", "greeter.py", ""):
            await files.close_tab()
            assert is_shown(it, left)
        assert closed == ["other.py", "third.py", "greeter.py"] and app.focused is app.composer


async def test_saving_says_what_became_of_it(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, files = it.app, it.app.controls.files
        files.save()
        await it.until(lambda: message(it) == "no file is open", "why not")
        await shown(it, "other.py")
        files.save()
        await it.until(lambda: message(it) == "other.py has no unsaved changes", "why not")
        files.on_saved = lambda buffer: f"more of {buffer.path}"
        files.save()
        await it.until(lambda: message(it) == "more of other.py", "what is said besides")
        app.editor.buffer.put("one = 2\n")
        files.save()
        await it.until(lambda: message(it) == "saved other.py · more of other.py", "the save")
        files.on_saved = lambda buffer: ""
        app.editor.buffer.put("one = 3\n")
        files.save()
        await it.until(lambda: message(it) == "saved other.py", "the save")
        assert (it.root / "other.py").read_text() == "one = 3\n"


async def test_a_save_over_a_conflict_is_asked_about(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, files = it.app, it.app.controls.files
        buffer = await conflict(it)
        title = "Unsettled conflicts in other.py: saving overwrites what others wrote there"
        theirs = "one = theirs\ntwo = 2\n"
        for verdict in ("reject", "apply"):
            files.save()
            await it.until(lambda: asked(it)[0] == title, "the question")
            assert (it.root / "other.py").read_text() == theirs
            assert files.answer("save-over", verdict)
            assert asked(it)[0] != title
            await it.until(
                lambda: (it.root / "other.py").read_text() == theirs or not buffer.dirty, "the end"
            )
        await it.until(lambda: not buffer.dirty, "the save")
        assert (it.root / "other.py").read_text() == "one = mine\ntwo = 2\n"

        # Closing and quitting save it only over the same question.
        buffer = await conflict(it, "mine again")
        await files.close_tab()
        assert asked(it) == ("other.py has unsaved text", "")
        files.answer("close-file", "apply")
        await it.until(lambda: asked(it)[0] == title, "the question")
        assert buffer.dirty and app.editor.path == "other.py"
        app.panes.held.confirm(None)
        assert not files.ask_before_quitting(lambda: app.exit())
        files.answer("quit-with-unsaved", "apply")
        await it.until(lambda: asked(it)[0] == title, "the question")
        assert buffer.dirty and app.is_running
        assert not files.answer("of somebody else", "apply")


async def test_closing_a_file_saves_discards_or_leaves_its_text(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, files = it.app, it.app.controls.files
        await shown(it, "third.py")
        for verdict, text, path in (
            ("reject", FILES["other.py"], "other.py"),
            ("discard", FILES["other.py"], "third.py"),
            ("apply", "mine\n", "third.py"),
        ):
            buffer = await dirty(it, "other.py", "mine\n")
            await files.close_tab()
            assert asked(it) == ("other.py has unsaved text", "")
            files.answer("close-file", verdict)  # type: ignore[arg-type] # As a key gives it.
            await it.until(lambda: not asked(it)[0], "the end of the question")
            await it.pilot.pause()  # the bar gives the focus back by a message
            await it.until(partial(is_shown, it, path), path)
            assert (it.root / "other.py").read_text() == text, verdict
            assert (buffer in list(app.shown_file.buffers)) == (verdict == "reject")
            if verdict != "reject":
                await it.until(lambda: not list(it.session.folders.state.glob("unsaved/*/*.json")), "no copy")


@pytest.mark.parametrize("verdict", ["apply", "discard", "keep"])
async def test_quitting_with_unsaved_text(tmp_path: Path, verdict: str) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, files = it.app, it.app.controls.files
        left: list[str] = []
        assert files.ask_before_quitting(lambda: left.append("at once")) and left == []
        await dirty(it, "other.py", "mine\n")
        assert not files.ask_before_quitting(lambda: left.append("one"))
        assert asked(it) == ("1 file has unsaved text", "other.py")
        app.panes.held.confirm(None)
        await dirty(it, "third.py", "mine too\n")
        assert not files.ask_before_quitting(lambda: left.append("two"))
        assert asked(it) == ("2 files have unsaved text", "other.py\nthird.py") and left == []
        files.answer("quit-with-unsaved", "reject")
        await it.pilot.pause()
        assert left == [] and not asked(it)[0]
        files.ask_before_quitting(lambda: left.append("two"))
        files.answer("quit-with-unsaved", verdict)  # type: ignore[arg-type] # The parameter is a plain text.
        await it.until(lambda: left == ["two"], "leaving")
        files.flush()
        kept = {text.path: text.text for text in texts(it)}
        if verdict == "keep":
            assert kept == {"other.py": "mine\n", "third.py": "mine too\n"}
        else:
            assert kept == {} and not app.shown_file.buffers.dirty
        assert (it.root / "other.py").read_text() == ("mine\n" if verdict == "apply" else FILES["other.py"])


async def test_asked_again_the_unsaved_texts_are_kept_and_nothing_stands_in_the_way(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        files = it.app.controls.files
        await dirty(it, "other.py", "mine\n")
        assert not files.ask_before_quitting(lambda: None)
        assert files.ask_before_quitting(lambda: None)
        assert [text.text for text in texts(it)] == ["mine\n"]


def texts(it: Stage) -> list[UnsavedText]:
    """What another process would find, were this one gone."""
    it.session.unsaved.close()
    return UnsavedTexts(it.session.folders.state / "unsaved").left()


async def test_texts_of_earlier_processes_are_offered_one_by_one(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        for path in FILES:
            await dirty(it, path, f"mine of {path}\n")
        it.app.controls.files.flush()
        it.session.unsaved.close()
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, files = it.app, it.app.controls.files
        await it.until(lambda: asked(it)[0], "the offer")
        offered = []
        for number, verdict in enumerate(("reject", "discard", "apply")):
            title = asked(it)[0]
            offered.append(title.removeprefix("Unsaved text of ").partition(" ")[0])
            assert (f"({1} of {3 - number})" in title) == (number < 2), title
            assert files.answer("restore-unsaved", verdict)  # type: ignore[arg-type] # As a key gives it.
            await it.until(partial(asks_no_more, it, title), "the next one")
        assert sorted(offered) == sorted(FILES) and asked(it) == ("", "")
        restored = offered[2]
        await it.until(lambda: app.editor.path == restored and app.shown_file.dirty, "the text")
        assert app.editor.buffer.text == f"mine of {restored}\n"
        assert message(it) == f"restored the unsaved text of {restored}"
        assert (it.root / restored).read_text() == FILES[restored]
        await files._answer_left("apply")
        assert {text.path for text in texts(it)} == {offered[0], restored}, "later is not never"


async def test_a_broken_file_offers_to_undo_what_broke_it(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        files, other = it.app.controls.files, it.root / "other.py"
        hunks = []
        for old, new in (("one = 1", "one = 10"), ("two = 2", "two = 20")):
            lines = (HunkLine(LineKind.OLD, old), HunkLine(LineKind.NEW, new))
            landed = await it.session.hunks.land(Hunk("other.py", Action.UPDATE, Format.V4A, lines))
            assert isinstance(landed, HunkLanded)
            hunks.append(landed.hunk)
        files.broken(FileBroken("t1", "other.py", "syntax error", ()))
        assert asked(it) == ("", ""), "without a hunk there is nothing to offer"
        files.broken(FileBroken("t1", "other.py", "syntax error at line 1", (hunks[0],)))
        files.broken(FileBroken("t1", "third.py", "syntax error at line 3", ("h9",)))
        files.broken(FileBroken("t2", "other.py", "syntax error at line 2", tuple(hunks)))
        assert asked(it)[0] == "third.py: syntax error at line 3, since h9", "the file's newest state counts"
        files.answer("broken-file", "reject")
        await it.until(lambda: "other.py" in asked(it)[0], "the next one")
        question = it.app.panes.held.question
        assert question is not None and question.apply == "undo h1 and h2"
        files.answer("broken-file", "apply")
        await it.until(lambda: other.read_text() == FILES["other.py"], "the undo of both")
        assert asked(it) == ("", "")
