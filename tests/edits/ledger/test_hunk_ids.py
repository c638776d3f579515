"""Hunk ids: none is given twice, whoever asks, and those reserved cost no disk."""

from __future__ import annotations

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from edits.ledger.hunk_ids import RESERVED
from edits.ledger.ledger import Ledger
from tests.edits.helpers import Project
from tests.faults import in_processes


def take(folder: Path) -> list[str]:
    ledger, taken = Ledger(folder), []
    for _ in range(100):
        ledger.reserve_ids()
        taken.append(ledger.next_id())
    ledger.give_ids_back()
    return taken


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_processes_that_reserve_at_the_same_time_get_different_ids(tmp_path: Path) -> None:
    given = [one for ids in in_processes(*[partial(take, tmp_path / "ledger")] * 3) for one in ids]
    assert len(given) == len(set(given)) == 300


def test_reserved_ids_need_no_disk(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.reserve_ids()
    (tmp_path / "ledger" / "counter").unlink()
    (tmp_path / "ledger").rmdir()
    assert [ledger.next_id() for _ in range(RESERVED)] == [f"h{number}" for number in range(1, RESERVED + 1)]
    with pytest.raises(FileNotFoundError):
        ledger.next_id()


def test_reserving_while_ids_are_taken_gives_each_once(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")

    def take(count: int) -> list[str]:
        return [ledger.next_id() for _ in range(count)]

    def reserve(count: int) -> list[str]:
        for _ in range(count):
            ledger.reserve_ids()
        return []

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(work, 200) for work in (take, reserve, take, reserve)]
        given = [one for done in asked for one in done.result()]
    assert len(given) == len(set(given)) == 400


def test_ids_that_were_not_needed_are_given_to_the_next(tmp_path: Path) -> None:
    first, second = Ledger(tmp_path / "ledger"), Ledger(tmp_path / "ledger")
    first.reserve_ids()
    assert first.next_id() == "h1"
    first.give_ids_back()
    assert second.next_id() == "h2"
    first.reserve_ids()
    assert second.next_id() == f"h{RESERVED + 3}"
    assert first.next_id() == "h3"
    first.give_ids_back()
    assert second.next_id() == f"h{RESERVED + 4}", "ids below one that is given stay unused"


def test_a_landing_reserves_no_ids_in_a_process_that_gave_its_own_back(project: Project) -> None:
    counter = project.folder / "ledger" / "counter"

    def land(path: str) -> str:
        added = Hunk(path, Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "one"),))
        assert isinstance(project.landing.land(added, hunk_id=project.ledger.next_id()), Landed)
        return counter.read_text().strip()

    assert land("a") == "1", "none was ever reserved"
    project.ledger.reserve_ids()
    assert land("b") == str(1 + RESERVED)
    project.ledger.give_ids_back()
    assert land("c") == "3"


def test_ids_are_reserved_again_once_half_of_them_are_taken(tmp_path: Path) -> None:
    ledger, counter = Ledger(tmp_path / "ledger"), tmp_path / "ledger" / "counter"
    ledger.reserve_ids()
    for taken in range(1, RESERVED // 2 + 1):
        ledger.reserve_ids()
        assert counter.read_text().strip() == str(RESERVED), taken
        assert ledger.next_id() == f"h{taken}"
    ledger.reserve_ids()
    assert counter.read_text().strip() == str(2 * RESERVED)


@pytest.mark.parametrize("damage", [None, b"", b"not a number"])
def test_a_lost_counter_goes_on_after_the_last_hunk_of_the_journal(
    tmp_path: Path, damage: bytes | None
) -> None:
    folder = tmp_path / "ledger"
    ledger = Ledger(folder)
    lines = [{"kind": "intent", "hunk": f"h{number}"} for number in (3, 12, 7)]
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (folder / "hunks.jsonl").write_text(text)
    if damage is not None:
        (folder / "counter").write_bytes(damage)
    assert ledger.next_id() == "h13"


def test_the_counter_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        Ledger(tmp_path / "ledger").next_id()
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "ledger" / "counter").stat().st_mode) == 0o600


def test_landing_keeps_ids_reserved(project: Project) -> None:
    project.ledger.reserve_ids()
    ids = [project.ledger.next_id() for _ in range(RESERVED - 1)]
    added = Hunk("a.txt", Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "one"),))
    assert isinstance(project.landing.land(added, hunk_id=ids[0]), Landed)
    (project.folder / "ledger" / "counter").write_text("no process may count now")
    ids += [project.ledger.next_id() for _ in range(RESERVED + 1)]
    assert ids == [f"h{number}" for number in range(1, 2 * RESERVED + 1)]


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full to stand in for a full disk"
)
def test_on_a_full_disk_the_counter_is_named_and_giving_ids_back_fails_nothing(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger")
    ledger.reserve_ids()
    counter = next((tmp_path / "ledger").rglob("counter"))
    counter.unlink()
    counter.symlink_to("/dev/full")
    ledger.give_ids_back()
    with pytest.raises(OSError, match="No space left on device") as problem:
        ledger.next_id()
    assert problem.value.filename == str(counter)
