"""The replay through the real panes: what was seen is seen again, and nothing of the project is touched."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from session.record.fork import fork_session
from session.record.journal.reading import read_records
from session.ways.player import State
from session.ways.recording import read_recording, recorded_files
from tests.tui.stage import stage
from tui.app.picking.replay_app import ReplayApp
from tui.chat.chat import ChatView
from tui.editor.editor import EditorPane


@pytest.fixture
async def journal(tmp_path: Path) -> Path:
    """The journal of a session with two hunks, one of them undone, and a talk. The project is gone."""
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.ask("just talk")
        await it.done()
        await it.session.hunks.undo("h2")
        file = it.session.folders.sessions / f"{it.session.name}.jsonl"
    shutil.rmtree(tmp_path / "project")
    return file


class Shown:
    """A replay under Pilot."""

    def __init__(self, app: ReplayApp, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    def press(self, *keys: str) -> None:
        for key in keys:
            character = {"space": " ", "plus": "+", "minus": "-"}.get(key, key)
            self.app.post_message(events.Key(key, character if len(character) == 1 else None))

    @property
    def chat(self) -> str:
        chat = self.app.screen.query_one(ChatView)
        chat.settle_now()
        rows = (chat.transcript.row(at) for at in range(chat.transcript.total))
        return "\n".join(row.text if row else "" for row in rows)

    @property
    def text(self) -> str:
        return self.app.screen.query_one(EditorPane).buffer.text

    async def until(self, true: Callable[[], object], what: str) -> None:
        for _ in range(2000):
            await self.pilot.pause()
            try:
                if true():
                    return
            except Exception:  # noqa: BLE001 (another screen is on its way)
                await asyncio.sleep(0)
            await asyncio.sleep(0.01)
        raise AssertionError(f"{what} never came: {self.app.player.position} {self.chat}\n{self.text}")


@asynccontextmanager
async def replayed(file: Path, *, speed: float = 8.0) -> AsyncIterator[Shown]:
    files = recorded_files(file)
    moments = read_recording(file, files.typed)
    app = ReplayApp(
        file.stem,
        moments,
        files,
        theme="dark",
        speed=speed,
        fork=lambda hunk: fork_session(file, hunk=hunk),
    )
    async with app.run_test(size=(130, 40)) as pilot:
        yield Shown(app, pilot)


async def test_it_plays_to_the_end_without_the_project(journal: Path) -> None:
    before = {each: each.read_bytes() for each in journal.parent.parent.rglob("*") if each.is_file()}
    async with replayed(journal) as it:
        await it.until(lambda: it.app.player.state is State.ENDED, "the end")
        await it.until(lambda: "dear" in it.text, "the text of the hunk that stayed")
        assert "Good-bye" not in it.text, "h2 was undone"
        told = ("make it polite", "h1", "h2", "Both are polite now", "Manners")
        await it.until(lambda: all(part in it.chat for part in told), "the conversation")
    assert not (journal.parents[3].parent / "project").exists()
    assert {each: each.read_bytes() for each in before} == before


async def test_it_steps_from_hunk_to_hunk_and_back(journal: Path) -> None:
    async with replayed(journal, speed=0.25) as it:
        it.press("space", "h")
        await it.until(lambda: it.app.player.hunk == "h1" and "dear" in it.text, "h1")
        assert "Good-bye" not in it.text
        it.press("h")
        await it.until(lambda: "Good-bye" in it.text, "h2")
        it.press("b")
        await it.until(lambda: "dear" in it.text and "Good-bye" not in it.text, "h1 again")
        assert it.app.player.hunk == "h1"
        it.press("b", "b")
        await it.until(lambda: it.app.player.hunk is None and not it.chat.strip(), "the beginning")
        assert "dear" not in it.text


async def test_keys_in_one_read_play_all_in_their_order(journal: Path) -> None:
    async with replayed(journal, speed=0.25) as it:
        it.press(
            "space", "end", "home", "5", "b", "b", "t", "t", "T", "end", "minus", "plus", "h", "b", "b", "h"
        )
        await it.until(lambda: it.app.player.hunk == "h2" and "Good-bye" in it.text, "h2")
        assert it.app.player.state is State.PAUSED
        assert it.app._exception is None


async def test_a_fork_at_a_hunk_goes_on_from_there(journal: Path) -> None:
    async with replayed(journal, speed=0.25) as it:
        it.press("space", "f")
        await it.until(lambda: "no hunk has landed yet" in it.app.screen._told, "why not")  # type: ignore[attr-defined]
        it.press("h", "f")
        await it.until(lambda: it.app.forks, "the fork")
    made = journal.with_name(f"{it.app.forks[0]}.jsonl")
    kinds = [(record["type"], record.get("hunk")) for record in read_records(made)]
    assert ("hunk.landed", "h1") in kinds
    assert ("hunk.landed", "h2") not in kinds


async def test_a_journal_without_its_ledger_is_told_without_texts(journal: Path, tmp_path: Path) -> None:
    away = tmp_path / "away.jsonl"
    away.write_bytes(journal.read_bytes())
    async with replayed(away) as it:
        await it.until(lambda: it.app.player.state is State.ENDED, "the end")
        await it.until(lambda: "Both are polite now" in it.chat, "the conversation")
        assert it.text == ""


async def test_no_file_of_the_project_is_shown_as_it_is_now(journal: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project/greeter.py").write_text("print('other')\n")
    async with replayed(journal) as it:
        it.press("h")
        await it.until(lambda: "dear" in it.text, "h1")
        assert "other" not in it.text
    assert (tmp_path / "project/greeter.py").read_text() == "print('other')\n"


@pytest.mark.parametrize("keys", ["q", "escape", "ctrl+q", "ctrl+c"])
async def test_it_is_left_by(journal: Path, keys: str) -> None:
    async with replayed(journal, speed=0.25) as it:
        it.press(keys)
        await it.until(lambda: not it.app.is_running or it.app._exit, "the end")
        assert it.app.return_code == 0
