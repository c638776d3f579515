"""``spark line`` in a real terminal: plain scrolling output with a prompt below."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from session.partner.demo import make_sample
from tests.e2e.held import held_partner
from tests.e2e.test_exec import FEATURE, FIX, partner
from tests.e2e.tmux import terminal, wait_for
from tests.tui.app.test_held_hunks import TWO_LOCKED

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
)


def test_ask_undo_stop_and_quit(tmp_path: Path, quick_spark: Path) -> None:
    sample = tmp_path / "sample"
    sample.mkdir()
    make_sample(sample)
    store = sample / "tasks/store.py"
    before = store.read_text()
    with held_partner() as held:
        command = [str(quick_spark), "line", "--base-url", held.url, "--model", "spark-practice"]
        with terminal(command, 100, 40, {}, sample) as pane:
            pane.until("/help for the keys")
            pane.type(FIX)
            pane.keys("Enter")
            screen = pane.until("[completed]")
            assert "h1 landed tasks/store.py:" in screen
            assert "\n  -" in screen and "\n  +" in screen, "the hunk as a diff"
            fixed = store.read_text()
            assert fixed != before
            pane.type("/undo")
            pane.keys("Enter")
            pane.until("h1 undone tasks/store.py")
            assert store.read_text() == before
            pane.type("/redo h1")
            pane.keys("Enter")
            wait_for(lambda: store.read_text() == fixed, "the fix landed again")
            pane.type("/mod")
            pane.keys("Tab")
            pane.until("> /model")
            pane.type(" spark-practice-t")

            def completed() -> bool:
                # A second Tab would put back what the first one completed: wait for each to be shown.
                pane.keys("Tab")
                with suppress(AssertionError):
                    pane.until("spark-practice-text", patience=1.0)
                    return True
                return False

            wait_for(completed, "the server's list, and what it completes to")
            pane.keys("Enter")
            pane.until("spark-practice-text · ")
            pane.type("/effort ")
            pane.keys("Tab")
            pane.until(lambda screen: all(each in screen for each in ("low", "xhigh", "auto")))
            pane.type("me")
            pane.keys("Tab", "Enter")
            pane.until("· medium")
            pane.type("/model nosuch")
            pane.keys("Enter")
            pane.until("does not list nosuch, and may refuse it")
            pane.type("/model spark-practice")
            pane.keys("Enter")
            pane.until("spark-practice · medium")
            pane.type(FEATURE)
            pane.keys("Enter")
            pane.until("h2 landed")
            pane.keys("Escape")
            pane.until("Stopped. 1 landed hunk stays.")
            pane.type("/quit")
            pane.keys("Enter")
            pane.until("exit 0")


def test_what_is_asked_about_is_shown_before_the_question(tmp_path: Path, quick_spark: Path) -> None:
    sample = tmp_path / "sample"
    sample.mkdir()
    make_sample(sample)
    store = sample / "tasks/store.py"
    before = store.read_text()
    with partner(quick_spark, "--rate", "inf") as url:
        command = [str(quick_spark), "line", "--review", "--base-url", url, "--model", "spark-practice"]
        with terminal(command, 140, 40, {}, sample) as pane:
            pane.until("/help for the keys")
            pane.type(FIX)
            pane.keys("Enter")
            screen = pane.until("h1 needs your OK")
            shown = [line[3:] for line in screen.splitlines() if line.startswith("  +")]
            assert shown and not any(line in before for line in shown)
            assert store.read_text() == before
            pane.type("/land all")
            pane.keys("Enter")
            pane.until("[completed]")
            landed = store.read_text().splitlines()
            assert [line for line in shown if line not in landed] == []
            pane.type("/exit")
            pane.keys("Enter")
            pane.until("exit 0")


def test_of_two_held_hunks_the_oldest_is_asked_about_and_answered_first(
    tmp_path: Path, quick_spark: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "one.txt").write_text("first\n")
    (project / "two.txt").write_text("second\n")
    script = tmp_path / "script.toml"
    script.write_text(TWO_LOCKED)
    with partner(quick_spark, "--rate", "inf", "--script", str(script)) as url:
        command = [str(quick_spark), "line", "--base-url", url, "--model", "spark-practice"]
        with terminal(command, 140, 40, {}, project) as pane:
            pane.until("/help for the keys")
            for path in ("one.txt", "two.txt"):
                pane.type(f"/lock {path}")
                pane.keys("Enter")
                pane.until(f"{path} is locked")
            pane.type("add them")
            pane.keys("Enter")
            pane.until("h1 needs your OK")
            pane.type("/land")
            pane.keys("Enter")
            pane.until(lambda screen: "h1 landed" in screen and "h2 needs your OK" in screen)
            assert (project / "one.txt").read_text() == "first\nleft\n"
            pane.type("/decline")
            pane.keys("Enter")
            pane.until("[completed]")
            assert (project / "two.txt").read_text() == "second\n"
            pane.type("/quit")
            pane.keys("Enter")
            pane.until("exit 0")
