"""Typing in a fresh hunk on a real terminal, with the key split from the one that goes there and joined."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.bench.pty_spark import Launch, Pty, stage
from tests.e2e.held import held_partner
from tui.app.typing.touch_control import STOOD

REQUEST = "Let a done task be reopened, from the API and from the page"
TO_THE_HUNK = "\x1b[19~\x1bOQ"
"""F8 and F2."""


def reading(pane: Pty, until: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 30
    while not until():
        assert time.monotonic() < end, f"{what}:\n{pane.text[-2000:]}"
        pane.read(0.02)


def test_typing_in_a_fresh_hunk_stops_the_turn_and_saving_sends_the_change(launch: Launch) -> None:
    with held_partner() as held, stage("", url=held.url, launch=launch) as at, at.spark() as pane:
        pane.until("ready")
        pane.type(REQUEST + "\r")
        store = at.project / "tasks/store.py"
        reading(pane, lambda: "def reopen" in store.read_text(), "the first hunk")
        pane.until("✓ h1")  # it stands from when the app has heard of it
        began = time.monotonic()
        reading(pane, lambda: time.monotonic() - began > STOOD, "the hunk stands")
        pane.type(TO_THE_HUNK + "Q")
        pane.until("edited: Ctrl+S sends it")
        written = store.read_text()
        pane.type("T\x13")
        pane.until("I changed your hunk")
        assert store.read_text() != written and store.read_text().replace("QT", "", 1) == written
        pane.type("\x03")  # the answer to it is not waited for
