"""The three moments, as a person has them: spark in a real terminal, driven by keys alone."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from session.partner.demo import make_sample
from tests.e2e.held import held_partner
from tests.e2e.tmux import Terminal, terminal, wait_for

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
)

REQUEST = "Let a done task be reopened, from the API and from the page"
REDIRECT = "Good, and say on the page how many are done"
SIZES = [(80, 24), pytest.param(160, 48, marks=pytest.mark.long)]


def sample_of(screen_folder: Path) -> Path:
    (folder,) = screen_folder.glob("spark-demo-*")
    return folder


def sample_in(tmp_path: Path, name: str = "sample") -> Path:
    folder = tmp_path / name
    folder.mkdir()
    make_sample(folder)
    return folder


def before(tmp_path: Path) -> Path:
    return sample_in(tmp_path, "before")


def changed(sample: Path, original: Path) -> dict[str, str]:
    """The files of ``sample`` that differ from the original, with their text."""
    return {
        str(file.relative_to(sample)): file.read_text("utf-8")
        for file in sorted(sample.rglob("*"))
        if file.is_file()
        and ".git" not in file.relative_to(sample).parts
        and "__pycache__" not in file.relative_to(sample).parts
        and (
            not (original / file.relative_to(sample)).exists()
            or file.read_bytes() != (original / file.relative_to(sample)).read_bytes()
        )
    }


def idle(screen: str) -> bool:
    """Whether the status line says that no turn runs."""
    return re.search(r"● ready[^\n]*\s*\Z", screen) is not None


def quit_spark(pane: Terminal) -> str:
    pane.keys("C-q")
    return pane.until("exit 0")


def next_hunk(pane: Terminal) -> str:
    """Press F8, and wait until the status line names the hunk; returns the screen."""
    shown = pane.screen().rstrip().rpartition("\n")[2]
    pane.keys("F8")
    return pane.until(lambda screen: screen.rstrip().rpartition("\n")[2] != shown)


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_ask_watch_stop_redirect_undo_quit(columns: int, rows: int, tmp_path: Path, spark_path: Path) -> None:
    original, sample = before(tmp_path), sample_in(tmp_path)
    with (
        held_partner(2) as partner,
        terminal(partner.command(spark_path, sample), columns, rows, {}, tmp_path) as pane,
    ):
        pane.until(idle)
        assert changed(sample, original) == {}

        pane.type(REQUEST)
        pane.keys("Enter")
        pane.until("streaming")
        store, api = sample / "tasks/store.py", sample / "tasks/api.py"
        wait_for(lambda: "def reopen" in store.read_text(), "the first hunk on disk")
        # The first hunk is in the editor pane, and the answer is still coming.
        screen = pane.until(lambda screen: "def reopen" in screen or "/reopen" in screen)
        assert not idle(screen), screen
        wait_for(lambda: "/api/tasks/ID/reopen" in api.read_text(), "the second hunk on disk")

        pane.keys("Escape")
        stopped = pane.until("Stopped.")
        kept = changed(sample, original)
        assert set(kept) == {"tasks/store.py", "tasks/api.py"}
        assert "streaming" not in stopped
        with pytest.raises(AssertionError, match="not within"):
            wait_for(lambda: changed(sample, original) != kept, "a change after Esc", patience=1.0)

        partner.let_go()
        pane.type(REDIRECT)
        pane.keys("Enter")
        pane.until(lambda screen: "Everything is in place" in screen and idle(screen))
        done = changed(sample, original)
        assert done["tasks/store.py"] == kept["tasks/store.py"], "what had landed was landed again"
        assert {"web/client.js", "tasks/api.py", "tasks/store.py"} <= set(done)
        assert done["tasks/api.py"].count("/api/tasks/ID/reopen") == 1

        for _ in range(12):  # to the first hunk: the keys go round all landed ones
            if "h1 · tasks/store.py" in next_hunk(pane):
                break
        pane.keys("F9")
        pane.until("undone")
        wait_for(lambda: "def reopen" not in store.read_text(), "the first hunk undone")
        quit_spark(pane)
    after = changed(sample, original)
    assert "tasks/store.py" not in after, "the first hunk alone made the change there"
    assert {path: text for path, text in done.items() if path != "tasks/store.py"} == after


@pytest.mark.parametrize(("columns", "rows"), SIZES)
def test_a_hunk_is_undone_and_redone_by_key(
    columns: int, rows: int, tmp_path: Path, spark_path: Path
) -> None:
    original = before(tmp_path)
    with terminal([str(spark_path), "demo"], columns, rows, {"TMPDIR": str(tmp_path)}, tmp_path) as pane:
        pane.until(idle)
        sample = sample_of(tmp_path)
        pane.type("Fix the bug: after removing a task, adding a new one makes another task disappear")
        pane.keys("Enter")
        wait_for(lambda: changed(sample, original) != {}, "the fix on disk")
        pane.until(lambda screen: "ready" in screen and "streaming" not in screen)
        fixed = changed(sample, original)
        pane.keys("F9")
        wait_for(lambda: changed(sample, original) == {}, "the fix undone")
        pane.until("undone")
        pane.keys("F10")
        wait_for(lambda: changed(sample, original) == fixed, "the fix landed again")
        assert "would instruct" not in pane.until(idle), "spark asks nothing about its own sample"
        quit_spark(pane)


def test_without_a_key_the_app_opens_and_says_how_to_begin(tmp_path: Path, spark_path: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    with terminal([str(spark_path)], 100, 30, {}, folder) as pane:
        screen = pane.until("Log in to openai")
        assert "There is no key for openai yet" in screen and "Practise first" in screen
        pane.type("a draft that must not be lost")
        pane.until("a draft that must not be lost")
        quit_spark(pane)
    with terminal([str(spark_path)], 100, 30, {}, folder) as pane:
        pane.until("a draft that must not be lost")
        quit_spark(pane)


def test_a_tiny_terminal_works_and_so_does_one_whose_standard_error_goes_to_a_file(
    tmp_path: Path, spark_path: Path
) -> None:
    errors = tmp_path / "errors.txt"
    command = ["sh", "-c", f"exec '{spark_path}' demo 2> '{errors}'"]
    with terminal(command, 40, 10, {"TMPDIR": str(tmp_path)}, tmp_path) as pane:
        pane.until("ready")
        pane.type("half a thought")
        pane.until("half a thought")
        pane.resize(120, 40)
        pane.until(lambda screen: "half a thought" in screen and "press ↑ for one of these" in screen)
        quit_spark(pane)
    assert "\x1b" not in errors.read_text()


def test_a_killed_session_is_resumed_with_every_hunk(tmp_path: Path, spark_path: Path) -> None:
    original, sample = before(tmp_path), sample_in(tmp_path)
    with held_partner(2) as partner:
        spark = shlex.join(partner.command(spark_path, sample))
        command = ["sh", "-c", f"echo $$ > {tmp_path}/pid; exec {spark}"]
        with terminal(command, 120, 40, {}, tmp_path) as pane:
            pane.until(idle)
            pane.type(REQUEST)
            pane.keys("Enter")
            api = sample / "tasks/api.py"
            wait_for(lambda: "/api/tasks/ID/reopen" in api.read_text(), "two hunks on disk")
            pid = int((tmp_path / "pid").read_text())
            subprocess.run(["kill", f"-{signal.SIGKILL}", str(pid)], check=True)
            pane.until("exit 137")
    # A third hunk may have been on its way into a temporary file, which the next spark takes away.
    on_disk = {path: text for path, text in changed(sample, original).items() if path[-6:] != ".spark"}
    assert set(on_disk) >= {"tasks/store.py", "tasks/api.py"}
    # Tall enough for all that was said, however late the signal came.
    with terminal([str(spark_path), "-c", "-C", str(sample)], 120, 150, {}, tmp_path) as pane:
        screen = pane.until(lambda screen: re.search(r"h1\s+tasks/store\.py", screen) is not None)
        assert "h2" in screen
        assert changed(sample, original) == on_disk
        quit_spark(pane)
    undo = subprocess.run([str(spark_path), "undo", "h1", "-C", str(sample)], capture_output=True, text=True)
    assert undo.returncode == 0, undo.stderr
    assert "tasks/store.py" not in changed(sample, original)


def test_escape_and_a_letter_in_one_read_stop_the_turn_and_type_the_letter(
    tmp_path: Path, spark_path: Path
) -> None:
    original, sample = before(tmp_path), sample_in(tmp_path)
    with (
        held_partner() as partner,
        terminal(partner.command(spark_path, sample), 120, 36, {}, tmp_path) as pane,
    ):
        pane.until(idle)
        pane.type(REQUEST)
        pane.keys("Enter")
        store = sample / "tasks/store.py"
        wait_for(lambda: "def reopen" in store.read_text(), "the first hunk on disk")
        kept = changed(sample, original)
        # As tmux sends on what was pressed within its escape-time: ESC and the letter in one write.
        pane.tmux("send-keys", "-H", "1b", "64", "6f", "6e", "27", "74")
        pane.until("Stopped.")
        screen = pane.until("don't")
        assert "undone" not in screen, screen
        assert kept.items() <= changed(sample, original).items(), "a hunk was undone by a letter"
        pane.keys("C-c")
        quit_spark(pane)
