"""A signal ends ``spark exec`` and ``spark line`` after their turn was interrupted, with a whole journal.

Each signal by itself: ``tests/tui/screen/terminal/test_command_signals.py``.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import shutil
import signal
import subprocess
import termios
from pathlib import Path
from typing import Any

import pytest

from session.partner.demo import make_sample
from tests.e2e.held import held_partner
from tests.e2e.test_exec import FEATURE
from tests.e2e.tmux import terminal, wait_for


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    folder = tmp_path / "sample"
    folder.mkdir()
    make_sample(folder)
    return folder


def journal(state: Path) -> list[dict[str, Any]]:
    """The records of the only session's journal: each of its lines is one."""
    (file,) = state.glob("spark/projects/*/sessions/*.jsonl")
    text = file.read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def ended(state: Path) -> list[dict[str, Any]]:
    return [record for record in journal(state) if record["type"] == "turn.ended"]


def wait_for_hunk(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if json.loads(line)["type"] == "hunk.landed":
            return
    raise AssertionError("no hunk landed")


def test_a_signal_interrupts_the_turn(spark_path: Path, sample: Path, own_folders: Path) -> None:
    with held_partner() as partner:
        command = [str(spark_path), "exec", FEATURE, "--json", "--base-url", partner.url]
        command += ["--model", "spark-practice", "-C", str(sample)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_hunk(process)
        process.send_signal(signal.SIGTERM)
        rest, errors = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGTERM
    assert "Traceback" not in errors
    assert json.loads(rest.splitlines()[-1])["status"] == "interrupted"
    assert [record["status"] for record in ended(own_folders / "state")] == ["interrupted"]


@pytest.mark.long
def test_sighup_is_ignored_where_it_was_before(spark_path: Path, sample: Path) -> None:
    with held_partner() as partner:
        command = ["sh", "-c", 'trap "" HUP; exec "$@"', "sh", str(spark_path), "exec", FEATURE, "--json"]
        command += ["--base-url", partner.url, "--model", "spark-practice", "-C", str(sample)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for_hunk(process)
        process.send_signal(signal.SIGHUP)
        partner.let_go()
        rest, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(rest.splitlines()[-1])["status"] == "completed"


def test_a_terminal_that_is_closed_interrupts_the_turn(
    spark_path: Path, sample: Path, own_folders: Path
) -> None:
    with held_partner() as partner:
        command = [str(spark_path), "exec", FEATURE, "--base-url", partner.url]
        command += ["--model", "spark-practice", "-C", str(sample)]
        main, child = pty.openpty()
        process = subprocess.Popen(
            command,
            stdin=child,
            stdout=child,
            stderr=child,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(child)
        shown = b""
        while b" landed " not in shown:
            shown += os.read(main, 4096)
        os.close(main)
        assert process.wait(30) == 128 + signal.SIGHUP
    assert [record["status"] for record in ended(own_folders / "state")] == ["interrupted"]
    assert "def reopen" in (sample / "tasks/store.py").read_text()


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages")
def test_a_signal_ends_line_mode(tmp_path: Path, spark_path: Path, sample: Path) -> None:
    state, pid = tmp_path / "state", tmp_path / "pid"
    with held_partner() as partner:
        line = f"echo $$ > {pid}; exec {spark_path} line --base-url {partner.url} --model spark-practice"
        with terminal(["sh", "-c", line], 100, 30, {"XDG_STATE_HOME": str(state)}, sample) as pane:
            pane.until("/help for the keys")
            pane.type(FEATURE)
            pane.keys("Enter")
            pane.until(" landed ")
            pane.type("half a sentence")
            pane.until("> half a sentence")
            os.kill(int(pid.read_text()), signal.SIGQUIT)
            screen = pane.until(f"exit {128 + signal.SIGQUIT}")
            assert "Traceback" not in screen
    assert [record["status"] for record in ended(state)] == ["interrupted"]
    (draft,) = state.rglob("draft.txt")
    wait_for(lambda: draft.read_text() == "half a sentence", "the draft")
