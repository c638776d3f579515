"""What spark does for the editor, in a real terminal: next edits, findings on save, rewriting in place.

Keys come in one read, as a quick hand or a slow link gives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bench.pty_spark import Pty, stage
from tests.warm_spark import WarmSpark

CALLS = "def NAME(name, mark):\n    return name + mark\n\n\nprint(NAME('you', '!'))\nprint(NAME('me', '?'))\n"
NAMES = ("greet", "rescue", "refine")
END, LEFT, ERASE, SAVE, BOTTOM = "\x1b[F", "\x1b[D", "\x7f", "\x13", "\x1b[1;5F"
ALT_G, ALT_H, ALT_O = "\x1bg", "\x1bh", "\x1bo"
PATIENCE = 180.0
"""Seconds after the start of spark."""


@pytest.fixture(scope="module")
def spark(warm_spark: WarmSpark) -> Iterator[tuple[Pty, Path]]:
    """spark in a project with a file for each test."""
    with stage(launch=warm_spark.launch) as at:
        for name in NAMES:
            (at.project / f"{name}.py").write_text(CALLS.replace("NAME", name))
        with at.spark(columns=100, rows=30) as pane:
            pane.until("ready", PATIENCE)
            yield pane, at.project


def opened(spark: tuple[Pty, Path], name: str) -> tuple[Pty, Path]:
    """The terminal with a file open, and that file."""
    pane, project = spark
    pane.forget()
    pane.type(f"\x10{name}.py\r")
    pane.until(f"def {name}(name, mark)", PATIENCE)
    return pane, project / f"{name}.py"


def until(pane: Pty, fits: Callable[[], bool], what: str) -> None:
    """Read until something outside of the terminal is so."""
    while pane.now < PATIENCE:
        if fits():
            return
        pane.read(0.1)
    raise AssertionError(f"{what} did not come:\n{pane.text}")


def test_a_parameter_is_erased_and_tab_takes_it_from_the_calls(spark: tuple[Pty, Path]) -> None:
    pane, file = opened(spark, "greet")
    pane.type(END + LEFT * 2 + ERASE * len(", mark") + SAVE)
    pane.until("3 places left: greet(name, mark)", PATIENCE)
    pane.type(ALT_H)
    pane.until("1 of 3 · Tab takes it", PATIENCE)
    pane.type("\t\t\t")
    until(pane, lambda: "print(greet('you'))" in file.read_text(), "the first edit")
    if "print(greet('me'))" not in file.read_text():  # the second Tab came before the second place
        pane.until("2 of 3 · Tab takes it", PATIENCE)
        pane.type("\t")
    until(pane, lambda: "print(greet('me'))" in file.read_text(), "the second edit")
    assert "\t" not in file.read_text() and "    def" not in file.read_text()


def test_the_line_at_the_cursor_is_rewritten_as_a_sentence_says(spark: tuple[Pty, Path]) -> None:
    pane, file = opened(spark, "refine")
    pane.type(f"{ALT_O}say what it is for\r")
    until(pane, lambda: file.read_text().startswith("# say what it is for\ndef refine"), "the comment")
    assert file.read_text().endswith(CALLS.replace("NAME", "refine"))


def test_a_fault_is_found_on_save_and_its_fix_landed_from_the_list(spark: tuple[Pty, Path]) -> None:
    pane, file = opened(spark, "rescue")
    pane.type(f"{BOTTOM}try:\rrescue('a', 'b')\rexcept:\rpass{SAVE}")
    until(pane, lambda: "except:" in file.read_text(), "the save")
    pane.until("▲", PATIENCE)
    pane.type(ALT_G)
    pane.until("Ctrl+C in the block is swallowed", PATIENCE)
    pane.type("y")
    until(pane, lambda: "except Exception:" in file.read_text(), "the fix")
