"""A turn in which nothing comes is told in line mode and in ``spark exec``; here a minute has a second."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.session.local_servers import aside

SILENT = '[[scenario]]\nmatch = ["talk"]\n[[scenario.step]]\nstall = 600.0\n'
SPARK = "import tui.front.words.silence as s; s.STILL = 1.0\nfrom tui.cli.main import main\nmain()"
TOLD = b"spark: Nothing new has come from the server for "
STOPS = b" s. Ctrl+C stops the turn."


@pytest.fixture
def command(tmp_path: Path) -> Iterator[list[str]]:
    """How spark is started with a server that answers nothing; its command comes behind it."""
    with aside(Partner(scripts=parse(SILENT))) as partner:
        server = ["--base-url", partner.url, "--model", "spark-practice", "-C", str(tmp_path)]
        yield [sys.executable, "-c", SPARK, *server]


@pytest.mark.usefixtures("own_folders")
def test_exec_tells_it_on_standard_error(command: list[str]) -> None:
    with subprocess.Popen(
        [*command, "exec", "just talk", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=30)
    assert line.startswith(TOLD) and line.endswith(STOPS + b"\n")
    assert b"Traceback" not in rest


@pytest.mark.usefixtures("own_folders")
def test_line_mode_tells_it_above_its_prompt(command: list[str]) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*command, "line", "just talk"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        shown = b""
        while STOPS not in shown.replace(b"\r\n", b" "):
            shown += os.read(ours, 4_096)
            if b"\x1b[6n" in shown:  # where is the cursor
                shown = shown.replace(b"\x1b[6n", b"")
                os.write(ours, b"\x1b[1;1R")
        assert TOLD in shown.replace(b"\r\n", b" ")
        os.write(ours, b"\x03")  # stops the turn
        os.write(ours, b"\x04")  # quits
        while process.poll() is None:
            try:
                os.read(ours, 4_096)
            except OSError:  # closed by its end
                process.wait(30)
    os.close(ours)
