"""What the terminal shows is what it shows once everything is painted again."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from tests.e2e.tmux import Terminal, terminal, wait_for
from tests.tui.terminal.grid.emulators import Cell, parsed

pytestmark = [
    pytest.mark.skipif(
        shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
    ),
    pytest.mark.slow,
]
REQUEST = "Let a done task be reopened, from the API and from the page"
STILL = 4
"""Looks in a row at a screen that does not change."""
WIDE = "# 漢字 é 👍 ünï"


def cells(pane: Terminal) -> list[list[Cell]]:
    """The screen once it stands still."""
    pane.until(lambda screen: "ready" in screen and "reading" not in screen)
    before, since = "", 0
    while since < STILL:
        time.sleep(0.2)
        screen = pane.tmux("capture-pane", "-p", "-e", "-N")
        before, since = screen, since + 1 if screen == before else 0
    rows = parsed(before, 200)
    for row in rows:
        # tmux does not tell of erased cells at a row's end, whatever their background.
        while row and row[-1][0] == " ":
            row.pop()
    return rows


def repainted(pane: Terminal) -> None:
    """Compare the screen with itself after Ctrl+L."""
    shown = cells(pane)
    pane.keys("C-l")
    again = cells(pane)
    for number, (row, other) in enumerate(zip(shown, again, strict=True)):
        assert row == other, f"row {number}:\n{pane.screen()}"


@pytest.mark.parametrize(
    ("columns", "rows", "colours"),
    [
        (40, 10, {"COLORTERM": "truecolor"}),
        (80, 24, {"COLORTERM": "truecolor"}),
        (160, 48, {"COLORTERM": "truecolor"}),
        (100, 30, {"NO_COLOR": "1"}),
    ],
)
def test_nothing_is_left_wrong_on_the_screen(
    columns: int, rows: int, colours: dict[str, str], tmp_path: Path, spark_path: Path
) -> None:
    environment = {
        "TMPDIR": str(tmp_path),
        "COLORTERM": "truecolor",
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    with terminal([str(spark_path), "demo"], columns, rows, environment, tmp_path) as pane:
        pane.until("ready")
        repainted(pane)
        pane.type(REQUEST)
        pane.keys("Enter")
        (page,) = tmp_path.glob("spark-demo-*/web/client.js")
        wait_for(lambda: "Reopen" in page.read_text(), "the last hunk")
        repainted(pane)
        for keys in (["F1"], ["Escape"], ["C-p"], ["Down"], ["Escape"], ["F2"], ["PgUp"], ["PgUp"], ["F3"]):
            pane.keys(*keys)
            repainted(pane)
        pane.keys("F2")
        pane.type(WIDE)
        repainted(pane)
        pane.keys("Home", "Right", "Right", "Right", "Delete", "Delete")
        repainted(pane)
        for size in ((columns + 17, rows + 5), (columns - 9, rows - 2), (columns, rows)):
            pane.resize(*size)
            repainted(pane)
