"""A long journal goes on in another part, and old ones are shortened: killed anywhere nothing is lost."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from session.base.events import Event, HunkLanded, Notice, PromptSubmitted, TextDelta, TurnEnded
from session.base.storage.private_files import StoreError
from session.record.journal import journals, parts
from session.record.journal.journals import Journal
from session.record.journal.reading import damaged_lines, read_event, read_past, read_records
from session.record.journal.session_list import last_session, list_sessions
from tests.faults import CODES, failing, moments, restore
from tests.session.record.journal.test_checksums import of_the_first_version
from tests.thorough import IN_FULL

NAME = "20260102-030405-abcd"
TURNS = 8
CALLS = ("open", "write", "fsync", "replace")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (parts, journals):
        monkeypatch.setattr(module, "PART_BYTES", 700)
        monkeypatch.setattr(module, "KEPT_PARTS", 2)


def turn(number: int) -> list[Event]:
    return [
        PromptSubmitted(f"t{number}", f"prompt {number}"),
        TextDelta(f"t{number}", f"answer {number} " * 10),
        HunkLanded(f"t{number}", f"h{number}", "a.py", "applied", 0, 10, 14),
        TurnEnded(f"t{number}", "completed"),
    ]


def write(folder: Path, numbers: range, step: Callable[[str], None] = lambda name: None) -> Path:
    journal = Journal(folder, NAME, step)
    for number in numbers:
        for event in turn(number):
            journal.write(event)
        if (work := journal.upkeep()) is not None:
            work()
    journal.close()
    return journal.file


def events_in(file: Path) -> list[Event | None]:
    return [read_event(record) for record in read_records(file)]


def without_text(events: list[Event]) -> list[Event]:
    return [event for event in events if not isinstance(event, TextDelta)]


def all_events(numbers: range) -> list[Event]:
    return [event for number in numbers for event in turn(number)]


def test_a_long_journal_has_parts_and_is_read_as_one(tmp_path: Path) -> None:
    file = write(tmp_path, range(TURNS))
    sizes = [part.stat().st_size for part in tmp_path.iterdir()]
    assert len(sizes) > 3 and max(sizes) < 3_000
    told = all_events(range(TURNS))
    left = [event for event in events_in(file) if event is not None]
    assert without_text(left) == without_text(told), "only text is taken out"
    texts = [event for event in told if isinstance(event, TextDelta)]
    kept = [event for event in left if isinstance(event, TextDelta)]
    assert 0 < len(kept) < len(texts) and texts[-len(kept) :] == kept, "the newest text stays"
    past = read_past(file)
    assert past.damaged == 0
    (notice,) = [event for event in past.events if isinstance(event, Notice)]
    assert "the answers above are left out" in notice.text


def test_a_session_is_listed_and_found_once_by_its_name(tmp_path: Path) -> None:
    file = write(tmp_path, range(TURNS))
    (row,) = list_sessions(tmp_path).rows
    assert (row.name, row.turns, row.title) == (NAME, TURNS, "prompt 0")
    newest = tmp_path / f"{NAME}.{len(list(tmp_path.iterdir()))}.jsonl"
    os.utime(newest, (9e9, 9e9))
    assert last_session(tmp_path).file == file
    assert list_sessions(tmp_path).rows[0].changed == 9e9


def test_a_resumed_journal_goes_on_in_its_newest_part(tmp_path: Path) -> None:
    write(tmp_path, range(10))
    file = write(tmp_path, range(10, 20))
    left = [event for event in events_in(file) if event is not None]
    assert without_text(left) == without_text(all_events(range(20)))


def test_a_journal_of_the_first_version_is_shortened_too(tmp_path: Path) -> None:
    of_the_first_version(tmp_path, *all_events(range(20)))
    file = write(tmp_path, range(20, 40))
    left = [event for event in events_in(file) if event is not None]
    assert without_text(left) == without_text(all_events(range(40)))
    assert damaged_lines(file) == 0 and TextDelta("t0", "answer 0 " * 10) not in left


@pytest.mark.parametrize("damage", ["a folder", "a pipe", "nonsense", "gone"])
def test_a_part_that_cannot_be_read_never_stops_other_sessions(tmp_path: Path, damage: str) -> None:
    write(tmp_path, range(TURNS))
    other = Journal(tmp_path, "20260303-030405-abcd")
    other.write(PromptSubmitted("t1", "hello"))
    other.close()
    part = tmp_path / f"{NAME}.3.jsonl"
    part.unlink()
    if damage == "a folder":
        part.mkdir()
    elif damage == "a pipe":
        os.mkfifo(part)
    elif damage == "nonsense":
        part.write_bytes(b"nonsense\n" * 100)
    found = list_sessions(tmp_path)
    assert "20260303-030405-abcd" in [row.name for row in found.rows]
    if damage in ("nonsense", "gone"):
        assert found.problems == () and len(found.rows) == 2
        assert damaged_lines(tmp_path / f"{NAME}.jsonl") == (100 if damage == "nonsense" else 0)
    else:
        (problem,) = found.problems
        assert f"cannot read {part}" in problem


def check(folder: Path, begun: int) -> int:
    """The session opens, and what it says is the beginning of what was told; returns its number of turns."""
    file = folder / f"{NAME}.jsonl"
    if not file.exists():
        assert not begun
        return 0
    left = [event for event in events_in(file) if event is not None]
    told = without_text(all_events(range(TURNS)))
    assert without_text(left) == told[: len(without_text(left))]
    assert damaged_lines(file) == 0
    begins = any(isinstance(event, PromptSubmitted) for event in left)
    assert [row.name for row in list_sessions(folder).rows] == [NAME] * begins
    return sum(isinstance(event, TurnEnded) for event in left)


def test_killed_at_any_moment_the_session_opens_and_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    file = folder / f"{NAME}.jsonl"
    found = moments(folder, partial(write, folder, range(TURNS)))
    for number, moment in enumerate(found):
        restore(folder, moment.picture)
        done = check(folder, begun=0)
        if number % 3:
            continue
        # Killed again where it goes on, and then not any more.
        before = len(list(read_records(file))) if file.exists() else 0
        more = moments(folder, partial(write, folder, range(done, TURNS)), 2 + number % 7)
        restore(folder, more[min(1 + number % 7, len(more) - 1)].picture)
        write(folder, range(TURNS - 1, TURNS))
        assert len(without_text([each for each in events_in(file) if each is not None])) >= before // 2
        assert damaged_lines(file) == 0, moment.name
    assert done == TURNS and len(found) > TURNS * 4


@pytest.mark.parametrize(
    ("call", "code"),
    list(itertools.product(CALLS, CODES) if IN_FULL else zip(CALLS, CODES, strict=True)),
    ids=str,
)
def test_whichever_call_fails_the_journal_says_so_and_loses_nothing(
    tmp_path: Path, call: str, code: int
) -> None:
    number, failed = 0, True
    while failed:
        number += 1
        told = []
        journal = Journal(tmp_path / str(number), NAME)
        with failing(call, number, code) as count:
            for event in all_events(range(TURNS)):
                try:
                    journal.write(event)
                    if isinstance(event, TurnEnded) and (work := journal.upkeep()) is not None:
                        work()
                except (StoreError, OSError) as problem:
                    told.append(str(problem))
        journal.close()
        failed = count[0] >= number
        assert len(told) == failed and all(os.strerror(code) in each for each in told)
        left = [event for event in events_in(journal.file) if event is not None]
        assert without_text(left) == without_text(all_events(range(TURNS)))
        assert damaged_lines(journal.file) == 0
        if number > 20:  # one failing call is like another after all parts were begun and shortened
            break
    assert number > 3
