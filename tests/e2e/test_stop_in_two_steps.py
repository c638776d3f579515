"""Esc on a real terminal: screen and landing freeze at its byte, and go on where it was another key."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.bench.pty_spark import Pty, Stage, stage

REQUEST = "Let a done task be reopened, from the API and from the page"
UNDECIDED = 4.0
"""Seconds for which a lone ESC may be the start of a sequence, in place of 25 ms: time to look around."""


def reading(pane: Pty, until: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 30
    while not until():
        assert time.monotonic() < end, f"{what}:\n{pane.text[-2000:]}"
        pane.read(0.02)


def streaming(at: Stage, pane: Pty) -> str:
    """Ask, and press ESC once a hunk is on disk; returns what was written since, until it is quiet."""
    pane.until("ready")
    pane.type(REQUEST + "\r")
    store = at.project / "tasks/store.py"
    reading(pane, lambda: "def reopen" in store.read_text(), "the first hunk")
    pane.forget()
    pane.type("\x1b")
    while pane.read(0.3):
        pass
    return pane.raw


@pytest.mark.parametrize(
    "rest",
    [
        "[1;5C",
        pytest.param("[C", marks=pytest.mark.long),
        pytest.param("OC", marks=pytest.mark.long),
    ],
)
def test_an_arrow_key_that_comes_in_two_pieces_stops_nothing(rest: str) -> None:
    with stage("150") as at:
        at.environ["ESCDELAY"] = str(int(1000 * UNDECIDED))
        with at.spark() as pane:
            shown = streaming(at, pane)
            files = {path: path.read_bytes() for path in at.project.rglob("*.*") if path.is_file()}
            # At 150 tokens a second a second brings a hundred new words, and usually a hunk.
            assert not pane.read(1.2), "something was painted while the key was undecided"
            assert pane.raw == shown
            assert {path: path.read_bytes() for path in files} == files, "a hunk landed meanwhile"
            pane.type(rest)
            api = at.project / "tasks/api.py"
            reading(pane, lambda: "/api/tasks/ID/reopen" in api.read_text(), "the next hunk")
            pane.until("I ran nothing")
            assert "Stopped." not in pane.text


def test_an_escape_lets_nothing_land_that_came_after_it() -> None:
    with stage("150") as at:
        at.environ["ESCDELAY"] = str(int(1000 * UNDECIDED))
        with at.spark() as pane:
            streaming(at, pane)
            files = {path: path.read_bytes() for path in at.project.rglob("*.*") if path.is_file()}
            pane.until("Stopped.")
            reading(pane, lambda: "ready" in pane.text, "the end")
            assert {path: path.read_bytes() for path in files} == files
