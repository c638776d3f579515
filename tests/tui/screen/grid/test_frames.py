"""What the real app writes to a terminal for a key."""

from __future__ import annotations

import json
import time

from tests.bench.pty_spark import Launch, Pty, stage
from tests.tui.screen.grid.emulators import Pyte


def settled(pane: Pty) -> None:
    """Read until nothing more comes."""
    end = time.monotonic() + 20
    while pane.read(0.4):
        assert time.monotonic() < end, "it never stops writing"


def test_a_key_in_the_editor_repaints_no_screen(launch: Launch) -> None:
    with stage(launch=launch) as at:
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


def test_what_scrolled_is_what_a_full_painting_shows(launch: Launch) -> None:
    code = "".join(f'    value_{n} = call("text {n}", {n})  # {"x" * (n % 90)}\n' for n in range(80))
    said = f"Some **prose** first, 漢字 and 👍.\n\n```python\ndef long():\n{code}```\n\nThe end.\n"
    said = json.dumps(said, ensure_ascii=False)
    script = f"[[scenario]]\nid = 'all'\nmatch = ['*']\n[[scenario.step]]\nsay = {said}\n"
    with stage("3000", script=script, launch=launch) as at, at.spark(columns=100, rows=30) as pane:
        terminal = Pyte(100, 30)
        pane.until("ready")
        pane.type("go on\r")
        pane.until("The end.")
        settled(pane)
        assert "M\x1b[r" in pane.raw  # lines were deleted between margins: that moved the others
        pane.type("\x1b[5~")
        settled(pane)
        terminal.feed(pane.raw)
        pane.forget()
        shown = terminal.cells()
        assert sum("value_" in row for row in terminal.screen.display) > 10
        pane.type("\x0c")
        pane.until("value_")
        settled(pane)
        terminal.feed(pane.raw)
        assert terminal.cells() == shown
