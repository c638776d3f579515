"""Standard output and standard error share a terminal, but never a line."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest

from tui.front.printing import PieceWriter

TELL = (
    "from tui.front.printing import PieceWriter, say\n"
    "answer = PieceWriter()\n"
    "answer.write('I change')\n"
    "answer.write(' red.')\n"
    "say('h1 landed a.py:3', err=True)\n"
    "say('h2 landed b.py:3', err=True)\n"
    "answer.write('Done.\\n')\n"
    "say('spark: interrupted', err=True)\n"
)
COMMAND = (sys.executable, "-c", TELL)
SHARED = "I change red.\nh1 landed a.py:3\nh2 landed b.py:3\nDone.\nspark: interrupted\n"


def test_a_pipe_that_both_write_to_has_no_mixed_line() -> None:
    told = subprocess.run(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True, text=True)
    assert told.stdout == SHARED


@pytest.mark.parametrize(("text", "shown"), [("", ""), ("red", "red\n"), ("red\n", "red\n")])
def test_the_end_of_a_text_ends_its_line_once(
    text: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = PieceWriter()
    for piece in text:
        answer.write(piece)
    answer.end()
    assert capsys.readouterr() == (shown, "")


def test_a_terminal_shows_no_mixed_line() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(COMMAND, stdout=theirs, stderr=theirs):
        os.close(theirs)
        told = b""
        while True:
            try:
                told += os.read(ours, 4_096)
            except OSError:  # the other side is closed
                break
    os.close(ours)
    assert told.decode().replace("\r\n", "\n") == SHARED


@pytest.mark.parametrize("stderr", [subprocess.PIPE, subprocess.DEVNULL])
def test_an_answer_in_a_pipe_of_its_own_stays_as_it_is(stderr: int) -> None:
    told = subprocess.run(COMMAND, stdout=subprocess.PIPE, stderr=stderr, check=True, text=True)
    assert told.stdout == "I change red.Done.\n"
    assert told.stderr in (None, "h1 landed a.py:3\nh2 landed b.py:3\nspark: interrupted\n")


ENDED_BY_HANG_UP = (
    "import signal, sys\n"
    "from tui.front.printing import say\n"
    "def told(number, frame):\n"
    "    sys.exit(128 + number)\n"
    "signal.signal(signal.SIGHUP, told if sys.argv[1] == 'handled' else signal.SIG_DFL)\n"
    "sys.stdin.readline()\n"
    "say('lost')\n"
)


@pytest.mark.parametrize(("way", "code"), [("handled", 128 + signal.SIGHUP), ("default", -signal.SIGHUP)])
def test_printing_on_a_terminal_that_was_closed_is_told_as_a_hang_up(way: str, code: int) -> None:
    # It is not the controlling terminal, so that no signal comes from the system.
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", ENDED_BY_HANG_UP, way]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=theirs, stderr=subprocess.PIPE, start_new_session=True
    ) as process:
        os.close(theirs)
        os.close(ours)
        _, errors = process.communicate(b"now\n", timeout=30)
    assert (process.returncode, errors) == (code, b"")
