"""A signal asks a command to stop, and the next one ends it: with real signals, in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.checkout import ROOT
from tui.screen.terminal.signals import SIGNALS

COMMAND = """
import asyncio, sys
from tui.screen.terminal import signals as signalling

signalling.PATIENCE = float(sys.argv[1])

async def run():
    asked, go_on = asyncio.Event(), asyncio.Event()
    with signalling.CommandSignals(asked.set) as signals:
        loop = asyncio.get_running_loop()
        loop.add_reader(0, lambda: (sys.stdin.readline(), go_on.set()))
        print("up", flush=True)
        await asyncio.wait({asyncio.create_task(each.wait()) for each in (asked, go_on)},
                           return_when=asyncio.FIRST_COMPLETED)
        print("asked" if asked.is_set() else "not asked", flush=True)
        await go_on.wait()
    return signals.code or 0

sys.exit(asyncio.run(run()))
"""
"""A command that tells when it is asked to stop, and ends once it is given a line."""
LONG = 600.0


@contextmanager
def command(*before: str, patience: float = LONG) -> Iterator[subprocess.Popen[str]]:
    """The command, once it listens to signals."""
    process = subprocess.Popen(
        [*before, sys.executable, "-c", COMMAND, str(patience)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    try:
        assert said(process) == "up"
        yield process
    finally:
        process.kill()
        process.communicate()


def said(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def let_end(process: subprocess.Popen[str]) -> int:
    process.communicate("\n", timeout=30)
    return process.returncode


@pytest.mark.parametrize("number", SIGNALS)
def test_the_first_signal_asks_to_stop_and_names_the_exit_code(number: signal.Signals) -> None:
    with command() as process:
        process.send_signal(number)
        assert said(process) == "asked"
        if number is signal.SIGHUP:
            process.send_signal(number)  # the shell passes on what the terminal sent already
        assert let_end(process) == 128 + number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGQUIT])
def test_the_second_signal_ends_it_at_once(number: signal.Signals) -> None:
    with command() as process:
        process.send_signal(number)
        assert said(process) == "asked"
        process.send_signal(number)
        assert process.wait(30) == -number


def test_a_command_that_does_not_stop_is_ended() -> None:
    with command(patience=0.05) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 128 + signal.SIGTERM


def test_a_signal_that_was_ignored_before_stays_so() -> None:
    with command("sh", "-c", 'trap "" HUP; exec "$@"', "sh") as process:
        process.send_signal(signal.SIGHUP)
        assert let_end(process) == 0
