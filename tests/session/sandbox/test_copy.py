"""Sandboxes that are copies: where the system refuses namespaces."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from session.sandbox import copy
from session.sandbox.box import Box
from session.sandbox.copy import CopySandbox, TooLarge
from session.sandbox.result import End
from session.sandbox.sandbox import Sandboxes
from session.storage.folders import state_folder
from tests.session.sandbox.shell import shell


def copied(project: Path) -> CopySandbox:
    sandbox = CopySandbox(project, Box(state_folder() / "sandboxes"), "for the test")
    sandbox.fill()
    return sandbox


async def test_a_copy_holds_what_git_would_list_and_links_what_it_ignores(project: Path) -> None:
    (project / ".gitignore").write_text("node_modules/\n")
    (project / "node_modules" / "left-pad").mkdir(parents=True)
    (project / "app.py").write_text("print('not committed')\n")
    (project / "new file").write_text("untracked")
    (project / "link").symlink_to("app.py")
    (project / "run").write_text("#!/bin/sh\necho ran\n")
    (project / "run").chmod(0o755)
    (project / "notes.md").unlink()
    sandbox = copied(project)
    ran = await shell(sandbox)("cat link; cat 'new file'; ./run; ls node_modules; ls .git notes.md; pwd")
    assert ran.output.startswith("print('not committed')\nuntrackedran\nleft-pad\n")
    assert "notes.md" in ran.output and str(sandbox.root) in ran.output
    assert not (sandbox.root / ".git").exists()
    assert stat.S_IMODE((sandbox.root / "run").stat().st_mode) == 0o755
    await sandbox.remove()


async def test_what_is_written_to_a_copy_does_not_reach_the_project(project: Path) -> None:
    before = (project / "app.py").read_text()
    sandbox = copied(project)
    ran = await shell(sandbox)("echo changed > app.py; rm notes.md; exit 3")
    assert (ran.outcome.end, ran.outcome.code) == (End.EXIT, 3)
    assert (project / "app.py").read_text() == before and (project / "notes.md").exists()
    await sandbox.remove()
    assert not sandbox.root.exists()


async def test_a_copy_says_that_it_has_no_walls(project: Path) -> None:
    sandbox = copied(project)
    assert "for the test" in sandbox.note and "network" in sandbox.note
    await sandbox.remove()


async def test_a_hanging_command_in_a_copy_is_ended(project: Path) -> None:
    sandbox = copied(project)
    ran = await shell(sandbox)("setsid sleep 60 & sleep 60", seconds=0.3)
    assert ran.outcome.end is End.TIME
    await sandbox.remove()


async def test_a_project_that_is_too_large_is_not_copied(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy, "MOST_FILES", 1)
    sandbox = CopySandbox(project, Box(state_folder() / "sandboxes"), "for the test")
    with pytest.raises(TooLarge, match="2 files are too many to copy"):
        sandbox.fill()
    await sandbox.remove()


async def test_a_project_that_contains_sparks_own_folders_is_copied(own_folders: Path) -> None:
    (own_folders / "notes").write_text("in the home folder")
    (own_folders / ".gitignore").write_text("state/\ncache/\nconfig/\n")
    sandbox = await Sandboxes(own_folders, os.environ).make()
    assert isinstance(sandbox, CopySandbox) and "spark's own folders" in sandbox.note
    ran = await shell(sandbox)("cat notes")
    assert ran.output == "in the home folder"
    await sandbox.remove()
