"""The journal's size is bounded: what is let go, what stays, and that what stays can still be undone."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, Refused
from edits.landing import Landing
from edits.ledger.entry import Entry, Op, Retention
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project

DAY = 86_400.0


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def entry(seq: int, hunk: str, session: str, day: float, op: Op = Op.LAND) -> Entry:
    return Entry(seq, hunk, op, Action.UPDATE, "/", "a", None, None, "x", session=session, time=day * DAY)


def test_the_last_sessions_stay_and_older_ones_go_by_age_and_by_size() -> None:
    entries = [
        entry(1, "h1", "one", 1),
        entry(2, "h2", "two", 2),
        entry(3, "h3", "", 3),
        entry(4, "h4", "four", 50),
        entry(5, "h1", "one", 60, Op.UNDO),
    ]

    def kept(retention: Retention, size: int = 1) -> set[int]:
        return retention.kept(entries, lambda _: size, now=100 * DAY)

    assert kept(Retention(sessions=5, days=1, bytes=0)) == {1, 2, 3, 4, 5}
    assert kept(Retention(sessions=1, days=1)) == {1, 5}
    assert kept(Retention(sessions=1, days=59)) == {1, 2, 3, 4, 5}
    assert kept(Retention(sessions=1, days=58)) == {1, 2, 3, 4, 5}, "just as old as is kept"
    assert kept(Retention(sessions=1, days=57.5)) == {1, 3, 4, 5}
    assert kept(Retention(sessions=1, days=59, bytes=30), size=10) == {1, 4, 5}
    assert kept(Retention(sessions=1, days=59, bytes=40), size=10) == {1, 3, 4, 5}
    assert kept(Retention(sessions=0, days=1, bytes=0)) == set()


@pytest.mark.parametrize(
    ("sessions", "age", "size", "kept"),
    [
        (20, 999, 1 << 30, 20),
        (21, 89, 1, 21),
        (21, 90, 1, 21),
        (21, 91, 1, 20),
        (30, 91, 1, 20),
        (32, 1, 8 << 20, 32),
        (33, 1, 8 << 20, 32),
        (22, 1, 1 << 30, 20),
    ],
)
def test_the_last_20_sessions_stay_and_others_for_90_days_in_256_mb(
    sessions: int, age: float, size: int, kept: int
) -> None:
    """All but the newest session ended ``age`` days before it."""
    days = [0.0] * (sessions - 1) + [age]
    entries = [entry(at, f"h{at}", f"s{at}", 1000 + day) for at, day in enumerate(days)]
    assert len(Retention().kept(entries, lambda _: size, 9999 * DAY)) == kept


@pytest.mark.parametrize("now", [0, 5, 1_000, 40_000], ids=["at 1970", "behind", "right", "far ahead"])
def test_a_clock_that_jumps_makes_no_session_old(now: float) -> None:
    days = [1_000, 1_000, 0, 0.1, 999, 1_001]  # a machine without a battery begins in 1970
    entries = [entry(at, f"h{at}", f"s{at}", day) for at, day in enumerate(days)]
    kept = Retention(sessions=1).kept(entries, lambda _: 1, now * DAY)
    assert kept == set(range(len(days)))


def change(project: Project, name: str, old: str, new: str, session: str) -> None:
    lines = (HunkLine(LineKind.OLD, old), HunkLine(LineKind.NEW, new))
    hunk = Hunk("a.txt", Action.UPDATE, Format.V4A, lines)
    assert isinstance(project.landing.land(hunk, hunk_id=name, session=session, turn="t"), Landed)


def test_after_a_compaction_what_stays_is_undone_and_what_went_is_not_known(project: Project) -> None:
    lines = [f"line {number}" for number in range(40)]
    project.write({"a.txt": "".join(f"{line}\n" for line in lines)})
    for number in range(40):
        change(project, f"h{number}", f"line {number}", f"LINE {number}", f"s{number // 10}")
    other = Ledger(project.folder / "ledger")
    assert len(other.hunks()) == 40
    journal = project.folder / "ledger" / "hunks.jsonl"
    before = journal.stat().st_size
    project.ledger.compact(Retention(sessions=2, days=0), now=time.time() + 2 * DAY)
    assert journal.stat().st_size < 0.6 * before
    # Another process, that had read the old journal, goes on with the new one.
    assert [record.id for record in other.hunks()] == [f"h{number}" for number in range(20, 40)]
    landing = Landing(project.root, other)
    assert isinstance(landing.undo("h5"), Refused)
    (project.root / "a.txt").write_text("user\n" + (project.root / "a.txt").read_text())
    for number in (39, 20, 31):
        assert isinstance(landing.undo(f"h{number}"), Landed)
    done = set(range(40)) - {39, 20, 31}
    expected = ["user", *(f"LINE {n}" if n in done else f"line {n}" for n in range(40))]
    assert (project.root / "a.txt").read_text() == "".join(f"{line}\n" for line in expected)


def test_after_32_changes_of_a_file_its_content_is_kept_again(project: Project) -> None:
    project.write({"a.txt": "0\n"})
    blobs = project.folder / "ledger" / "blobs"
    for number in range(66):
        change(project, f"h{number}", str(number), str(number + 1), "s")
        assert sum(path.is_file() for path in blobs.rglob("*")) == 1 + number // 32, number


def test_contents_nobody_needs_go_but_not_those_kept_today(project: Project) -> None:
    project.write({"a.txt": "one\n"})
    change(project, "h1", "one", "two", "s")
    loose = project.folder / "ledger" / "blobs" / "00" / "loose"
    loose.parent.mkdir(exist_ok=True)
    loose.write_bytes(b"x")
    project.ledger.compact(Retention(), now=time.time())
    assert loose.exists()
    project.ledger.compact(Retention(), now=time.time() + 2 * DAY)
    assert not loose.exists()
    assert isinstance(project.landing.undo("h1"), Landed)


def test_opening_compacts_once_a_day(project: Project) -> None:
    project.write({"a.txt": "one\n"})
    change(project, "h1", "one", "two", "s")
    project.ledger.recover()
    mark = project.folder / "ledger" / "compacted"
    os.utime(mark, (0, 0))
    project.ledger.recover()
    assert mark.stat().st_mtime > time.time() - DAY
    assert isinstance(project.landing.undo("h1"), Landed)


@pytest.mark.parametrize(
    ("age", "due"), [(None, False), (0.9, False), (1.1, True), (-0.9, False), (-1.1, True)]
)
def test_a_ledger_is_compacted_a_day_after_the_last_time(
    project: Project, age: float | None, due: bool
) -> None:
    """Its first day begins with its first opening; a clock that was ahead does not put it off."""
    loose = project.folder / "ledger" / "blobs" / "00" / "loose"
    loose.parent.mkdir(parents=True)
    loose.write_bytes(b"x")
    os.utime(loose, (0, 0))
    mark = project.folder / "ledger" / "compacted"
    if age is not None:
        mark.touch()
        os.utime(mark, (time.time() - age * DAY,) * 2)
    project.ledger.recover()
    assert loose.exists() != due and mark.exists()


def test_a_content_that_is_needed_stays_where_what_made_it_goes(project: Project) -> None:
    project.write({"a.txt": "one\ntwo\n", "b.txt": "x\n"})
    change(project, "h1", "one", "ONE", "s1")
    change(project, "h2", "two", "TWO", "s2")
    change(project, "h3", "TWO", "TOO", "s2")
    project.ledger.compact(Retention(sessions=1, days=0), now=time.time() + 2 * DAY)
    kept = project.ledger.entries()
    assert [entry.hunk for entry in kept] == ["h2", "h3"]
    assert [project.ledger.content(entry.before or "") for entry in kept] == [b"ONE\ntwo\n", b"ONE\nTWO\n"]
    blobs = project.folder / "ledger" / "blobs"
    assert sum(path.is_file() for path in blobs.rglob("*")) == 1, "the others are built from it"


def test_a_whole_turn_is_undone(project: Project) -> None:
    project.write({"a.txt": "a\nb\nc\n"})
    change(project, "h1", "a", "A", "s")
    change(project, "h2", "A", "AA", "s")
    change(project, "h3", "c", "C", "other")
    assert [result.hunk for result in project.landing.undo_turn("s", "t")] == ["h2", "h1"]
    assert project.read() == {"a.txt": "a\nb\nC\n"}
    assert project.landing.undo_turn("s", "t") == []
