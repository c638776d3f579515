"""A signal ends the app, and leaves the terminal, the draft and unsaved texts as they were."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.tmux import Terminal, terminal, wait_for

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.py").write_text("one = 1\n")
    return folder


@contextmanager
def spark_in(project: Path, spark_path: Path) -> Iterator[Terminal]:
    """spark without a server in a terminal; its process id is in a file beside the project."""
    # The shell's own process id becomes spark's.
    script = f"echo $$ > {project.parent / 'pid'}; exec {spark_path} --base-url http://127.0.0.1:9/v1"
    environment = {"XDG_STATE_HOME": str(project.parent / "state"), "OPENAI_API_KEY": "none"}
    with terminal(["sh", "-c", script], 100, 30, environment, project) as pane:
        pane.until("F1 keys")
        yield pane


def send(project: Path, number: signal.Signals) -> None:
    os.kill(int((project.parent / "pid").read_text()), number)


def type_into_file(pane: Terminal) -> None:
    pane.keys("C-p")
    pane.until("a.py")
    pane.keys("Enter")
    pane.until("one = 1")
    pane.type("# not saved ")
    pane.until("# not saved one = 1")


def is_kept(project: Path) -> bool:
    """Whether the unsaved text is on disk, apart from the file."""
    assert (project / "a.py").read_text() == "one = 1\n"
    kept = (project.parent / "state").rglob("unsaved/*/*.json")
    return any("# not saved one" in file.read_text() for file in kept)


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGHUP,
        pytest.param(signal.SIGTERM, marks=pytest.mark.long),
        pytest.param(signal.SIGQUIT, marks=pytest.mark.long),
    ],
)
def test_a_signal_gives_the_terminal_back_and_keeps_what_was_typed(
    number: signal.Signals, project: Path, spark_path: Path
) -> None:
    with spark_in(project, spark_path) as pane:
        pane.type("half a sentence")
        pane.until("half a sentence")
        type_into_file(pane)
        before = pane.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
        send(project, number)
        pane.until(f"exit {128 + number.value}")
        after = pane.tmux("display-message", "-p", "#{alternate_on} #{mouse_any_flag}")
        assert before.startswith("1") and after.strip() == "0 0"
    (draft,) = (project.parent / "state").rglob("draft.txt")
    assert draft.read_text() == "half a sentence"
    assert is_kept(project)


def test_unsaved_text_outlives_sigkill(project: Path, spark_path: Path) -> None:
    with spark_in(project, spark_path) as pane:
        type_into_file(pane)
        # Nothing can be written any more then: what was typed a moment ago must be on disk already.
        wait_for(lambda: is_kept(project), "the kept text")
        send(project, signal.SIGKILL)
        pane.until("exit 137")
    with spark_in(project, spark_path) as pane:
        pane.until("Unsaved text of a.py from")
        pane.keys("BTab")
        pane.until("y restore")
        time.sleep(0.6)
        pane.keys("y")
        pane.until("# not saved one = 1")
