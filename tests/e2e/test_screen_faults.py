"""A fault of spark itself ends it with the terminal as it was found, in one line, and a log."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.partner.server.server import companion
from tests.bench.pty_spark import START, Pty, Stage, stage

FAULTS = {
    "a key's action": ("from tui.app.actions import Actions\nActions.help = fail\n", "\x1bOP"),
    "drawing": (
        "from tui.app.panes.status import StatusLine\nplain = StatusLine.render_line\n"
        "StatusLine.render_line = lambda self, y: fail() if self.status.message else plain(self, y)\n",
        "\x1b[12~",
    ),
    "reading keys": (
        "import tui.screen.terminal.driver as driver\n"
        "driver.rewritten = lambda data: fail() if 'x' in data else data\n",
        "x",
    ),
    "mounting": ("from tui.app.app import SparkApp\nSparkApp.on_mount = fail\n", ""),
    "composing": ("from tui.app.app import SparkApp\nSparkApp.compose = fail\n", ""),
    "a worker": (
        "from tui.editor import colouring\ncolouring.whole = fail\nimport session.project.open_files\n",
        "\x10store.py\r",
    ),
    "Textual itself": (
        "from textual.app import App\nplain = App._process_messages\n"
        "async def broken(self, *arguments, **named):\n"
        "    import asyncio\n"
        "    every = asyncio.all_tasks\n"
        "    asyncio.get_running_loop().call_later(1, lambda: [task.cancel() for task in every()])\n"
        "    await plain(self, *arguments, **named)\n    fail()\n"
        "App._process_messages = broken\n",
        "",
    ),
    "several at once": ("from tui.app.actions import Actions\nActions.help = fail\n", "\x1bOP" * 3),
}
BROKEN = """
import sys
def fail(*arguments, **named):
    secret = "SECRET-VALUE"
    raise ZeroDivisionError("a fault for the test")
import tui.screen.terminal.driver
{fault}
"""
USUAL = ("drawing", "mounting", "several at once")
"""Faults of every run: in a frame, before the first one, and while the one before is being told."""


@pytest.fixture(scope="module")
def partner() -> Iterator[str]:
    """A server for all of them: none is asked anything."""
    with companion("1000") as url:
        yield url


def started(at: Stage, fault: str) -> Pty:
    return Pty(at.command(BROKEN.format(fault=fault) + START), at.project, at.environ)


def press(pane: Pty, keys: str) -> None:
    """Press the keys once the app is ready, one after the other."""
    if keys:
        pane.until("ready")
    for key in re.findall(r"\x1b[\[O][\d;]*.|[^\x1b]", keys):
        pane.type(key)
        while pane.read(0.3):
            pass


@pytest.mark.parametrize(
    "fault", [name if name in USUAL else pytest.param(name, marks=pytest.mark.long) for name in FAULTS]
)
def test_a_fault_leaves_the_terminal_as_it_was_found(fault: str, partner: str) -> None:
    lines, keys = FAULTS[fault]
    with stage(url=partner) as at:
        pane = started(at, lines)
        try:
            with pytest.raises(EOFError):
                press(pane, keys)
                pane.until("what is never shown")
            assert pane.attributes == pane.found
        finally:
            pane.end()
        written, text = pane.raw, pane.written
        for on, off in (
            ("\x1b[?1049h", "\x1b[?1049l"),
            ("\x1b[?1000h", "\x1b[?1000l"),
            ("\x1b[?25l", "\x1b[?25h"),
        ):
            assert written.rindex(off) > written.rindex(on), off
        last = written[written.rindex("\x1b[?1049l") :]
        assert "Traceback" not in text and "SECRET" not in text
        assert text.count("spark itself failed while") == 1, text[-2000:]
        assert "ZeroDivisionError: a fault for the test" in last
        (log,) = (at.folder / "state").rglob("errors.log")
        assert str(log) in last.replace("\r\n", "")
        assert "Traceback" in log.read_text() and "def fail" not in log.read_text()
        assert Path(log).stat().st_size < 100_000
