"""The keyboard of line mode belongs to the prompt, also while lines are printed above it."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.session.local_servers import aside

LINES = 60
TALK = f"""
[[scenario]]
match = ["talk"]
[[scenario.step]]
say = '{"".join(f"line {number}. " + chr(92) + "n" for number in range(LINES))}'
[[scenario.step]]
stall = 600.0
""".replace("'", '"')
SPARK = "from tui.cli.main import main\nmain()"
LFLAG = 3
PATIENCE = 30.0
"""Seconds to wait for the next output."""
PROMPT = b">\x08\x1b[2C"
CURSOR_ASKED, CURSOR = b"\x1b[6n", b"\x1b[1;1R"


class Line:
    """``spark line`` in a terminal, and what it has shown."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self.terminal, self.process = terminal, process
        self.shown = b""

    def until(self, text: bytes) -> Iterator[None]:
        """Read until ``text`` is shown; each piece that is read is a step."""
        while text not in self.shown:
            ready, _, _ = select.select([self.terminal], [], [], PATIENCE)
            assert ready, f"{text!r} is not shown: {self.shown!r}"
            self.shown += os.read(self.terminal, 512)
            if CURSOR_ASKED in self.shown:
                self.shown = self.shown.replace(CURSOR_ASKED, b"")
                os.write(self.terminal, CURSOR)
            yield

    def wait(self, text: bytes) -> None:
        """Read until ``text`` is shown."""
        for _ in self.until(text):
            pass


@contextmanager
def line(folder: Path) -> Iterator[Line]:
    """``spark line`` with a server that says some lines and goes on without an end."""
    with aside(Partner(rate=2_000.0, scripts=parse(TALK))) as partner:
        server = ["--base-url", partner.url, "--model", "spark-practice", "-C", str(folder)]
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-c", SPARK, *server, "line"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        ) as process:
            os.close(theirs)
            yield Line(ours, process)
            process.kill()
        os.close(ours)


@pytest.mark.usefixtures("own_folders")
def test_the_terminal_stays_raw_while_lines_are_printed(tmp_path: Path) -> None:
    with line(tmp_path) as spark:
        spark.wait(b"/help for the keys")
        spark.wait(PROMPT)
        os.write(spark.terminal, b"talk\r")
        modes = {
            bool(termios.tcgetattr(spark.terminal)[LFLAG] & termios.ICANON)
            for _ in spark.until(b"line %d." % (LINES - 1))
        }
    assert modes == {False}


@pytest.mark.usefixtures("own_folders")
def test_an_interrupt_from_outside_stops_the_turn_and_keeps_what_is_typed(tmp_path: Path) -> None:
    with line(tmp_path) as spark:
        spark.wait(b"/help for the keys")
        spark.wait(PROMPT)
        os.write(spark.terminal, b"talk\r")
        spark.wait(b"line %d." % (LINES - 1))
        os.write(spark.terminal, b"a draft")
        spark.wait(b"a draft")
        spark.process.send_signal(signal.SIGINT)
        spark.wait(b"Stopped.")
        spark.shown = b""
        os.write(spark.terminal, b"\x0c")  # Ctrl+L draws the prompt again
        spark.wait(b"> a draft")
