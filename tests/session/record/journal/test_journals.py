from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from session.base.events import Event, HunkLanded, Notice, ReasoningDelta, TextDelta, TurnEnded, event_types
from session.base.storage.private_files import StoreError
from session.record.journal.journals import Journal, new_session_name
from session.record.journal.reading import read_event, read_records
from tests.faults import in_processes

NAME = "20260102-030405-abcd"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def events_in(file: Path) -> list[Event | None]:
    return [read_event(record) for record in read_records(file)]


def sample(kind: Any) -> Any:
    values = {
        "str": "x\ud800\n",
        "int": 7,
        "bool": True,
        "str | None": "y",
        "float": 1.5,
        "float | None": 2.5,
        "int | None": 3,
        "tuple[str, ...]": ("a", "b"),
    }
    return kind(**{field.name: values[str(field.type)] for field in fields(kind)})


def write_all(folder: Path, *events: Event, name: str = NAME) -> Path:
    journal = Journal(folder, name)
    for event in events:
        journal.write(event)
    journal.close()
    return journal.file


# --- the journal ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", event_types().values())
def test_every_event_is_read_back_as_it_was_written(tmp_path: Path, kind: Any) -> None:
    event = sample(kind)
    assert events_in(write_all(tmp_path, event)) == [event]


def test_each_record_has_its_time(tmp_path: Path) -> None:
    before = time.time()
    (record,) = read_records(write_all(tmp_path, Notice("info", "x")))
    assert before - 1 <= record["at"] <= time.time() + 1


def test_an_event_is_in_the_file_when_write_returns(tmp_path: Path) -> None:
    journal = Journal(tmp_path, NAME)
    journal.write(Notice("info", "now"))
    assert events_in(journal.file) == [Notice("info", "now")]


def test_deltas_are_collected_until_they_are_flushed_or_another_event_comes(tmp_path: Path) -> None:
    journal = Journal(tmp_path, NAME)
    journal.write(Notice("info", "x"))
    for piece in ("one\n", "two\n", "three\nfo"):
        journal.write(TextDelta("t1", piece))
    assert len(events_in(journal.file)) == 1
    journal.flush()
    assert events_in(journal.file)[1:] == [TextDelta("t1", "one\ntwo\nthree\nfo")]
    journal.write(TextDelta("t1", "ur"))
    assert len(events_in(journal.file)) == 2
    journal.close()
    assert events_in(journal.file)[2:] == [TextDelta("t1", "ur")]


def test_deltas_are_written_when_they_were_held_for_their_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("session.record.journal.journals.LONGEST_HELD", -1.0)
    journal = Journal(tmp_path, NAME)
    journal.write(TextDelta("t1", "one"))
    assert events_in(journal.file) == [TextDelta("t1", "one")]


@pytest.mark.parametrize("pieces", [["x\n"] * 20_000, ["x\n" * 20_000]], ids=["apart", "in one"])
def test_short_lines_take_little_more_than_their_text(tmp_path: Path, pieces: list[str]) -> None:
    file = write_all(tmp_path, *(TextDelta("t1", piece) for piece in pieces), TurnEnded("t1", "completed"))
    *deltas, ended = events_in(file)
    assert "".join(delta.text for delta in deltas if isinstance(delta, TextDelta)) == "x\n" * 20_000
    assert ended == TurnEnded("t1", "completed")
    assert file.stat().st_size < 70_000, "a line break is two characters in JSON"


def test_collected_deltas_are_written_before_later_events(tmp_path: Path) -> None:
    file = write_all(
        tmp_path,
        ReasoningDelta("t1", "thin"),
        ReasoningDelta("t1", "king"),
        TextDelta("t1", "a"),
        TextDelta("t2", "b"),
        TurnEnded("t2", "completed"),
    )
    assert events_in(file) == [
        ReasoningDelta("t1", "thinking"),
        TextDelta("t1", "a"),
        TextDelta("t2", "b"),
        TurnEnded("t2", "completed"),
    ]


def test_a_long_line_is_written_before_its_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path, NAME)
    for _ in range(300):
        journal.write(TextDelta("t1", "x" * 100))
    written = "".join(event.text for event in events_in(journal.file) if isinstance(event, TextDelta))
    assert len(written) >= 14_000
    journal.close()
    assert sum(len(event.text) for event in events_in(journal.file) if isinstance(event, TextDelta)) == 30_000


def test_a_cut_last_line_is_skipped_and_the_next_one_is_whole(tmp_path: Path) -> None:
    file = write_all(tmp_path, Notice("info", "first"), Notice("info", "torn"))
    data = file.read_bytes()
    file.write_bytes(data[:-9])
    assert events_in(file) == [Notice("info", "first")]
    write_all(tmp_path, Notice("info", "after"))
    assert events_in(file) == [Notice("info", "first"), Notice("info", "after")]


@pytest.mark.parametrize(
    "line",
    [b"", b"nonsense", b"[1]", b'"text"', b"\xff\xfe", b"\x00" * 50, b"[" * 200_000, b'{"type":"no.such"}'],
)
def test_damage_in_the_middle_does_not_hide_other_lines(tmp_path: Path, line: bytes) -> None:
    file = write_all(tmp_path, Notice("info", "first"))
    with file.open("ab") as handle:
        handle.write(line + b"\n")
    write_all(tmp_path, Notice("info", "after"))
    events = [event for event in events_in(file) if event is not None]
    assert events == [Notice("info", "first"), Notice("info", "after")]


@pytest.mark.parametrize(
    "record", [{"type": "text.delta"}, {"type": "text.delta", "turn": 1, "text": "x"}, {"type": ["a"]}, {}]
)
def test_a_record_that_is_no_event_gives_none(record: dict[str, Any]) -> None:
    assert read_event(record) is None


def test_two_writers_do_not_mix_their_lines(tmp_path: Path) -> None:
    def write(level: str) -> None:
        journal = Journal(tmp_path, NAME)
        for number in range(300):
            journal.write(Notice(level, "x" * number))
        journal.close()

    in_processes(partial(write, "one"), partial(write, "two"))
    events = events_in(tmp_path / f"{NAME}.jsonl")
    for level in ("one", "two"):
        texts = [event.text for event in events if isinstance(event, Notice) and event.level == level]
        assert texts == ["x" * number for number in range(300)]


def test_the_journal_and_its_folder_are_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        file = write_all(tmp_path / "state" / "sessions", Notice("info", "x"))
    finally:
        os.umask(old)
    assert (mode(file), mode(file.parent), mode(file.parent.parent)) == (0o600, 0o700, 0o700)


def test_nothing_is_made_before_something_is_written(tmp_path: Path) -> None:
    Journal(tmp_path / "sessions", NAME).close()
    assert not (tmp_path / "sessions").exists()


def test_a_folder_that_is_a_file_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("")
    with pytest.raises(StoreError, match=rf"cannot write the session's journal .*{NAME}"):
        write_all(tmp_path / "sessions", Notice("info", "x"))


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full to stand in for a full disk"
)
def test_a_full_disk_is_a_store_error_on_write_and_on_close(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.jsonl").symlink_to("/dev/full")
    journal = Journal(tmp_path, NAME)
    with pytest.raises(StoreError, match="No space left"):
        journal.write(Notice("info", "x"))
    journal.write(TextDelta("t1", "held"))
    with pytest.raises(StoreError, match="No space left"):
        journal.close()
    journal.close()


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no /dev/full to stand in for a full disk"
)
def test_what_waits_for_a_full_disk_takes_a_bounded_amount_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("session.record.journal.journals._MOST_UNWRITTEN", 100_000)
    file = tmp_path / f"{NAME}.jsonl"
    file.symlink_to("/dev/full")
    journal = Journal(tmp_path, NAME)
    for number in range(300):
        with pytest.raises(StoreError, match="No space left"):
            journal.write(Notice("info", f"{number} " + "x" * 1_000))
    file.unlink()
    journal.write(Notice("info", "room again"))
    events = [event for event in events_in(file) if isinstance(event, Notice)]
    assert events[-1].text == "room again" and journal.unwritten == 0
    assert 50 < len(events) < 100 and len(events) + journal.lost == 301


def test_after_half_a_write_the_next_line_is_whole(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
from pathlib import Path
from session.base.events import Notice
from session.base.storage.private_files import StoreError
from session.record.journal.journals import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal(Path(sys.argv[1]), sys.argv[2])
journal.write(Notice("info", "first"))
resource.setrlimit(resource.RLIMIT_FSIZE, (400, resource.RLIM_INFINITY))
try:
    journal.write(Notice("info", "x" * 1000))
except StoreError as problem:
    print(problem)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
journal.write(Notice("info", "after"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path), NAME], capture_output=True, text=True, check=True
    )
    assert "cannot write the session's journal" in done.stdout
    file = tmp_path / f"{NAME}.jsonl"
    assert events_in(file) == [Notice("info", text) for text in ("first", "x" * 1000, "after")]
    assert len(file.read_bytes().splitlines()) == 5, "half a line is left where the write was cut"


def test_reading_a_journal_that_is_not_there_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot read"):
        list(read_records(tmp_path / "none.jsonl"))


def test_session_names_sort_by_time_and_differ() -> None:
    names = {new_session_name() for _ in range(20)}
    assert len(names) > 1
    assert all(len(name) == 20 and name[8] == name[15] == "-" for name in names)


def test_a_landed_hunk_keeps_its_place_and_move(tmp_path: Path) -> None:
    landed = HunkLanded("t1", "h3", "a.py", "applied_fuzzy", 3, 10, 14, action="move", moved_to="b.py")
    assert events_in(write_all(tmp_path, landed)) == [landed]
