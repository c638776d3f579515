"""The terminal goes away in the middle of a turn: the turn goes on, and the next spark finds it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from session.partner.demo import make_sample
from tests.e2e.held import Held, held_partner
from tests.e2e.test_exec import FEATURE
from tests.e2e.tmux import Terminal, terminal, wait_for
from tui.screen.terminal.signals import PATIENCE

pytestmark = pytest.mark.skipif(
    shutil.which("tmux") is None, reason="needs tmux: install it with your system's packages"
)


@dataclass
class Place:
    """A sample project with a partner, in which spark is opened."""

    spark: Path
    root: Path
    state: Path
    partner: Held
    pids: Path

    @contextmanager
    def opened(self, *options: str) -> Iterator[tuple[Terminal, int]]:
        """spark in a terminal of its own, and its process id."""
        pid = self.pids / f"{len(list(self.pids.iterdir()))}"
        spark = f"{self.spark} {' '.join(options)} --base-url {self.partner.url} --model spark-practice"
        command = ["sh", "-c", f"echo $$ > {pid}; exec {spark}"]
        with terminal(command, 100, 30, {"XDG_STATE_HOME": str(self.state)}, self.root) as pane:
            wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"), "the process")
            yield pane, int(pid.read_text())

    def events(self, kind: str) -> list[dict[str, object]]:
        (file,) = self.state.glob("spark/projects/*/sessions/*.jsonl")
        records = [json.loads(line) for line in file.read_text().split("\n")[:-1]]
        return [record for record in records if record["type"] == kind]

    def landed(self) -> list[dict[str, object]]:
        return self.events("hunk.landed") if any(self.state.rglob("sessions/*.jsonl")) else []

    def gone(self, pid: int) -> None:
        wait_for(lambda: not alive(pid), f"the end of process {pid}")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not Path("/proc/self").exists():
        return True
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return False


@pytest.fixture
def place(tmp_path: Path, spark_path: Path) -> Iterator[Place]:
    root, pids = tmp_path / "sample", tmp_path / "pids"
    root.mkdir()
    pids.mkdir()
    make_sample(root)
    with held_partner() as partner:
        yield Place(spark_path, root, tmp_path / "state", partner, pids)


def begin_turn(pane: Terminal, place: Place) -> None:
    pane.until("ready")
    pane.type(FEATURE)
    pane.keys("Enter")
    wait_for(lambda: bool(place.landed()), "a hunk")


@pytest.mark.long
def test_the_turn_ends_without_a_screen_and_the_next_spark_says_so(place: Place) -> None:
    with place.opened() as (pane, pid):
        begin_turn(pane, place)
        pane.tmux("kill-server")
        assert alive(pid)
        place.partner.let_go()
        place.gone(pid)
    (ended,) = place.events("turn.ended")
    assert ended["status"] == "completed"
    assert not list(place.state.rglob("*.sock")) and not list(place.state.rglob("live/*.lock"))
    with place.opened() as (pane, _):
        screen = pane.until("went on without a screen")
        assert "completed" in screen.replace("\n", " ")


def test_the_next_spark_follows_and_takes_over_when_the_turn_is_done(place: Place) -> None:
    with place.opened() as (pane, pid):
        begin_turn(pane, place)
        pane.type("half a sentence")
        pane.until("half a sentence")
        pane.tmux("kill-server")
        with place.opened() as (second, other):
            second.until(f"Following process {pid}")
            second.until("half a sentence")
            place.partner.let_go()
            place.gone(pid)
            wait_for(lambda: len(place.events("session.started")) == 2, "the takeover")
            assert alive(other)
            assert place.events("turn.ended")[0]["status"] == "completed"
            second.until("half a sentence")
            second.keys("C-q")
            second.until("exit 0")


@pytest.mark.long
@pytest.mark.parametrize("apart", [0.0, 0.05])
def test_a_hang_up_that_is_told_twice_leaves_the_turn_running(place: Place, apart: float) -> None:
    with place.opened() as (pane, pid):
        begin_turn(pane, place)
        for _ in range(3):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGHUP)
            time.sleep(apart)
        pane.tmux("kill-server")
        assert longer_than_patience(pid), "the process went on"
        place.partner.let_go()
        place.gone(pid)
    assert [ended["status"] for ended in place.events("turn.ended")] == ["completed"]


def longer_than_patience(pid: int) -> bool:
    """Whether the process is there when the app's time to leave is over."""
    until = time.monotonic() + PATIENCE + 1
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return alive(pid)


@pytest.mark.long
def test_the_next_spark_can_stop_the_turn(place: Place) -> None:
    with place.opened() as (pane, pid):
        begin_turn(pane, place)
        os.kill(pid, signal.SIGHUP)
        with place.opened() as (second, _):
            second.until(f"Following process {pid}")
            second.keys("Escape")
            second.until("Stopped.")
            place.gone(pid)
            assert place.events("turn.ended")[0]["status"] == "interrupted"
            second.until("Ask")


@pytest.mark.long
def test_a_session_is_taken_over_from_another_screen(place: Place) -> None:
    with place.opened() as (pane, pid):
        begin_turn(pane, place)
        with place.opened("resume") as (second, other):
            second.until(f"Following process {pid}")
            second.keys("/takeover", "Enter", *"next")  # in one read
            pane.until(f"process {other} takes this session over")
            place.partner.let_go()
            typed = "next"
            while not re.search("^─ Ask", second.screen(), re.MULTILINE):
                second.type("x")  # until this process has the session, and while it comes
                typed += "x"
            pane.until("exit 0")
            second.until(lambda screen: typed in re.sub(r"(?<=x) *\n *(?=x)", "", screen))
            wait_for(lambda: len(place.events("session.started")) == 2, "the takeover")
            assert [ended["status"] for ended in place.events("turn.ended")] == ["completed"]


def test_a_command_outlives_its_screen_and_the_next_spark_says_how_it_ended(place: Place) -> None:
    with place.opened() as (pane, pid):
        pane.until("ready")
        pane.type("!read line < held; echo over")
        os.mkfifo(place.root / "held")
        pane.keys("Enter")
        pane.until("your command runs")
        pane.tmux("kill-server")
        environment = {**os.environ, "XDG_STATE_HOME": str(place.state)}
        listed = subprocess.run(
            [place.spark, "sessions"],
            cwd=place.root,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert f"open in process {pid}: a command runs since " in listed.stdout
        assert "without a screen" in listed.stdout
        with place.opened() as (second, other):
            second.until(f"Following process {pid}")
        place.gone(other)
        (place.root / "held").write_text("go\n")
        place.gone(pid)
    (ended,) = place.events("command.ended")
    assert ended["status"] == "done" and ended["tail"] == "over"
    with place.opened() as (pane, _):
        pane.until(lambda screen: "echo over: exit 0" in " ".join(screen.split()))


def test_a_key_leaves_the_screen_and_the_turn_goes_on(place: Place) -> None:
    with place.opened() as (pane, pid):
        begin_turn(pane, place)
        pane.keys("S-F12")
        pane.until(f"what runs goes on in process {pid}")
        place.partner.let_go()
        pane.until("exit 0")
    assert [ended["status"] for ended in place.events("turn.ended")] == ["completed"]


def test_the_next_spark_says_what_a_killed_one_had_landed(place: Place) -> None:
    with place.opened() as (pane, pid):
        begin_turn(pane, place)
        os.kill(pid, signal.SIGKILL)
        place.gone(pid)
    with place.opened() as (pane, _):
        screen = pane.until("was ended by force in the middle of turn t1")
        assert "h1" in screen and "had landed and stay" in " ".join(screen.split())
    with place.opened() as (pane, _):
        pane.until("ready")
        assert "by force" not in pane.screen(), "it is told once"


def test_sigterm_leaves_the_turn_a_moment_and_then_stops_it(place: Place) -> None:
    with place.opened() as (pane, pid):
        begin_turn(pane, place)
        os.kill(pid, signal.SIGTERM)
        pane.until("what runs goes on in process")
        pane.until(f"exit {128 + signal.SIGTERM}")
    assert [ended["status"] for ended in place.events("turn.ended")] == ["interrupted"]
