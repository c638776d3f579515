"""Panes, lists over them, finding and quitting, by what the controls do: acts that share an app."""

from __future__ import annotations

from pathlib import Path

from textual import events

from tests.tui.stage import GREETER, Stage, stage
from tui.app.overlays.pick_screen import PickScreen
from tui.app.panes.find_bar import FindAction
from tui.front.matching import Choice

WORDS = "one two one\ntwo\nthree one\n"


def message(it: Stage) -> str:
    return it.app.status.status.message


def in_sight(it: Stage) -> list[str]:
    """The panes of the work that are in sight."""
    return [name for name, pane in (("editor", it.app.editor), ("chat", it.app.chat)) if pane.display]


def finds(it: Stage) -> bool:
    """Whether the bar for finding is shown."""
    return it.app.panes.find.display


def covered(it: Stage) -> bool:
    """Whether a screen lies over the panes."""
    return it.app.overlays.covered


async def test_the_focus_goes_round_the_panes_in_sight(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        app, panes = it.app, it.app.pane_control
        gone = []
        for _ in range(3):
            panes.focus_next()
            gone.append(app.focused.id if app.focused else None)
        assert gone == ["chat", "composer", "chat"], "without a file there is no editor to go to"
        panes.focus("editor")
        assert message(it) == "no file is open: Ctrl+P opens one" and app.focused is app.chat
        panes.zoom()
        assert message(it) == "no file is open: Ctrl+P opens one beside the chat"
        assert await app.shown_file.open("greeter.py")
        await it.pilot.pause()
        panes.focus("composer")
        gone = []
        for _ in range(4):
            panes.focus_next()
            gone.append(app.focused.id if app.focused else None)
        assert gone == ["editor", "chat", "composer", "editor"]
        await it.pilot.pause()
        panes.zoom()
        await it.pilot.pause()
        assert in_sight(it) == ["editor"], "the pane with the focus stays"
        panes.focus("chat")
        await it.pilot.pause()
        assert in_sight(it) == ["chat"], "the pane that is gone to comes into sight"
        panes.zoom()
        await it.pilot.pause()
        assert in_sight(it) == ["editor", "chat"]
        panes.zoom()
        await it.pilot.pause()
        assert in_sight(it) == ["chat"]
        panes.zoom()
        panes.toggle_mouse()
        assert message(it) == "mouse off: the terminal selects text"
        panes.suspend()
        assert message(it) == "cannot suspend: no shell would bring spark back"


async def test_a_paste_goes_where_text_is_taken(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        app, panes = it.app, it.app.pane_control
        app.composer.focus()
        assert not panes.takes(events.Paste("in the prompt")), "the composer takes it by itself"
        panes.focus("chat")
        before = message(it)
        assert panes.takes(events.Paste("pasted"))
        await it.until(lambda: app.composer.draft == "pasted", "the paste")
        assert app.focused is app.composer and message(it) == before
        app.controls.review.open()
        await it.until(lambda: app.overlays.covered, "the review")
        await it.pilot.pause()
        app.composer.put("")
        assert panes.takes(events.Paste("more"))
        await it.until(lambda: app.composer.draft == "more", "the paste")
        assert message(it) == "pasted into the prompt" and app.overlays.covered


async def test_one_list_lies_over_the_panes_and_the_same_key_closes_it(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        app, overlays = it.app, it.app.overlays
        choices = [Choice("first", "First"), Choice("second", "Second")]
        told: list[str] = []

        def pick(title: str) -> None:
            overlays.pick(title, choices, lambda value: told.append(value), left=lambda: told.append("left"))

        assert not covered(it) and not overlays.uncover()
        pick("Pick one")
        await it.until(lambda: isinstance(app.screen, PickScreen), "the list")
        assert covered(it)
        pick("Another")
        overlays.pick_symbol(("x",), lambda _: None)
        assert len(app.screen_stack) >= 2 and told == []
        while len(app.screen_stack) > 2:
            assert overlays.uncover()
            await it.pilot.pause()
        pick("Pick one")
        await it.until(lambda: not overlays.covered, "the panes")
        assert told == ["left"]
        pick("Pick one")
        await it.until(lambda: overlays.covered, "the list")
        await it.pilot.press("down", "enter")
        await it.until(lambda: not overlays.covered, "the panes")
        assert told == ["left", "second"]
        assert overlays.how_to_leave() == overlays.how_to_leave("open_file") == "Esc closes"
        overlays.running = lambda: True
        assert overlays.how_to_leave() == "Esc stops the turn and leaves"
        assert overlays.how_to_leave("open_file") == "Ctrl+P leaves, Esc stops the turn"
        for key in ("ctrl+p", "ctrl+t"):
            opened = app.controls.files.pick_file if key == "ctrl+p" else app.controls.hunks.toggle_context
            other = app.controls.hunks.toggle_context if key == "ctrl+p" else app.controls.files.pick_file
            opened()
            await it.until(lambda: overlays.covered, "the screen")
            screen = app.screen
            other()
            await it.pilot.pause()
            assert app.screen is screen, "another does not open over it"
            opened()
            await it.until(lambda: not overlays.covered, "the panes")


async def test_finding_and_replacing_tells_where_it_is(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"words.txt": WORDS}, server=False) as it:
        app, find, bar = it.app, it.app.controls.find, it.app.panes.find
        find.open()
        assert not finds(it) and not find.close(), "without a file there is nothing to find"
        assert await app.shown_file.open("words.txt")
        app.editor.focus()
        await it.pilot.pause()
        editor = app.editor

        def told() -> str:
            return bar._told.text.removeprefix(" any case · ")

        def act(action: FindAction) -> tuple[tuple[int, int], str]:
            find.act(action)
            return min(editor.selected), told().partition(" · Enter")[0].partition(" · Tab")[0]

        assert find.found() == []
        editor.choose(((0, 8), (0, 11)))
        find.open()
        assert finds(it) and bar.text == "one" and told().startswith("2 of 3 · Enter next · Tab replaces")
        assert told().endswith(" · Esc closes")
        await it.pilot.pause()
        assert act("next") == ((2, 6), "3 of 3")
        assert act("next") == ((0, 0), "1 of 3 · from the other end again")
        assert act("previous") == ((2, 6), "3 of 3 · from the other end again")
        assert act("previous") == ((0, 8), "2 of 3")
        assert len(find.found()) == 3
        editor.choose(((0, 5), (0, 5)))
        assert act("next") == ((0, 8), "2 of 3")
        editor.choose(((0, 0), (0, 0)))
        assert act("next") == ((0, 0), "1 of 3"), "a match at the cursor counts as the next one"
        assert find.close() and not finds(it) and find.found() == []
        await it.pilot.pause()
        assert editor.has_focus
        editor.choose(((0, 4), (1, 1)))
        find.open()
        assert bar.text == "one", "of lines nothing is taken over"
        await it.pilot.press("ctrl+u", *"two")
        assert min(editor.selected) == (0, 4), "what is typed is looked for from where the search began"
        await it.pilot.press("tab", *"2")
        assert bar.replacing and bar.replacement == "2"
        find.act("next")
        find.act("previous")
        assert "Tab to the other field" in told()
        act("replace")
        assert editor.buffer.text == "one 2 one\ntwo\nthree one\n" and min(editor.selected) == (1, 0)
        editor.choose(((2, 8), (2, 8)))
        act("replace")
        assert editor.buffer.text.count("2") == 1, "what is not selected is gone to first"
        assert min(editor.selected) == (1, 0)
        editor.choose(((1, 2), (1, 2)))
        act("replace_all")
        assert editor.buffer.text == "one 2 one\n2\nthree one\n"
        assert told() == "replaced 1: one undo takes them back" and editor.selected == ((1, 1), (1, 1))
        assert act("replace_all")[1] == "no match" and act("next")[1] == "no match"
        find.act("undo")
        assert told() == "Enter goes to the next match · Esc closes"
        await it.until(lambda: editor.buffer.text == "one 2 one\ntwo\nthree one\n", "the undo")
        await it.pilot.press("tab", "ctrl+u")
        assert act("next")[1] == "type what to find"
        await it.pilot.press("ctrl+n", "ctrl+n", *"(")
        assert "not a regular expression" in told() and find.found() == []
        before = editor.buffer.text
        find.act("replace_all")
        find.act("replace")
        assert editor.buffer.text == before
        app.pane_control.focus("chat")
        find.act("close")
        assert not finds(it) and app.focused is app.chat, "the focus stays where it is"


async def test_ctrl_c_closes_copies_sets_aside_and_quits(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        app, quitting = it.app, it.app.controls.quitting
        copied: list[str] = []
        app.controls.clipboard.copy = lambda text, what="": copied.append(text)  # type: ignore[method-assign] # No terminal takes it here.
        assert await app.shown_file.open("greeter.py")
        again = "Ctrl+C again quits"
        app.composer.put("draft")
        await quitting._cancel()
        assert message(it) == f"draft set aside (↑ brings it back); {again}" and app.composer.draft == ""
        assert it.session.prompts.read()[-1:] == ["draft"]
        quitting.disarm()
        await quitting._cancel()
        assert message(it) == again and not app._exit
        app.controls.review.open()
        await it.until(lambda: app.overlays.covered, "the review")
        await it.pilot.pause()
        await quitting._cancel()
        await it.until(lambda: not app.overlays.covered, "the panes")
        assert not app._exit, "a screen is closed, and the next Ctrl+C is a first one"
        app.editor.choose(((0, 0), (0, 3)))
        app.editor.focus()
        await it.until(lambda: app.editor.has_focus, "the editor")
        await quitting._cancel()
        assert copied == ['"""'] and not app._exit
        app.editor.choose(((0, 0), (0, 0)))
        await quitting._cancel()
        assert message(it) == again and not app._exit, "a copy disarms too"
        await quitting._cancel()
        await it.until(lambda: app._exit, "the end")
        assert app.return_code == 0 and quitting.leaving


async def test_leaving_keeps_the_draft_and_tells_the_code(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False) as it:
        it.app.composer.put("later")
        assert await it.app.shown_file.open("greeter.py")
        it.app.editor.buffer.put("mine\n")
        it.app.controls.quitting.leave(130)
        await it.until(lambda: it.app._exit, "the end")
        assert it.app.return_code == 130 and it.session.draft.read() == "later"
        assert (it.root / "greeter.py").read_text() == GREETER
        it.session.unsaved.close()
    async with stage(tmp_path, server=False) as it:
        assert it.app.composer.draft == "later"
        await it.until(lambda: it.app.panes.held.question is not None, "the unsaved text")
        it.app.composer.put("even later")
        it.app.controls.quitting.detach(7)
        await it.until(lambda: it.app._exit, "the end")
        assert it.app.return_code == 7 and it.session.draft.read() == "even later"
        assert not it.app.controls.quitting.leaving
