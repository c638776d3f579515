"""Quitting waits for nothing that never ends, whichever part of the app or the session that is."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from session.partner.server.server import companion
from session.record.journal.reading import read_records
from tests.bench.pty_spark import Launch, Pty, Stage, stage
from tests.e2e.held import held_partner
from tests.e2e.test_exec import FEATURE

HANGING = """
import asyncio, threading, time
async def hang(*_, **__):
    await asyncio.Event().wait()
async def stubborn(*_, **__):
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            pass
def blocked(*_, **__):
    threading.Event().wait()
async def in_thread(*_, **__):
    await asyncio.to_thread(blocked)
def patch(where, name, value):
    import importlib
    module, _, owner = where.partition(":")
    setattr(getattr(importlib.import_module(module), owner), name, value)
"""
PARTS = {
    "the turn": 'patch("session.turn.turns:Turns", "close", hang)',
    "reading the project": 'patch("session.project.indexing:ProjectReading", "close", in_thread)',
    "MCP servers": 'patch("session.setup.session_tools:McpOffer", "close", stubborn)',
    "the list of models": 'patch("session.setup.served_models:ServedModels", "close", hang)',
    "background tasks": 'patch("session.base.tasks:BackgroundTasks", "close", hang)',
    "the connection": 'patch("session.wire.link.connection:Connection", "close", stubborn)',
    "the write in progress": """
patch("session.project.edit_thread:EditThread", "close", in_thread)
""",
    "the ledger's counter": 'patch("edits.ledger.ledger:Ledger", "give_ids_back", blocked)',
    "followers": 'patch("session.record.sharing.standing:Standing", "close", hang)',
    "files that are read or saved": 'patch("tui.editor.buffers.keeper:InOrder", "settled", hang)',
    "the keys before": """
from tui.chat.composer.composer import Composer
from textual import events
async def stuck(self, event):
    if event.key == "z":
        await asyncio.Event().wait()
Composer.on_key = stuck
""",
    "background tasks of the screen": """
patch("tui.app.control.background:BackgroundTasks", "close", stubborn)
""",
    "worker threads": """
from tui.app.control.quit_control import QuitControl
leave = QuitControl._leave
async def stick(self, code):
    self._background.start(in_thread(), "sticking")
    await leave(self, code)
QuitControl._leave = stick
""",
}
"""What never ends, as the log names it, and the code that makes it so."""


@pytest.fixture(scope="module")
def partner() -> Iterator[str]:
    """A server for all of them: none is asked anything."""
    with companion("1000") as url:
        yield url


@pytest.fixture
def place(partner: str, launch: Launch) -> Iterator[Stage]:
    with stage(url=partner, launch=launch) as at:
        yield at


def quit_by(pane: Pty, *keys: str) -> int:
    """Press keys, and read until the program has ended, which it must; returns its exit code."""
    end = time.monotonic() + 60
    with contextlib.suppress(EOFError, OSError):
        for key in keys:
            pane.type(key)
            pane.read(0.3)
        while time.monotonic() < end:
            pane.read(1.0)
    code = pane._process.wait(30)
    assert pane.attributes == pane.found
    assert "Traceback" not in pane.text
    return code


def faults(place: Stage) -> list[str]:
    logs = (place.folder / "state").rglob("errors.log")
    return [json.loads(line)["message"] for log in logs for line in log.read_text().splitlines()]


def journals(place: Stage) -> list[Path]:
    return sorted((place.folder / "state").rglob("sessions/*.jsonl"))


LAST = ("the keys before", "worker threads")
"""Parts that are not waited for once others hang: these two at a start of their own."""


def hanging(code: str) -> str:
    return "\n".join([HANGING, code, "from tui.cli.main import main", "main()"])


def left_behind(place: Stage, parts: Collection[str]) -> set[str]:
    """Those of the parts of which the log says that nobody waited for them any longer."""
    named = (line.partition("did not wait any longer for ")[2] for line in faults(place))
    return {what.partition(" (")[0] for what in named} & set(parts)


def test_it_ends_whatever_hangs(place: Stage) -> None:
    parts = {part: code for part, code in PARTS.items() if part not in LAST}
    with place.spark(hanging("\n".join(parts.values()))) as pane:
        pane.until("ready")
        pane.type("just talk")
        assert quit_by(pane, "\x11") == 0
    assert left_behind(place, parts) == set(parts)
    (draft,) = (place.folder / "state").rglob("draft.txt")
    assert "just talk" in draft.read_text()


def test_it_ends_although_the_keys_before_and_worker_threads_hang(place: Stage) -> None:
    with place.spark(hanging("\n".join(PARTS[part] for part in LAST))) as pane:
        pane.until("ready")
        pane.type("z")
        assert quit_by(pane, "\x11") == 0
    assert left_behind(place, LAST) == set(LAST)


@pytest.mark.long
@pytest.mark.parametrize("part", [part for part in PARTS if part != "the keys before"])
def test_it_ends_where_one_part_hangs(place: Stage, part: str) -> None:
    with place.spark(hanging(PARTS[part])) as pane:
        pane.until("ready")
        pane.type("just talk")
        assert quit_by(pane, "\x11") == 0
    assert left_behind(place, [part])
    (draft,) = (place.folder / "state").rglob("draft.txt")
    assert "just talk" in draft.read_text()


PATIENT = """
import tui.app.control.quit_control
tui.app.control.quit_control.CLOSING = tui.app.control.quit_control.BEFORE = 600.0
patch("session.wire.link.connection:Connection", "close", hang)
"""


@pytest.mark.parametrize(
    "keys",
    [
        ("\x03", "\x03", "\x03"),
        ("\x11\x11",),
        pytest.param(("\x11", "\x11"), marks=pytest.mark.long),
        pytest.param(("\x11", "\x03"), marks=pytest.mark.long),
    ],
)
def test_the_second_key_waits_for_nothing(place: Stage, keys: tuple[str, ...]) -> None:
    with place.spark(hanging(PATIENT)) as pane:
        pane.until("ready")
        assert quit_by(pane, *keys) == 0


@pytest.mark.parametrize("keys", ["\x11", pytest.param("\x03\x03\x03", marks=pytest.mark.long)])
def test_it_ends_in_the_middle_of_an_answer_although_the_server_hangs(keys: str) -> None:
    with held_partner() as partner, stage(url=partner.url) as place:
        with place.spark(hanging(PARTS["the connection"])) as pane:
            pane.until("ready")
            pane.type(f"{FEATURE}\r")
            pane.until("✓", patience=pane.now + 30)
            quit_by(pane, *keys)
        (journal,) = journals(place)
        kinds = [record["type"] for record in read_records(journal)]
    assert "hunk.landed" in kinds
    assert "turn.ended" in kinds
