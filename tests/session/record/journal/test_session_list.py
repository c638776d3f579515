"""Finding and listing sessions, also where a journal cannot be read."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from session.base.events import ContextPinned, Event, PromptSubmitted
from session.base.storage.private_files import StoreError
from session.record.journal.journals import Journal
from session.record.journal.session_list import (
    NoSessionError,
    SessionList,
    damaged_sessions,
    find_session,
    last_session,
    list_sessions,
)

NAME = "20260102-030405-abcd"


def make(folder: Path, name: str, *prompts: str, changed: float) -> Path:
    journal = Journal(folder, name)
    written: list[Event] = [PromptSubmitted(f"t{n}", text) for n, text in enumerate(prompts)]
    for event in written or [ContextPinned("a.py")]:
        journal.write(event)
    journal.close()
    os.utime(journal.file, (changed, changed))
    return journal.file


@pytest.fixture
def three(tmp_path: Path) -> Path:
    make(tmp_path, "20260101-100000-aaaa", "fix\nthe bug", "and another", changed=3000)
    make(tmp_path, "20260101-100000-aabb", "explain", changed=1000)
    make(tmp_path, "20260202-100000-cccc", changed=2000)
    (tmp_path / "notes.jsonl").write_text("not a session\n")
    (tmp_path / "20260101-100000-zzzz.jsonl").write_text("no hex digits\n")
    return tmp_path


def test_a_unique_beginning_finds_its_session(three: Path) -> None:
    assert find_session(three, "20260202").stem == "20260202-100000-cccc"
    assert find_session(three, "20260101-100000-aab").stem == "20260101-100000-aabb"


def test_without_a_name_the_session_changed_last_is_found(three: Path) -> None:
    assert last_session(three).file.stem == "20260101-100000-aaaa"


def test_what_was_changed_before_the_clock_was_put_right_is_not_the_newest(three: Path) -> None:
    make(three, "20990101-100000-dddd", "from the future", changed=time.time() + 40 * 3600)
    assert last_session(three).file.stem == "20260101-100000-aaaa"
    rows = [row.name for row in list_sessions(three).rows]
    assert rows[0] == "20260101-100000-aaaa" and rows[-1] == "20990101-100000-dddd"


@pytest.mark.parametrize("name", ["20260101-100000-aa", "2026", ""])
def test_an_ambiguous_beginning_lists_what_it_could_be(three: Path, name: str) -> None:
    with pytest.raises(StoreError, match=r"several sessions begin with .*aabb, .*aaaa"):
        find_session(three, name)


@pytest.mark.parametrize("name", ["nope", "notes", "../20260202", "20260101-100000-zzzz", "*"])
def test_an_unknown_name_is_refused(three: Path, name: str) -> None:
    with pytest.raises(StoreError, match="no session is called"):
        find_session(three, name)


@pytest.mark.parametrize("folder", ["nowhere", "file"])
def test_a_project_without_sessions(tmp_path: Path, folder: str) -> None:
    (tmp_path / "file").write_text("")
    for find in (last_session, lambda folder: find_session(folder, "2026")):
        with pytest.raises(NoSessionError, match="no sessions yet; start one with: spark"):
            find(tmp_path / folder)
    assert list_sessions(tmp_path / folder) == SessionList((), ())


def test_sessions_are_listed_newest_change_first_with_title_and_turns(three: Path) -> None:
    rows = list_sessions(three).rows
    assert [(row.name[-4:], row.turns, row.title) for row in rows] == [
        ("aaaa", 2, "fix\nthe bug"),
        ("cccc", 0, ""),
        ("aabb", 1, "explain"),
    ]
    assert [row.changed for row in rows] == [3000, 2000, 1000]
    assert all(row.started > 1_700_000_000 for row in rows)


def test_an_empty_journal_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.jsonl").touch()
    assert list_sessions(tmp_path) == SessionList((), ())


DAMAGE: dict[str, Callable[[Path], object]] = {
    "a folder": lambda file: file.mkdir(),
    "a pipe": os.mkfifo,
    "a link to itself": lambda file: file.symlink_to(file),
    "a link to nothing": lambda file: file.symlink_to("gone"),
    "zeros": lambda file: file.write_bytes(b"\0" * 4096),
    "no JSON": lambda file: file.write_bytes(b"nonsense\n" * 10),
    "no object": lambda file: file.write_bytes(b"[1]\n"),
    "a torn first line": lambda file: file.write_bytes(b'{"type":"prompt.subm'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_a_journal_that_cannot_be_read_is_named_and_the_others_are_listed(
    three: Path, damage: Callable[[Path], object]
) -> None:
    whole = list_sessions(three).rows
    damage(three / "20260303-100000-dddd.jsonl")
    found = list_sessions(three)
    assert found.rows == whole
    (problem,) = found.problems
    assert "20260303-100000-dddd" in problem and "cannot read" in problem
    assert damaged_sessions(three) == [problem]


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_the_last_session_is_the_last_that_can_be_read(three: Path, damage: Callable[[Path], object]) -> None:
    last = three / "20260101-100000-aaaa.jsonl"
    last.unlink()
    damage(last)
    if last.exists():
        os.utime(last, (9000, 9000))
    found = last_session(three)
    assert found.file.stem == "20260202-100000-cccc"
    assert all("20260101-100000-aaaa" in problem for problem in found.problems)
    assert bool(found.problems) == last.exists()


def test_where_no_session_can_be_read_each_is_named(tmp_path: Path) -> None:
    for name in (NAME, "20260202-100000-cccc"):
        (tmp_path / f"{name}.jsonl").mkdir()
    with pytest.raises(StoreError, match=rf"no session can be read: .*cccc.*{NAME}.*start a new one"):
        last_session(tmp_path)
