"""Hunks as the keys work on them: gone to, undone, rejected, dropped; outputs and suggestions."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.base.events import HunkLanded, HunkOpened
from tests.tui.stage import GREETER, Stage, stage
from tui.app.panes.held_bar import Question
from tui.app.review.review_book import Reviewed

FILES = {"greeter.py": GREETER, "other.py": "one = 1\ntwo = 2\nthree = 3\n"}


def message(it: Stage) -> str:
    return it.app.status.status.message


def tells(it: Stage, text: str) -> bool:
    """Whether the status line has a text."""
    return text in message(it)


def asked(it: Stage) -> Question | None:
    """What is asked in the bar."""
    return it.app.panes.held.question


async def land(it: Stage, path: str, old: str, *new: str, turn: str = "") -> str:
    """Land one hunk outside of a turn, and wait for its mark."""
    lines = (HunkLine(LineKind.OLD, old), *(HunkLine(LineKind.NEW, line) for line in new))
    landed = await it.session.hunks.land(Hunk(path, Action.UPDATE, Format.V4A, lines), turn)
    assert isinstance(landed, HunkLanded), landed
    await it.until(lambda: it.app.shown_file.marks.find(landed.hunk), "the mark")
    return landed.hunk


def reviewed(it: Stage, hunk: str) -> Reviewed:
    found = it.app.controls.review.book.named(hunk)
    assert found is not None
    return found


async def test_hunks_are_gone_to_shown_before_undone_and_redone(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, hunks = it.app, it.app.controls.hunks
        hunks.before()
        await it.until(lambda: message(it) == "there is no landed hunk at the cursor", "why not")
        hunks.go(1)
        hunks.show("h9")
        await it.until(lambda: message(it) == "h9 is gone: it has no lines in a file now", "why not")
        app.controls.feed.take(HunkOpened("t1", "h8", "greeter.py"))
        hunks.show("h8")
        await it.until(
            lambda: message(it) == "h8 is being written: it has no lines in a file yet", "why not yet"
        )
        app.controls.feed.stop()
        one = await land(it, "other.py", "one = 1", "one = 10")
        two = await land(it, "other.py", "three = 3", "three = 30", "four = 4")
        three = await land(it, "greeter.py", '    return "Bye " + name', '    return "Good-bye"')
        app.composer.focus()
        hunks.show(one)
        await it.until(lambda: app.editor.path == "other.py" and app.focused is app.editor, "the hunk")
        assert app.editor.cursor_location[0] == 0
        hunks.before()
        await it.until(lambda: app.editor.old_lines, "what stood there")
        assert any("one = 1" in str(line) for line in app.editor.old_lines)
        hunks.before()
        await it.until(lambda: not app.editor.old_lines, "the text alone")
        hunks.go(1)
        await it.until(lambda: app.editor.cursor_location[0] == 2, "the next one")
        app.composer.focus()
        await it.until(lambda: app.composer.has_focus, "the composer")
        hunks.undo()
        await it.until(lambda: app.shown_file.marks.find(two) is None, "the undo of where the keys went")
        assert (it.root / "other.py").read_text() == "one = 10\ntwo = 2\nthree = 3\n"
        hunks.redo()
        await it.until(lambda: app.shown_file.marks.find(two), "the redo")
        await app.shown_file.order.settled()
        app.editor.move_cursor((0, 0))
        hunks.undo()
        await it.until(lambda: app.shown_file.marks.find(two) is None, "the undo of what landed last")
        assert app.shown_file.marks.find(three)
        app.editor.focus()
        await it.until(lambda: app.editor.has_focus, "the editor")
        app.editor.move_cursor((0, 0))
        hunks.undo()
        await it.until(lambda: app.shown_file.marks.find(one) is None, "the undo of the one at the cursor")
        hunks.show(one)
        await it.until(lambda: message(it) == f"{one} is undone: it has no lines in a file now", "why not")
        for name, told in (("", "nothing is held"), ("h3", "h3 is not held")):
            hunks.answer("apply", name)
            assert message(it) == told


async def test_outputs_definitions_and_an_editor_of_the_users_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, hands = it.app, it.app.editor.hands
        chat = app.chat.keys.hands
        assert hands is not None and chat is not None
        shown: list[str] = []
        for call, said in (
            ("c9", "its output is not kept any more: outputs are kept while spark runs"),
            ("c1", "it printed nothing"),
        ):
            if call == "c1":
                it.session.outputs.keep_text("c1", " \n")
            chat.output(call, shown.append)
            await it.until(partial(tells, it, said), said)
        it.session.outputs.keep_text("c2", "out\n")
        chat.output("c2", shown.append)
        await it.until(lambda: shown == ["out\n"], "the output")
        chat.say("a word")
        assert message(it) == "a word"
        await hands.symbol()
        await hands.outside()
        await it.until(lambda: message(it) == "no file is open", "why not")
        await hands.find()
        assert not app.panes.find.display
        assert await app.shown_file.open("other.py")
        await hands.outside()
        await it.until(lambda: "no editor is set" in message(it), "why not")
        (it.root / "notes.txt").write_text("words\n")
        assert await app.shown_file.open("notes.txt")
        await hands.symbol()
        await it.until(lambda: message(it) == "no definitions are known in notes.txt", "why not")
        assert await app.shown_file.open("greeter.py")
        await hands.symbol()
        await it.until(lambda: app.overlays.covered, "the list")
        await it.pilot.press(*"part", "enter")
        await it.until(lambda: app.editor.cursor_location[0] == 8, "the definition")


async def test_suggestions_follow_what_is_typed(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, server=False) as it:
        app, control, list_ = it.app, it.app.controls.suggestions, it.app.panes.suggestions
        await it.until(it.session.files.list, "the files")
        hint = "↑ ↓ choose · Tab or Enter puts it in · Esc closes"
        app.status.say("")
        await it.pilot.press(*"/und")
        await it.until(lambda: list_.display, "the commands")
        assert message(it) == hint and control.complete("/und") is not None
        found = control.complete("/und")
        assert found is not None and any("undo" in text for text in found.texts)
        await it.pilot.press("space", *"xyz")
        await it.until(lambda: not list_.display, "no list where nothing matches")
        app.composer.put("")
        await it.pilot.pause()
        assert message(it) == "", "what was told of the list goes with it"
        app.status.say("something else")
        await it.pilot.press(*"see @gre")
        await it.until(lambda: list_.display, "the files")
        assert message(it) == "something else", "it takes no other message's place"
        found = control.complete("see @gre")
        assert found is not None and any("greeter.py" in text for text in found.texts)
        await it.pilot.press("tab")
        await it.until(lambda: app.composer.draft.startswith("see @greeter.py"), "the file")
        app.composer.put("")
        await it.pilot.press(*"@oth")
        await it.until(lambda: list_.display, "the files")
        app.pane_control.focus("chat")
        await it.until(lambda: not app.composer.has_focus, "the chat")
        control.update()
        assert not list_.display, "they go with the focus"
        app.pane_control.focus("composer")
        await it.pilot.pause()
        app.composer.put("plain words")
        control.update()
        await it.pilot.pause()
        assert not list_.display
