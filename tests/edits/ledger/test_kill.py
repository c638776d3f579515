"""SIGKILL after every step of a landing: after recovery each file is before or after, never between."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from edits.hunk import Landed
from edits.landing import Landing
from edits.ledger.entry import State
from edits.ledger.ledger import Ledger
from tests.bench.kill_stress import stress
from tests.checkout import ROOT
from tests.edits.helpers import Project
from tests.edits.ledger.landing_victim import HUNKS

TEXT = "".join(f"line {number}\n" for number in range(30_000))


def run(project: Project, what: str, fatal: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.edits.ledger.landing_victim"]
    command += [str(project.root), str(project.folder / "ledger"), what, str(fatal)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def prepared(folder: Path, what: str) -> Project:
    project = Project(folder)
    project.write({"a.txt": TEXT})
    if what.endswith("-linked"):
        os.link(project.root / "a.txt", folder / "other-name")
    if what == "undo":
        assert isinstance(project.landing.land(HUNKS["update"], hunk_id="h1"), Landed)
    return project


@pytest.mark.parametrize("what", ["update", "update-linked", "add", "delete", "move", "undo"])
def test_killed_after_any_step_a_landing_is_whole_or_did_not_happen(tmp_path: Path, what: str) -> None:
    lived = prepared(tmp_path / "lived", what)
    before = lived.read()
    steps = int(run(lived, what, 0).stdout)
    after = lived.read()
    assert before != after and steps >= 3
    ends: set[State] = set()
    for fatal in range(1, steps + 1):
        project = prepared(tmp_path / str(fatal), what)
        assert run(project, what, fatal).returncode == -signal.SIGKILL
        fresh = Ledger(project.folder / "ledger")
        recovered = fresh.recover()
        now = project.read()
        assert now in (before, after), f"after step {fatal}"
        landed = any(entry.after != entry.before for entry in fresh.entries() if entry.seq > (what == "undo"))
        landed = landed or any(entry.moved_to for entry in fresh.entries())
        assert landed == (now == after)
        assert all(item.state is not State.LOST for item in recovered)
        ends.update(item.state for item in recovered)
        assert not [path for path in project.root.rglob("*") if path.name.endswith(".spark")]
        if now == after and what != "undo":
            assert isinstance(Landing(project.root, fresh).undo("h1"), Landed)
            assert project.read() == before
    assert State.DROPPED in ends and State.DONE in ends


def test_a_file_changed_by_the_user_before_recovery_is_left_to_the_user(tmp_path: Path) -> None:
    project = prepared(tmp_path, "update")
    assert run(project, "update", 1).returncode == -signal.SIGKILL
    project.write({"a.txt": "the user's\n"})
    (recovered,) = Ledger(project.folder / "ledger").recover()
    assert (recovered.hunk, recovered.path, recovered.state) == ("h1", "a.txt", State.LOST)
    assert project.read() == {"a.txt": "the user's\n"}
    assert Ledger(project.folder / "ledger").recover() == []


def test_a_torn_last_line_of_the_journal_is_passed_over(tmp_path: Path) -> None:
    project = prepared(tmp_path, "undo")
    with (project.folder / "ledger" / "hunks.jsonl").open("ab") as journal:
        journal.write(b'{"kind":"intent","seq":2,"hunk":"h')
    landing = Landing(project.root, Ledger(project.folder / "ledger"))
    assert isinstance(landing.undo("h1"), Landed)
    assert project.read() == {"a.txt": TEXT}
    assert isinstance(Landing(project.root, Ledger(project.folder / "ledger")).redo(), Landed)


@pytest.mark.parametrize(
    "line",
    [
        b"5",
        b"[" * 100_000,
        b'{"kind":"end","seq":1e999}',
        b'{"kind":"end","seq":1,"state":[]}',
        *(
            b'{"kind":"intent","seq":2,"hunk":"h2","op":"land","action":"update",%b}' % damage
            for damage in (
                b'"root":"/","path":5',
                b'"root":"/","path":"a","before":5',
                b'"root":"/","path":"a","after":"../../../x"',
                b'"root":"/","path":"a","reverts":"x"',
                b'"root":"/","path":"a","made":[1]',
            )
        ),
    ],
    ids=lambda line: line[-20:].decode(),
)
def test_a_line_of_the_journal_that_is_none_is_passed_over(tmp_path: Path, line: bytes) -> None:
    project = prepared(tmp_path, "undo")
    with (project.folder / "ledger" / "hunks.jsonl").open("ab") as journal:
        journal.write(line + b"\n")
    ledger = Ledger(project.folder / "ledger")
    assert ledger.recover() == [] and [entry.hunk for entry in ledger.entries()] == ["h1"]


def test_the_lock_of_a_killed_process_does_not_stay(tmp_path: Path) -> None:
    project = prepared(tmp_path, "update")
    assert run(project, "update", 1).returncode == -signal.SIGKILL
    assert isinstance(project.landing.land(HUNKS["update"], hunk_id="h2"), Landed)


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_between(tmp_path: Path) -> None:
    counts, fault = stress(tmp_path, 120)
    assert fault is None
    assert counts["before"] > 10 and counts["after"] > 10
