"""Suspending with a real shell that has job control, and painting everything again."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.held import held_partner
from tests.e2e.test_terminal import REQUEST, idle, quit_spark, sample_in
from tests.e2e.tmux import Terminal, terminal, wait_for

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
)

STILL = 5
"""Looks, 0.1 s apart, at which the screen is the same before it counts as still."""
MODES = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"


def modes(pane: Terminal) -> str:
    return pane.tmux("display-message", "-p", MODES).strip()


@contextmanager
def shell(tmp_path: Path, *command: str) -> Iterator[Terminal]:
    """An interactive bash in which a command was typed that opens the app, once the app is there."""
    settings = tmp_path / "rc"
    settings.write_text("PS1='shell> '\nunset HISTFILE\n")
    bash = ["bash", "--rcfile", str(settings), "-i"]
    with terminal(bash, 100, 30, {"TMPDIR": str(tmp_path)}, tmp_path) as pane:
        pane.until("shell>")
        pane.type(shlex.join(command))
        pane.keys("Enter")
        pane.until(idle)
        yield pane


def process_of(pane: Terminal) -> int:
    """The process of the app: the one whose terminal is the pane's and which runs ``spark``."""
    tty = pane.tmux("display-message", "-p", "#{pane_tty}").strip().removeprefix("/dev/")
    listed = subprocess.run(["ps", "-t", tty, "-o", "pid=,args="], capture_output=True, text=True, check=True)
    found = [line.split()[0] for line in listed.stdout.splitlines() if "spark" in line and "python" in line]
    return int(found[0])


def send(pane: Terminal, number: signal.Signals) -> None:
    os.kill(process_of(pane), number)


def still(pane: Terminal) -> str:
    """The screen, once it is the same for a while."""
    before, same = pane.screen(), 0
    while same < STILL:
        time.sleep(0.1)
        quiet = pane.screen()
        before, same = quiet, same + 1 if before == quiet else 0
    return before


@pytest.mark.parametrize(
    "wrapped", [pytest.param(False, id="alone"), pytest.param(True, id="in a script", marks=pytest.mark.long)]
)
def test_ctrl_z_gives_the_shell_back_and_fg_brings_spark_back(
    wrapped: bool, tmp_path: Path, spark_path: Path
) -> None:
    script = tmp_path / "run"
    script.write_text('#!/bin/sh\n"$@"\n')
    script.chmod(0o755)
    with shell(tmp_path, *([str(script)] if wrapped else []), str(spark_path), "demo") as pane:
        in_spark = modes(pane)
        assert in_spark.startswith("1 1")
        pane.type("half a thought")
        pane.until("half a thought")
        for times, keys in (("once", 1), ("twice, by three keys", 3)):
            pane.keys(*["C-z"] * keys)
            pane.until(lambda screen: "Stopped" in screen and "half a thought" not in screen)
            assert modes(pane) == "0 0 1"
            pane.type("echo shell-$((40+2))")
            pane.keys("Enter")
            pane.until("shell-42")
            pane.type("clear; fg")
            pane.keys("Enter")
            pane.until("half a thought")
            assert modes(pane) == in_spark
            pane.type(f" {times}")
            pane.until(times)
        pane.keys("C-p")
        pane.type("store.py")
        pane.until("store.py")
        pane.keys("Enter")
        pane.until("─ tasks/store.py")
        pane.keys("F2")
        pane.type("zzz")
        pane.until("zzz")
        pane.keys("C-z")  # in the editor it undoes typing
        screen = pane.until(lambda screen: "zzz" not in screen)
        assert "Stopped" not in screen and "tasks/store.py" in screen
        pane.keys("C-q")
        pane.until("shell>")
        assert modes(pane) == "0 0 1"


def test_a_turn_goes_on_after_fg_however_it_was_stopped(tmp_path: Path, spark_path: Path) -> None:
    sample = sample_in(tmp_path)
    with held_partner() as partner, shell(tmp_path, *partner.command(spark_path, sample)) as pane:
        in_spark = modes(pane)
        pane.type(REQUEST)
        pane.keys("Enter")
        store = sample / "tasks/store.py"
        wait_for(lambda: "def reopen" in store.read_text(), "the first hunk on disk")
        for how in ("SIGSTOP", "SIGTSTP", "C-z"):
            screen = pane.until("streaming")
            assert "Stopped" not in screen, screen
            if how == "C-z":
                pane.keys("C-z")
            else:
                send(pane, signal.Signals[how])
            pane.until("Stopped")
            if how == "C-z":
                partner.let_go()
            pane.type("clear; fg")
            pane.keys("Enter")
            pane.until(lambda screen: "shell>" not in screen and "─ Chat" in screen)
        screen = pane.until(lambda screen: idle(screen) and "I ran nothing" in screen)
        assert modes(pane) == in_spark, screen
        assert "reopen" in (sample / "web/client.js").read_text()
        # A continue signal out of nowhere changes nothing.
        send(pane, signal.SIGCONT)
        pane.type("still here")
        pane.until("still here")
        pane.keys("C-c")
        pane.keys("C-q")
        pane.until("shell>")
        assert "Traceback" not in pane.screen()


def test_without_a_shell_ctrl_z_says_so_and_goes_on(tmp_path: Path, spark_path: Path) -> None:
    with terminal([str(spark_path), "demo"], 100, 30, {"TMPDIR": str(tmp_path)}, tmp_path) as pane:
        pane.until(idle)
        pane.keys("C-z")
        pane.until("cannot suspend: no shell")
        pane.type("and on")
        pane.until("and on")
        send(pane, signal.SIGTSTP)
        pane.type(" it goes")
        pane.until("and on it goes")
        pane.keys("C-c")
        quit_spark(pane)


PLACES = {
    "F4": "Ask",
    "F3": "Ask",
    "F1": "Anywhere",
    "C-p": "web/style.css",  # the end of the list, which fills as the project is read
    "C-t": "uses what is defined",  # of files that are found once the project is read
}
"""Keys, and what shows that they were heard."""


def test_ctrl_l_paints_over_what_another_program_wrote(tmp_path: Path, spark_path: Path) -> None:
    with terminal([str(spark_path), "demo"], 100, 30, {"TMPDIR": str(tmp_path)}, tmp_path) as pane:
        pane.until(idle)
        tty = Path(pane.tmux("display-message", "-p", "#{pane_tty}").strip())
        for key, shows in PLACES.items():
            pane.keys(key)
            pane.until(shows)
            be_painted_over(pane, tty)
            if shows != "Ask":  # it lies over the panes
                pane.keys("Escape")
                pane.until("─ Ask")
        pane.keys("C-q")
        pane.until("exit 0")


def be_painted_over(pane: Terminal, tty: Path) -> None:
    """Write to the terminal beside spark, and have Ctrl+L put right what it shows."""
    # Without the status line, which may tell of something else by then.
    quiet = still(pane).splitlines()[:25]
    tty.write_text("\x1b[H\x1b[31mGARBAGE from another program\x1b[20;1HGARBAGE\x1b[?25h")
    pane.until("GARBAGE")
    pane.keys("C-l")
    pane.until(lambda screen: screen.splitlines()[:25] == quiet)
