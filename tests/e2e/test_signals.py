"""A signal ends the app, and leaves the terminal and the draft as they were."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.e2e.tmux import terminal

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
        pane.until("Ask")
        pane.type("half a sentence")
        pane.until("half a sentence")
        before = pane.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
        subprocess.run(["kill", f"-{number.value}", pid_file.read_text().strip()], check=True)
        pane.until(f"exit {128 + number.value}")
        after = pane.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
        assert before.startswith("1") and after.strip() == "0 0"
    drafts = list((tmp_path / "state").rglob("draft.txt"))
    assert [draft.read_text() for draft in drafts] == ["half a sentence"]
