"""A fork begins as its session did, up to a turn or a hunk; killed at any step it is whole or not there."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from session.base.events import Event, HunkLanded, HunkUndone, Notice, PromptSubmitted, TextDelta, TurnEnded
from session.base.storage.private_files import StoreError
from session.project.workspace import open_workspace
from session.record.fork import NoSuchPlaceError, fork_session
from session.record.journal.journals import Journal
from session.record.journal.reading import damaged_lines, read_past, read_records
from session.record.journal.session_list import list_sessions
from session.turn.resume import resume_session
from tests.faults import CODES, failing, moments, restore
from tests.session.talking import COLOURS, REPAINT, talking

NAME = "20260102-030405-abcd"


def landed(turn: str, hunk: str) -> HunkLanded:
    return HunkLanded(turn, hunk, "a.py", "applied", 0, 10, 14)


TOLD: list[Event] = [
    PromptSubmitted("t1", "one"),
    TextDelta("t1", "first \ud800 text"),
    landed("t1", "h1"),
    TextDelta("t1", "more"),
    landed("t1", "h2"),
    TurnEnded("t1", "completed"),
    HunkUndone("h2", "a.py", 10, 14),
    PromptSubmitted("t2", "two"),
    landed("t2", "h3"),
    TurnEnded("t2", "completed"),
]


@pytest.fixture
def session(tmp_path: Path) -> Path:
    journal = Journal(tmp_path, NAME)
    for event in TOLD:
        journal.write(event)
    journal.close()
    return journal.file


def events_of(file: Path) -> list[Event]:
    *events, notice = read_past(file).events
    assert isinstance(notice, Notice) and f"goes on from {NAME}, " in notice.text
    return events


def test_a_fork_at_a_turn_has_all_up_to_the_next_prompt(session: Path) -> None:
    assert events_of(fork_session(session, turn="t1")) == TOLD[:7]


def test_a_fork_at_a_hunk_has_all_up_to_it_and_its_turn_was_interrupted(session: Path) -> None:
    assert events_of(fork_session(session, hunk="h1")) == [*TOLD[:3], TurnEnded("t1", "interrupted")]


def test_a_fork_without_a_place_has_all(session: Path) -> None:
    before = session.read_bytes()
    made = fork_session(session)
    assert events_of(made) == TOLD and session.read_bytes() == before
    assert made.stat().st_mode & 0o777 == 0o600
    assert {row.name for row in list_sessions(session.parent).rows} == {NAME, made.stem}


def test_a_fork_is_resumed_and_goes_on_by_itself(session: Path, tmp_path: Path) -> None:
    made = fork_session(session, turn="t1")
    (tmp_path / "project").mkdir()
    resumed = resume_session(made, open_workspace(tmp_path / "project").ledger)
    assert resumed.turns == 1 and resumed.ending == ()
    journal = Journal(session.parent, made.stem)
    journal.write(PromptSubmitted("t2", "another way"))
    journal.close()
    prompts = [event.text for event in read_past(made).events if isinstance(event, PromptSubmitted)]
    assert prompts == ["one", "another way"]


@pytest.mark.parametrize(
    ("turn", "hunk", "message"),
    [("t9", None, "no turn t9; it has t1 to t2"), (None, "h9", "no landed hunk h9; it has h1 to h3")],
)
def test_a_place_that_is_not_there_is_named(
    session: Path, turn: str | None, hunk: str | None, message: str
) -> None:
    with pytest.raises(NoSuchPlaceError, match=message):
        fork_session(session, turn=turn, hunk=hunk)
    assert len(list(session.parent.iterdir())) == 1


def test_killed_at_any_moment_a_fork_is_whole_or_not_there(session: Path) -> None:
    folder = session.parent
    found = moments(folder, lambda step: fork_session(session, step=step))
    counts: list[int] = []
    for moment in found:
        restore(folder, moment.picture)
        listed = list_sessions(folder)
        assert listed.problems == (), moment.name
        counts.append(len(listed.rows))
        for row in listed.rows:
            file = folder / f"{row.name}.jsonl"
            assert damaged_lines(file) == 0 and len(list(read_records(file))) >= len(TOLD), moment.name
    assert counts == sorted(counts) and (counts[0], counts[-1]) == (1, 2)


@pytest.mark.parametrize("code", CODES, ids=errno.errorcode.get)
@pytest.mark.parametrize("call", ["open", "fsync", "replace"])
def test_whichever_call_fails_a_fork_is_whole_or_not_there(session: Path, call: str, code: int) -> None:
    number, count = 0, [0]
    while count[0] >= number:
        number += 1
        try:
            with failing(call, number, code) as count:
                fork_session(session)
        except StoreError as problem:
            assert os.strerror(code) in str(problem)
        assert not [each for each in session.parent.iterdir() if each.name.startswith(".")]
        for row in list_sessions(session.parent).rows:
            assert len(list(read_records(session.parent / f"{row.name}.jsonl"))) >= len(TOLD)
    assert number > 1


async def test_a_hunk_of_the_forked_part_is_undone_in_the_fork(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "colours.py").write_text(COLOURS)
    async with talking(root, REPAINT) as talk:
        talk.session.submit("repaint it")
        await talk.ended("t1")
        made = fork_session(talk.session.folders.sessions / f"{talk.session.name}.jsonl", turn="t1")
    assert (root / "colours.py").read_text() != COLOURS
    async with talking(root, REPAINT, resume=made) as fork:
        undone = [await fork.session.hunks.undo() for _ in range(3)]
    assert all(isinstance(each, HunkUndone) for each in undone)


async def test_hunks_of_the_forked_part_have_their_places_and_their_turn_in_the_fork(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "colours.py").write_text(COLOURS)
    async with talking(root, REPAINT) as talk:
        talk.session.submit("repaint it")
        await talk.ended("t1")
        places = await talk.session.hunks.places()
        made = fork_session(talk.session.folders.sessions / f"{talk.session.name}.jsonl", turn="t1")
    async with talking(root, REPAINT, resume=made) as fork:
        assert await fork.session.hunks.places() == places != []
        undone = await fork.session.hunks.undo_turn()
        assert [type(each) for each in undone] == [HunkUndone] * len(places)
    assert (root / "colours.py").read_text() == COLOURS
    assert (root / "colours.py").read_text() == COLOURS
