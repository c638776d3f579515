"""What the terminal shows is what it shows once everything is painted again."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.e2e.tmux import Terminal, terminal, wait_for
from tests.tui.screen.grid.emulators import Cell, parsed

pytestmark = [
    pytest.mark.skipif(
        shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
    ),
]
REQUEST = "Let a done task be reopened, from the API and from the page"
STILL = 3
"""Looks in a row at a screen that does not change."""
WIDE = "# 漢字 é 👍 ünï"


def capture(pane: Terminal) -> str:
    return pane.tmux("capture-pane", "-p", "-e", "-N")


def cells(pane: Terminal) -> list[list[Cell]]:
    """The screen once it stands still."""
    pane.until(lambda screen: "ready" in screen and "reading" not in screen)
    before, since = "", 0
    while since < STILL:
        time.sleep(0.1)
        screen = capture(pane)
        before, since = screen, since + 1 if screen == before else 0
    rows = parsed(before.removesuffix("\n"), 200)
    for row in rows:
        # tmux does not tell of erased cells at a row's end, whatever their background.
        while row and row[-1][0] == " ":
            row.pop()
    return rows


def pressed(pane: Terminal, *keys: str) -> None:
    """Press keys, and wait until the screen shows it; where nothing changes a second is enough."""
    before = capture(pane)
    pane.keys(*keys)
    with suppress(AssertionError):
        wait_for(lambda: capture(pane) != before, "a change", patience=1.0)


def resized(pane: Terminal, columns: int, rows: int) -> None:
    """Resize the terminal, and wait until the rule at the top and the status line fit it."""

    def fits(screen: str) -> bool:
        lines = screen.split("\n")[:rows]
        return len(lines[0]) == columns and lines[0].startswith("─") and "ready" in lines[-1]

    pane.resize(columns, rows)
    pane.until(fits)


def repainted(pane: Terminal, *, status: bool = True) -> None:
    """Compare the screen with itself after Ctrl+L, perhaps without the status line."""
    rows = slice(None if status else -1)
    shown = cells(pane)[rows]
    pane.keys("C-l")
    again = cells(pane)[rows]
    for number, (row, other) in enumerate(zip(shown, again, strict=True)):
        assert row == other, f"row {number}:\n{pane.screen()}"


@pytest.mark.parametrize(
    ("columns", "rows", "colours"),
    [
        (40, 10, {"COLORTERM": "truecolor"}),
        pytest.param(100, 30, {"NO_COLOR": "1"}, marks=pytest.mark.long),
    ],
)
def test_nothing_is_left_wrong_on_the_screen(
    columns: int, rows: int, colours: dict[str, str], tmp_path: Path, quick_spark: Path
) -> None:
    settings = tmp_path / "config" / "spark" / "config.toml"
    settings.parent.mkdir(parents=True)
    # The figure of what they take would change between two looks.
    settings.write_text("[side]\nenabled = false\n")
    environment = {
        "TMPDIR": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        **colours,
    }
    with terminal([str(quick_spark), "demo"], columns, rows, environment, tmp_path) as pane:
        pane.until("ready")
        repainted(pane, status=False)  # it counts the files that are read
        pane.type(REQUEST)
        pane.keys("Enter")
        (page,) = tmp_path.glob("spark-demo-*/web/client.js")
        wait_for(lambda: "Reopen" in page.read_text(), "the last hunk")
        repainted(pane)
        for keys in (["F1"], ["Escape"], ["C-p"], ["Down"], ["Escape"], ["F2"], ["PgUp"], ["PgUp"], ["F3"]):
            pressed(pane, *keys)
            repainted(pane)
        pressed(pane, "F2")
        pane.type(WIDE)
        pane.until("ünï")
        repainted(pane)
        pressed(pane, "Home", "Right", "Right", "Right", "Delete", "Delete")
        repainted(pane)
        for size in ((80, 24), (160, 48), (columns - 9, rows - 2), (columns, rows)):
            resized(pane, *size)
            repainted(pane)
