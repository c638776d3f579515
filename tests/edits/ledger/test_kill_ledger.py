"""SIGKILL at every step of what rewrites the ledger: no landed hunk is lost, and it always opens again."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from edits.checked_lines import from_line
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from edits.landing import Landing
from edits.ledger.journal_file import FIRST
from edits.ledger.ledger import Ledger
from edits.ledger.retention import DAY, Retention
from tests.edits.helpers import Project
from tests.faults import fatal_step
from tests.thorough import share

HUNKS = 12


def land(landing: Landing, number: int) -> None:
    lines = (HunkLine(LineKind.OLD, f"line {number}"), HunkLine(LineKind.NEW, f"LINE {number}"))
    hunk = Hunk(f"{number % 3}.txt", Action.UPDATE, Format.V4A, lines)
    result = landing.land(hunk, hunk_id=f"h{number}", session=f"s{number // 6}", turn="t")
    assert isinstance(result, Landed), result


def text(number: int, landed: set[int]) -> str:
    return "".join(f"{'LINE' if line in landed else 'line'} {line}\n" for line in range(number, HUNKS + 3, 3))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A project with two sessions of hunks in three files, and a copy of it to begin from again."""
    project = Project(tmp_path / "work")
    project.write({f"{number}.txt": text(number, set()) for number in range(3)})
    for number in range(HUNKS):
        land(project.landing, number)
    shutil.copytree(project.folder, tmp_path / "begin")
    return project.folder


def restored(work: Path, name: str) -> None:
    """Bring back the copy ``name``; the ledger has the project's path in it, so that it stays the same."""
    shutil.rmtree(work)
    shutil.copytree(work.with_name(name), work)


def compact(folder: Path, step: Callable[[str], None]) -> None:
    Ledger(folder / "ledger", step).compact(Retention(sessions=1, days=0), now=time.time() + 2 * DAY)


def migrate(folder: Path, step: Callable[[str], None]) -> None:
    Ledger(folder / "ledger", step).recover()


def land_more(folder: Path, step: Callable[[str], None]) -> None:
    ledger = Ledger(folder / "ledger", step)
    land(Landing(folder / "project", ledger, step=step), HUNKS)


def undo(folder: Path, step: Callable[[str], None]) -> None:
    ledger = Ledger(folder / "ledger", step)
    assert isinstance(Landing(folder / "project", ledger, step=step).undo("h7"), Landed)


def to_version_1(folder: Path) -> None:
    journal = folder / "ledger/hunks.jsonl"
    records = [from_line(line, may_lack_sum=False)[0] for line in journal.read_bytes().splitlines()]
    for record in records:
        del record["sum"]
    kept = [record for record in records if record["kind"] != FIRST["kind"]]
    journal.write_text("".join(f"{json.dumps(record)}\n" for record in kept))


def damage(folder: Path) -> None:
    with (folder / "ledger/hunks.jsonl").open("ab") as file:
        file.write(b'{"kind":"intent","seq":99}\n')


def nothing(folder: Path) -> None:
    del folder


def run(
    folder: Path, act: Callable[[Path, Callable[[str], None]], None], fatal: int, after: float | None = None
) -> int:
    """Act in a process that kills itself at step ``fatal``, or is killed ``after`` seconds; returns how it
    ended."""
    child = os.fork()
    if child == 0:
        try:
            act(folder, fatal_step(fatal))
        finally:
            os._exit(0)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


@pytest.mark.parametrize(
    ("act", "prepare"),
    [
        (compact, nothing),
        (migrate, to_version_1),
        (migrate, damage),
        (compact, to_version_1),
        (land_more, nothing),
        (land_more, to_version_1),
        (undo, nothing),
    ],
)
def test_killed_at_every_step_the_ledger_is_whole(
    work: Path, act: Callable[[Path, Callable[[str], None]], None], prepare: Callable[[Path], None]
) -> None:
    fatal, killed = 0, True
    while killed:
        fatal += 1
        restored(work, "begin")
        prepare(work)
        killed = os.WIFSIGNALED(run(work, act, fatal))
        check(work)
        # Killed again in what is to mend it, and then in a second attempt.
        run(work, migrate, 1 + fatal % 3)
        run(work, act, 1 + fatal % 4)
        check(work)
    assert fatal > 3


@pytest.mark.slow
def test_killed_at_any_moment_the_ledger_is_whole(work: Path) -> None:
    chance, killed = random.Random(1), 0
    kinds = [
        (compact, nothing),
        (migrate, to_version_1),
        (migrate, damage),
        (land_more, nothing),
        (undo, nothing),
    ]
    for number in range(share(150, 50)):
        act, prepare = kinds[number % len(kinds)]
        restored(work, "begin")
        prepare(work)
        killed += os.WIFSIGNALED(run(work, act, 0, chance.random() * 0.02))
        check(work)
    assert killed


def check(work: Path) -> None:
    """The ledger opens, says what the files say, and every hunk in it can be undone. Nothing is changed."""
    shutil.copytree(work, work.with_name("looked-at"))
    root = work / "project"
    ledger = Ledger(work / "ledger")
    ledger.recover()
    hunks = {int(record.id[1:]): record.state for record in ledger.hunks()}
    assert hunks.keys() >= {*range(6, HUNKS)}, "a landed hunk of the last session is lost"
    now = {number: (root / f"{number}.txt").read_text() for number in range(3)}
    landed = {number for number in range(HUNKS + 1) if f"LINE {number}\n" in now[number % 3]}
    assert {number for number, state in hunks.items() if state == "landed"} == landed & hunks.keys()
    assert now == {number: text(number, landed) for number in range(3)}
    landing = Landing(root, ledger)
    for number in sorted(landed & hunks.keys()):
        result = landing.undo(f"h{number}")
        assert isinstance(result, Landed), result
    left = landed - hunks.keys()
    for number in range(3):
        assert (root / f"{number}.txt").read_text() == text(number, left)
    restored(work, "looked-at")
    shutil.rmtree(work.with_name("looked-at"))
