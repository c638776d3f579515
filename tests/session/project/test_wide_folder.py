"""Folders that are not one project are read only once the user wants that."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.base.events import ReadingHeld
from session.project.indexing import MANY, why_wide
from tests.tui.stage import stage


def test_the_root_the_home_folder_and_what_holds_it_are_wide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "people" / "me"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert "root of the file system" in why_wide(Path("/"))
    assert "is your home folder" in why_wide(home)
    assert "home folder is in" in why_wide(tmp_path)
    (home / "project").mkdir()
    assert why_wide(home / "project") == ""


@pytest.mark.parametrize("below", ["", "group"])
def test_a_folder_of_many_repositories_is_wide_and_a_repository_with_submodules_is_not(
    tmp_path: Path, below: str
) -> None:
    for number in range(MANY):
        assert why_wide(tmp_path) == ""
        (tmp_path / below / f"repo{number}" / ".git").mkdir(parents=True)
    assert "repositories" in why_wide(tmp_path)
    (tmp_path / ".git").mkdir()
    assert why_wide(tmp_path) == ""


async def test_the_home_folder_is_read_after_a_yes_and_at_once_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "project"))
    async with stage(tmp_path) as it:
        await it.until(lambda: "your home folder: read and index all of it?" in it.screen, "the question")
        assert it.session.files.list() == ()
        await it.ask("just talk")
        await it.done()
        assert "The end of the talk." in it.chat
        await it.answer("n")
        await it.until(lambda: "/index reads it after all" in it.screen, "what it is without")
        assert it.session.files.list() == ()
    async with stage(tmp_path) as it:
        await it.answer("y")
        await it.until(lambda: "greeter.py" in it.session.files.list(), "the files")
        await it.pilot.press(*"/index", "enter")
        await it.until(lambda: "read already" in it.screen, "that it is done")
    async with stage(tmp_path) as it:
        await it.until(lambda: "greeter.py" in it.session.files.list(), "the files")
        assert it.app.panes.held.question is None


async def test_the_command_reads_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "project"))
    async with stage(tmp_path) as it:
        await it.until(lambda: "index all of it?" in it.screen, "the question")
        await it.pilot.press(*"/index", "enter")
        await it.until(lambda: "greeter.py" in it.session.files.list(), "the files")
        await it.until(lambda: it.app.panes.held.question is None, "no question any more")
        assert not [event for event in it.session.past() if isinstance(event, ReadingHeld)]
