"""A signal that ends spark leaves the terminal as it was found."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import threading
from threading import Timer
from typing import Any

import pytest

from tests.checkout import ROOT
from tui.screen.terminal import signals
from tui.screen.terminal.signals import SIGNALS

STUCK = """
import os, time, tty
from tui.screen.terminal import signals
signals.PATIENCE = 0.2
with signals.leaving_on_signals(lambda code, heard: os.write(1, f"asked {code}".encode())):
    tty.setraw(0)
    os.write(1, b"\\x1b[?1049h\\x1b[?1000hUP")
    while True:
        time.sleep(60)
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_a_program_that_does_not_leave_gives_the_terminal_back_all_the_same(number: signal.Signals) -> None:
    main, child = pty.openpty()
    before = termios.tcgetattr(child)
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK],
        stdin=child,
        stdout=child,
        stderr=child,
        env=environ,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    watchdog = threading.Timer(30, process.kill)
    watchdog.start()
    try:
        shown = b""
        while b"UP" not in shown:
            shown += os.read(main, 4096)
        process.send_signal(number)
        assert process.wait(20) == 128 + number
        while b"\x1b[?25h" not in shown:
            shown += os.read(main, 4096)
        assert f"asked {128 + number}".encode() in shown
        assert shown.rindex(b"\x1b[?1049l") > shown.index(b"\x1b[?1049h")
        assert b"\x1b[?1000l" in shown
        assert termios.tcgetattr(child) == before
    finally:
        watchdog.cancel()
        process.kill()
        process.wait()
        os.close(main)
        os.close(child)


def test_a_signal_within_the_handler_of_another_begins_no_second_timer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[Timer] = []
    leaving = signals._Leaving(signals._Terminal(None, None), lambda code, heard: None)

    class Interrupted(Timer):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            made.append(self)
            if len(made) == 1:
                leaving.end(signal.SIGHUP, None)

    monkeypatch.setattr(threading, "Timer", Interrupted)
    leaving.end(signal.SIGHUP, None)
    leaving._heard()
    assert len(made) == 1 and made[0].finished.is_set(), "nothing ends the process that goes on"
