"""Titles of sessions, and sessions in which nothing happened: real journals, claims and sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import Notice, PromptSubmitted, SessionStarted
from session.base.storage.folders import project_folders
from session.record.journal.journals import Journal
from session.record.journal.session_list import NoSessionError, last_session, list_sessions
from session.record.sharing.claim import Claim, SessionTakenError, rename_session
from tests.tui.stage import stage

NAME = "20260101-120000-abcd"
EMPTY = "20260101-130000-abcd"
STARTED = SessionStarted(session=EMPTY, root="/p", model="m", provider="p")


def test_a_title_is_listed_in_place_of_the_first_prompt(tmp_path: Path) -> None:
    folders = project_folders(tmp_path, {"HOME": str(tmp_path)})
    journal = Journal(folders.sessions, NAME)
    journal.write(PromptSubmitted(turn="t1", text="first prompt"))
    journal.close()
    assert [row.title for row in list_sessions(folders.sessions).rows] == ["first prompt"]
    rename_session(folders, NAME, "a title")
    rename_session(folders, NAME, "a better title")
    assert [(row.title, row.turns) for row in list_sessions(folders.sessions).rows] == [("a better title", 1)]
    rename_session(folders, NAME, "")
    assert [row.title for row in list_sessions(folders.sessions).rows] == ["first prompt"]


def test_a_session_that_is_open_elsewhere_is_not_renamed(tmp_path: Path) -> None:
    folders = project_folders(tmp_path, {"HOME": str(tmp_path)})
    claim = Claim(folders.live, NAME)
    with pytest.raises(SessionTakenError):
        rename_session(folders, NAME, "a title")
    claim.release()
    assert not (folders.sessions / f"{NAME}.jsonl").exists()


def test_a_session_in_which_nothing_happened_is_not_listed(tmp_path: Path) -> None:
    journal = Journal(tmp_path, EMPTY)
    journal.write(STARTED)
    journal.write(Notice("info", "hello"))
    journal.close()
    assert list_sessions(tmp_path).rows == ()
    with pytest.raises(NoSessionError):
        last_session(tmp_path)
    other = Journal(tmp_path, NAME)
    other.write(PromptSubmitted(turn="t1", text="first prompt"))
    other.close()
    (tmp_path / f"{EMPTY}.jsonl").touch()
    assert last_session(tmp_path).file.stem == NAME
    assert [row.name for row in list_sessions(tmp_path).rows] == [NAME]


async def test_a_session_in_which_nothing_happened_leaves_no_journal(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        journal = it.session.standing.journal
        await it.until(journal.exists, "the journal")
    assert not journal.exists()


async def test_a_session_with_a_prompt_leaves_its_journal(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        journal = it.session.standing.journal
    assert journal.exists()
