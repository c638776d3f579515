"""A record that is not what was written is left out; journals without checksums open as before."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from edits.checked_lines import to_line
from session.base.events import Event, HunkLanded, Notice, PromptSubmitted, TextDelta, TurnEnded, to_dict
from session.base.storage.private_files import StoreError
from session.record.journal.journals import Journal
from session.record.journal.reading import Past, damaged_lines, read_event, read_past, read_records
from session.record.journal.session_list import damaged_sessions, list_sessions
from tests.thorough import share

NAME = "20260102-030405-abcd"
TOLD: list[Event] = [
    PromptSubmitted("t1", "make it 10"),
    TextDelta("t1", "It was 1.\n"),
    HunkLanded("t1", "h1", "a.py", "applied", 0, 10, 14),
    TurnEnded("t1", "completed"),
]


def written(folder: Path, *events: Event) -> Path:
    journal = Journal(folder, NAME)
    for event in events:
        journal.write(event)
    journal.close()
    return journal.file


def of_the_first_version(folder: Path, *events: Event) -> Path:
    """A journal as spark wrote it before there were checksums."""
    file = folder / f"{NAME}.jsonl"
    lines = [json.dumps({**to_dict(event), "at": 1.5}, separators=(",", ":")) for event in events]
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def events_in(file: Path) -> list[Event | None]:
    return [read_event(record) for record in read_records(file)]


def test_a_changed_character_is_never_taken_for_what_was_written(tmp_path: Path) -> None:
    file = written(tmp_path, *TOLD)
    file.write_bytes(file.read_bytes().replace(b"make it 10", b"make it 90"))
    assert events_in(file) == TOLD[1:]
    assert read_past(file) == Past(tuple(TOLD[1:]), damaged=1)
    assert list_sessions(tmp_path).rows[0].title == ""
    (problem,) = damaged_sessions(tmp_path)
    assert "1 damaged lines are left out; all others are read" in problem


@settings(max_examples=share(200, 60), deadline=None)
@given(place=some.floats(0, 1, exclude_max=True), change=some.integers(1, 255))
def test_whatever_byte_changes_only_its_lines_are_left_out(
    tmp_path_factory: pytest.TempPathFactory, place: float, change: int
) -> None:
    file = written(tmp_path_factory.mktemp("journal"), *TOLD)
    data = bytearray(file.read_bytes())
    at = int(place * len(data))
    data[at] ^= change
    file.write_bytes(data)
    left = [event for event in events_in(file) if event is not None]
    assert [event for event in TOLD if event in left] == left, "nothing else is read, and in its order"
    assert len(left) >= len(TOLD) - 2, "a changed line end joins two lines"
    # A line that lost its end looks like one that a killed process began.
    if len(left) < len(TOLD) and b"\n" not in data[at : at + 3] and change ^ data[at] != ord("\n"):
        assert damaged_lines(file)


def test_a_journal_without_checksums_opens_as_before(tmp_path: Path) -> None:
    file = of_the_first_version(tmp_path, *TOLD)
    assert events_in(file) == TOLD
    assert read_past(file) == Past(tuple(TOLD), damaged=0)
    (row,) = list_sessions(tmp_path).rows
    assert (row.turns, row.title, row.started) == (1, "make it 10", 1.5)
    assert damaged_sessions(tmp_path) == []


def test_a_journal_without_checksums_goes_on_with_them(tmp_path: Path) -> None:
    of_the_first_version(tmp_path, *TOLD)
    more = [PromptSubmitted("t2", "and now"), TurnEnded("t2", "completed")]
    file = written(tmp_path, *more)
    assert events_in(file) == [*TOLD, *more]
    with file.open("ab") as handle:
        handle.write(b'{"type":"notice","level":"info","text":"no checksum"}\n')
    assert events_in(file) == [*TOLD, *more]
    assert read_past(file).damaged == 1


def test_what_a_killed_process_began_to_write_is_no_damage(tmp_path: Path) -> None:
    file = written(tmp_path, *TOLD)
    whole = file.read_bytes()
    for cut in range(len(whole)):
        file.write_bytes(whole[:cut])
        assert damaged_lines(file) == 0, f"cut after {cut} bytes"
        written(tmp_path, Notice("info", "after"))
        left = events_in(file)
        assert left[-1] == Notice("info", "after")
        assert left[:-1] == TOLD[: len(left) - 1]


def test_a_journal_of_a_newer_version_is_refused_in_one_line(tmp_path: Path) -> None:
    file = written(tmp_path, *TOLD)
    lines = file.read_bytes().splitlines(keepends=True)
    lines[0] = to_line({"type": "journal", "version": 3, "part": 1})
    file.write_bytes(b"".join(lines))
    with pytest.raises(StoreError, match="written by a newer version of spark"):
        read_past(file)
    assert "newer version of spark" in list_sessions(tmp_path).problems[0]


def test_a_checksum_is_not_part_of_what_is_exported(tmp_path: Path) -> None:
    file = written(tmp_path, *TOLD)
    assert all(
        set(record) == {*to_dict(event), "at"} for record, event in zip(read_records(file), TOLD, strict=True)
    )
