"""What the real app writes to a terminal for a key."""

from __future__ import annotations

import time

import pytest

from tests.bench.pty_spark import Pty, stage


def settled(pane: Pty) -> None:
    """Read until nothing more comes."""
    end = time.monotonic() + 20
    while pane.read(0.4):
        assert time.monotonic() < end, "it never stops writing"


@pytest.mark.slow
def test_a_key_in_the_editor_repaints_no_screen() -> None:
    with stage() as at:
        (at.project / "long.py").write_text("".join(f"value_{n} = {n}\n" for n in range(500)), "utf-8")
        with at.spark(columns=120, rows=40) as pane:
            pane.until("ready")
            pane.type("\x10")
            pane.until("Open")
            pane.type("long.py\r")
            pane.until("value_30")
            settled(pane)
            pane.type("x")
            pane.until("●")  # the file is dirty from here on
            settled(pane)
            for letter in "qzj":
                pane.forget()
                pane.type(letter)
                pane.until(letter)
                settled(pane)
                # The line, its colours and the place of the cursor; all of the screen is over 5,000.
                assert len(pane.raw) < 1000, pane.raw
