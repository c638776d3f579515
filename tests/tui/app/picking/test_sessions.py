"""Going to a new session and back to an earlier one, in the real program on a terminal."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from session.record.journal.session_list import list_sessions
from tests.bench.pty_spark import Launch, Pty
from tests.bench.pty_spark import stage as pty_stage
from tests.tui.stage import stage
from tui.app.picking.session_control import ago
from tui.screen.terminal.paste_bursts import MANY


def opened(pane: Pty) -> None:
    """Wait until the app was left and opened again."""
    for _ in range(300):
        left = pane.raw.rfind("\x1b[?1049l")
        if left >= 0 and "\x1b[?1049h" in pane.raw[left:] and "ready" in pane.raw[left:]:
            return
        pane.read(0.1)
    raise AssertionError(pane.text[-2000:])


def test_a_new_session_begins_and_the_old_one_is_found_and_resumed(launch: Launch) -> None:
    with pty_stage("1000", launch=launch) as at, at.spark() as pane:
        pane.until("ready")
        pane.type("hello there, first session\r")
        pane.until("▸ ")  # the figures of the turn: it is over
        pane.forget()
        pane.type("/clear\r")
        opened(pane)
        pane.type("half a draft")
        pane.until("half a draft")
        pane.type("\x15/sessions\r")
        pane.until("hello there, first session")
        pane.forget()
        pane.type("hello\r")
        opened(pane)
        pane.until("To work with a real model")  # the end of the answer
        pane.type("\x11")


@pytest.mark.parametrize(
    "pause", [pytest.param(0.0, id="joined"), pytest.param(0.05, id="split", marks=pytest.mark.long)]
)
def test_what_is_typed_behind_a_change_goes_to_the_next_session(pause: float, launch: Launch) -> None:
    """The keys come in one read, and one by one through the whole change: none is lost or sent too early.

    There are fewer of them than a paste has: on a busy machine those typed apart are read together.
    """
    keys = "/new\rone last words\r"
    assert len(keys) < MANY
    with pty_stage("1000", launch=launch) as at, at.spark() as pane:
        pane.until("ready")
        pane.forget()
        for part in keys if pause else [keys]:
            pane.type(part)
            pane.read(pause)
        opened(pane)
        pane.until("▸ ")  # the figures of the turn
        (folder,) = (at.folder / "state").rglob("sessions")
        (journal,) = folder.glob("*.jsonl")
        assert '"one last words"' in journal.read_text()
        pane.type("\x11")


async def test_keys_behind_a_change_that_is_refused_stay_in_this_session(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press(*"/resume 1999", "enter", *"go on", "left", "left", "X")
        await it.until(lambda: it.app.composer.draft == "go Xon", "the keys")


async def test_unsaved_text_keeps_the_session(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.until(it.session.files.list, "the list of files")
        await it.pilot.press("ctrl+p", "enter")
        await it.until(lambda: it.app.editor.path, "the file")
        await it.pilot.press("f2", "x", "f4")
        await it.pilot.press(*"/new", "enter")
        await it.until(lambda: "save the file in the editor first (Ctrl+S)" in it.screen, "why not")
        assert it.app.is_running and it.app.controls.sessions.switch is None


async def test_where_there_is_no_earlier_session_a_line_says_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press(*"/sessions", "enter")
        await it.until(lambda: "no earlier session" in it.screen, "the line")
        await it.pilot.press(*"/resume 1999", "enter")
        await it.until(lambda: "no session" in it.screen, "the other line")


def test_how_long_ago() -> None:
    told = [ago(seconds) for seconds in (5, 90, 7200, 200_000)]
    assert told == ["just now", "1 min ago", "2 h ago", "2 d ago"]


async def test_a_session_is_renamed_in_the_list_and_written_as_a_document(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        first = it.session.name
    async with stage(tmp_path) as it:
        await it.pilot.press(*"/sessions", "enter")
        await it.until(lambda: "just talk" in it.screen and "F2 renames" in it.screen, "the list")
        await it.pilot.press("f2", "ctrl+u", *"manners", "escape")
        await it.until(lambda: "just talk" in it.screen, "the list again")
        await it.pilot.press("f2", "ctrl+u", *"on manners", "enter")
        await it.until(lambda: "❯ on manners" in it.screen, "the new title")
        await it.pilot.press("ctrl+s")
        await it.until(lambda: "wrote " in it.screen, "the document")
        file = it.session.folders.state / "exports" / f"{first}.md"
        document = file.read_text()
        assert file.name in "".join(it.chat.split())
        assert "> just talk" in document and "The end of the talk." in document
        await it.pilot.press(*"nonesuch")
        await it.until(lambda: "no session has that" in it.screen, "the filter")
        await it.pilot.press("f2", "ctrl+b", "ctrl+s", "escape")
        await it.until(lambda: len(it.app.screen_stack) == 1, "the panes")


async def test_this_session_is_renamed_by_a_command(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        await it.pilot.press(*"/rename on  manners", "enter")
        await it.until(lambda: "called 'on manners'" in it.screen, "the answer")
        rows = list_sessions(it.session.folders.sessions).rows
        assert [row.title for row in rows] == ["on manners"]


async def test_a_session_stays_chosen_when_it_is_named(tmp_path: Path) -> None:
    for prompt in ("one chat", "another chat", "last chat"):
        async with stage(tmp_path) as it:
            await it.ask(prompt)
            await it.done()
    async with stage(tmp_path) as it:
        await it.pilot.press(*"/sessions", "enter")
        await it.until(lambda: "last chat" in it.screen, "the list")
        await it.pilot.press(*"chat", "down")
        for title in ("a chat", "nothing that fits"):
            await it.pilot.press("f2", "ctrl+u", *title, "enter")
            named = partial(lambda words: words in it.screen, f"❯ {title}")
            await it.until(named, f"the session under its title {title!r}")
            filtered = "│ chat " in it.screen
            assert ("chat" in title) == filtered, f"the filter stays where it does not hide {title!r}"


async def test_a_session_is_forked_from_the_list(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        first = it.session.name
    for key in ("f3", "ctrl+b"):
        async with stage(tmp_path) as it:
            await it.pilot.press(*"/sessions", "enter")
            await it.until(lambda: "F3 forks" in it.screen, "the list")
            await it.pilot.press(key)
            await it.until(lambda: it.app.controls.sessions.switch is not None, "the switch")
            switch = it.app.controls.sessions.switch
            assert switch is not None and switch.journal is not None, key
            assert switch.journal.stem != first and "just talk" in switch.journal.read_text(), key
