"""The composer under Pilot: before, keys, after."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from session.base.storage.private_files import StoreError
from session.session import Session
from session.setup.config import Flags
from session.setup.opening import open_project
from tests.tui.stage import until
from tui.app.app import SparkApp
from tui.chat.composer.composer import Composer


class Host(App[None]):
    """A screen with nothing but the composer."""

    def __init__(self, draft: str) -> None:
        super().__init__()
        self.draft = draft
        self.sent: list[tuple[str, bool]] = []
        self.kept: list[str] = []

    def compose(self) -> ComposeResult:
        yield Composer(["first", "second"], self.draft)

    def on_composer_sent(self, event: Composer.Sent) -> None:
        self.sent.append((event.text, event.queued))

    def on_composer_draft_changed(self, event: Composer.DraftChanged) -> None:
        self.kept.append(event.text)


@asynccontextmanager
async def composer(draft: str = "") -> AsyncIterator[tuple[Host, Composer, Pilot[None]]]:
    app = Host(draft)
    async with app.run_test(size=(60, 12)) as pilot:
        found = app.query_one(Composer)
        found.focus()
        await pilot.pause()
        yield app, found, pilot


@pytest.mark.parametrize(
    ("keys", "left", "sent"),
    [
        (["h", "i", "enter"], "", [("hi", False)]),
        (["h", "i", "tab"], "hi", []),
        (["a", "space", "b", "ctrl+a", "alt+d"], " b", []),
        (["a", "ctrl+j", "b", "enter"], "", [("a\nb", False)]),
        (["a", "shift+enter", "b"], "a\nb", []),
        (["a", "alt+enter", "b"], "a\nb", []),
        (["enter"], "", []),
        (["space", "enter"], " ", []),
        (["up"], "second", []),
        (["up", "up"], "first", []),
        (["d", "up", "down"], "d", []),
        (["up", "x", "up", "down", "down"], "secondx", []),
        (["a", "ctrl+j", "b", "up", "up", "down", "down"], "a\nb", []),
        (["h", "i", "enter", "up"], "hi", [("hi", False)]),
    ],
)
async def test_keys(keys: list[str], left: str, sent: list[tuple[str, bool]]) -> None:
    async with composer() as (app, found, pilot):
        await pilot.press(*keys)
        assert found.draft == left
        assert app.sent == sent


async def test_a_big_paste_is_one_chip_and_is_sent_whole() -> None:
    big = "\r\n".join(f"row {number}" for number in range(400))
    async with composer() as (app, found, pilot):
        await pilot.press("s", "e", "e", "space")
        found.post_message(events.Paste(big))
        await pilot.pause()
        assert "400 lines" in found.text and len(found.text) < 60
        await pilot.press("enter")
        assert app.sent == [("see " + big.replace("\r\n", "\n"), False)]


async def test_a_chip_is_deleted_as_one() -> None:
    async with composer() as (_, found, pilot):
        found.post_message(events.Paste("x\n" * 100))
        await pilot.pause()
        await pilot.press("backspace")
        assert found.text == ""
        await pilot.press("ctrl+z")
        assert found.draft == "x\n" * 100


async def test_a_small_paste_is_text_and_does_not_send() -> None:
    async with composer() as (app, found, pilot):
        found.post_message(events.Paste("two\rlines\n"))
        await pilot.pause()
        assert found.text == "two\nlines\n" and app.sent == []


async def test_the_draft_is_kept_and_put_back() -> None:
    async with composer("from before") as (app, found, pilot):
        assert found.draft == "from before"
        await pilot.press("!")
        await until(lambda: app.kept[-1:] == ["from before!"], "the draft")


async def test_a_draft_set_aside_is_the_last_of_the_history() -> None:
    async with composer() as (_, found, pilot):
        await pilot.press("x", "y")
        assert found.set_aside() and found.draft == ""
        assert not found.set_aside()
        await pilot.press("up")
        assert found.draft == "xy"


def test_a_draft_that_cannot_be_read_is_told_before_there_is_a_screen(tmp_path: Path) -> None:
    opening = open_project(tmp_path, Flags(), {"HOME": str(tmp_path / "home")})
    session = Session(opening)
    (opening.workspace.folders.state / "draft.txt").mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot read the draft"):
        SparkApp(session, theme="dark")
