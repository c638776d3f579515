"""A signal ends the app, and leaves the terminal and the draft as they were."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.tmux import terminal, wait_for

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back(number: signal.Signals, tmp_path: Path, spark_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    pid_file = tmp_path / "pid"
    # The shell's own process id becomes spark's.
    command = ["sh", "-c", f"echo $$ > {pid_file}; exec {spark_path} --base-url http://127.0.0.1:9/v1"]
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "OPENAI_API_KEY": "none"}
    with terminal(command, 100, 30, environment, project) as pane:
        pane.until("F1 keys")
        pane.type("half a sentence")
        pane.until("half a sentence")
        before = pane.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
        subprocess.run(["kill", f"-{number.value}", pid_file.read_text().strip()], check=True)
        pane.until(f"exit {128 + number.value}")
        after = pane.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
        assert before.startswith("1") and after.strip() == "0 0"
    drafts = list((tmp_path / "state").rglob("draft.txt"))
    assert [draft.read_text() for draft in drafts] == ["half a sentence"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_unsaved_text_outlives_a_signal(number: signal.Signals, tmp_path: Path, spark_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("one = 1\n")
    pid_file = tmp_path / "pid"
    command = ["sh", "-c", f"echo $$ > {pid_file}; exec {spark_path} --base-url http://127.0.0.1:9/v1"]
    environment = {"XDG_STATE_HOME": str(tmp_path / "state"), "OPENAI_API_KEY": "none"}
    with terminal(command, 100, 30, environment, project) as pane:
        pane.until("Ask")
        pane.keys("C-p")
        pane.until("a.py")
        pane.keys("Enter")
        pane.until("one = 1")
        pane.type("# not saved ")
        pane.until("# not saved one = 1")
        if number is signal.SIGKILL:
            # Nothing can be written any more: what was typed a moment ago must be on disk already.
            kept = (tmp_path / "state").rglob
            wait_for(
                lambda: any("# not saved one" in file.read_text() for file in kept("unsaved/*/*.json")),
                "the kept text",
            )
        subprocess.run(["kill", f"-{number.value}", pid_file.read_text().strip()], check=True)
        pane.until(f"exit {128 + number.value}")
    assert (project / "a.py").read_text() == "one = 1\n"
    with terminal(command, 100, 30, environment, project) as pane:
        pane.until("Unsaved text of a.py from")
        pane.keys("BTab")
        pane.until("y restore")
        time.sleep(0.6)
        pane.keys("y")
        pane.until("# not saved one = 1")
