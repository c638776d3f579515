"""A kill at each moment of what rewrites the ledger: no landed hunk is lost, and it always opens again."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from edits.checked_lines import from_line
from edits.files.durable import no_step
from edits.files.text import digest
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from edits.landing import Landing
from edits.ledger.entry import DAY, Retention
from edits.ledger.journal_file import FIRST
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project
from tests.faults import killed_after, moments, picture, restore
from tests.thorough import share

HUNKS = 6


def land(landing: Landing, number: int) -> None:
    lines = (HunkLine(LineKind.OLD, f"line {number}"), HunkLine(LineKind.NEW, f"LINE {number}"))
    hunk = Hunk(f"{number % 3}.txt", Action.UPDATE, Format.V4A, lines)
    result = landing.land(hunk, hunk_id=f"h{number}", session=f"s{number // (HUNKS // 2)}", turn="t")
    assert isinstance(result, Landed), result


def text(number: int, landed: set[int]) -> str:
    return "".join(f"{'LINE' if line in landed else 'line'} {line}\n" for line in range(number, HUNKS + 3, 3))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A project with two sessions of hunks in three files."""
    project = Project(tmp_path / "work")
    project.write({f"{number}.txt": text(number, set()) for number in range(3)})
    for number in range(HUNKS):
        land(project.landing, number)
    return project.folder


def compact(folder: Path, step: Callable[[str], None]) -> None:
    Ledger(folder / "ledger", step).compact(Retention(sessions=1, days=0), now=time.time() + 2 * DAY)


def migrate(folder: Path, step: Callable[[str], None]) -> None:
    Ledger(folder / "ledger", step).recover()


def land_more(folder: Path, step: Callable[[str], None]) -> None:
    ledger = Ledger(folder / "ledger", step)
    land(Landing(folder / "project", ledger, step=step), HUNKS)


def undo(folder: Path, step: Callable[[str], None]) -> None:
    ledger = Ledger(folder / "ledger", step)
    Landing(folder / "project", ledger, step=step).undo("h4")
    assert "line 4\n" in (folder / "project/1.txt").read_text()


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
def test_killed_at_each_moment_the_ledger_is_whole(
    work: Path, act: Callable[[Path, Callable[[str], None]], None], prepare: Callable[[Path], None]
) -> None:
    prepare(work)
    found = moments(work, partial(act, work))
    for number, moment in enumerate(found):
        restore(work, moment.picture)
        check(work)
        # Killed again in what is to mend it, and then in a second attempt.
        for again, later in ((migrate, number % 3), (act, number % 4)):
            more = moments(work, partial(again, work), 2 + later)
            restore(work, more[min(1 + later, len(more) - 1)].picture)
        check(work)
    assert len(found) > 3


def test_killed_at_any_moment_the_ledger_is_whole(work: Path) -> None:
    chance, killed = random.Random(1), 0
    kinds = [
        (compact, nothing),
        (migrate, to_version_1),
        (migrate, damage),
        (land_more, nothing),
        (undo, nothing),
    ]
    begin = picture(work)
    for number in range(share(150, 10)):
        act, prepare = kinds[number % len(kinds)]
        restore(work, begin)
        prepare(work)
        killed += killed_after(chance.random() * 0.02, partial(act, work, no_step))
        check(work)
    assert killed


def check(work: Path) -> None:
    """The ledger opens, says what the files say, and every hunk in it can be undone. Nothing is changed."""
    found = picture(work)
    root = work / "project"
    ledger = Ledger(work / "ledger")
    ledger.recover()
    hunks = {int(record.id[1:]): record.state for record in ledger.hunks()}
    for entry in ledger.entries():
        assert entry.before is not None and digest(ledger.content(entry.before)) == entry.before
    assert hunks.keys() >= {*range(HUNKS // 2, HUNKS)}, "a landed hunk of the last session is lost"
    now = {number: (root / f"{number}.txt").read_text() for number in range(3)}
    landed = {number for number in range(HUNKS + 1) if f"LINE {number}\n" in now[number % 3]}
    assert {number for number, state in hunks.items() if state == "landed"} == landed & hunks.keys()
    assert now == {number: text(number, landed) for number in range(3)}
    landing = Landing(root, ledger)
    for number in sorted(landed & hunks.keys()):
        result = landing.undo(f"h{number}")
        assert isinstance(result, Landed), result
    again = Ledger(work / "ledger").hunks()
    assert not [record.id for record in again if record.state == "landed"], "what was written is read again"
    left = landed - hunks.keys()
    for number in range(3):
        assert (root / f"{number}.txt").read_text() == text(number, left)
    restore(work, found)
