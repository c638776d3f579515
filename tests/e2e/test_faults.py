"""Faults of background work in the real program: told in one line, their tracebacks in the log alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.test_exec import partner
from tests.e2e.tmux import terminal, wait_for

PROGRAM = """
import asyncio, sys
from context.project.project import Project
from session.session import Session
from tui.cli.main import main

def scan(self, *_):
    raise RuntimeError("the parser is out of order")

Project.scan = scan
opened = Session.open

async def open(self):
    await opened(self)
    asyncio.get_running_loop().call_soon(lambda: {}["a forgotten callback"])

Session.open = open
main()
"""
READING = "failed while reading the project (RuntimeError: the parser is out of order)"
CALLBACK = "failed while working in the background (KeyError: 'a forgotten callback')"

needs_tmux = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
)


@pytest.fixture
def faulty(tmp_path: Path) -> list[str]:
    """The command line of a spark whose project cannot be read, and one of whose callbacks raises."""
    program = tmp_path / "faulty.py"
    program.write_text(PROGRAM)
    (tmp_path / "project").mkdir()
    return [sys.executable, str(program)]


def logged() -> list[str]:
    """The tracebacks in the logs of faults (the tests' state folder is a fresh one)."""
    folder = Path(os.environ["XDG_STATE_HOME"]) / "spark/projects"
    lines = "".join(file.read_text() for file in folder.glob("*/errors.log")).splitlines()
    return [entry["traceback"] for entry in map(json.loads, lines) if "traceback" in entry]


def the_two_are_logged() -> None:
    wait_for(lambda: len(logged()) >= 2, "the tracebacks in the log")
    assert sorted(each.splitlines()[-1] for each in logged()) == [
        "KeyError: 'a forgotten callback'",
        "RuntimeError: the parser is out of order",
    ], "\n".join(logged())


def test_exec_tells_each_fault_in_a_line(faulty: list[str], tmp_path: Path, spark_path: Path) -> None:
    with partner(spark_path) as url:
        command = [*faulty, "exec", "--base-url", url, "--model", "spark-practice", "hello"]
        ran = subprocess.run(
            command, cwd=tmp_path / "project", capture_output=True, text=True, timeout=60, check=False
        )
    assert ran.returncode == 0, ran.stderr
    for fault in (READING, CALLBACK):
        assert len([line for line in ran.stderr.splitlines() if fault in line]) == 1, ran.stderr
    assert "Traceback" not in ran.stderr
    the_two_are_logged()


@needs_tmux
def test_line_mode_tells_each_fault_in_a_line_and_asks_on(
    faulty: list[str], tmp_path: Path, spark_path: Path
) -> None:
    with partner(spark_path) as url:
        command = [*faulty, "line", "--base-url", url, "--model", "spark-practice"]
        with terminal(command, 120, 40, {}, tmp_path / "project") as pane:
            screen = pane.until(lambda screen: READING in screen and CALLBACK in screen)
            assert "Traceback" not in screen and "ENTER" not in screen
            pane.type("hello")
            pane.keys("Enter")
            pane.until("[completed]")
            the_two_are_logged()


@needs_tmux
def test_the_app_tells_a_fault_in_a_line(faulty: list[str], tmp_path: Path, spark_path: Path) -> None:
    with partner(spark_path) as url:
        command = [*faulty, "--base-url", url, "--model", "spark-practice"]
        with terminal(command, 160, 40, {}, tmp_path / "project") as pane:
            screen = pane.until("spark itself failed while")
            assert "Traceback" not in screen
            the_two_are_logged()
