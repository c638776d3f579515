"""Sandboxes that are copies: where the system refuses namespaces."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from session.base.storage.folders import state_folder
from session.checks.sandbox import fenced_copy
from session.checks.sandbox.command import End
from session.checks.sandbox.fenced_copy import CopySandbox, TooLarge
from session.checks.sandbox.sandbox import Sandboxes
from tests.session.checks.sandbox.shell import a_copy, has_bubblewrap, needs_landlock, shell


def copied(project: Path) -> CopySandbox:
    sandbox = a_copy(project)
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


async def test_a_hanging_command_in_a_copy_is_ended(project: Path) -> None:
    sandbox = copied(project)
    ran = await shell(sandbox)("setsid sleep 60 & sleep 60", seconds=0.3)
    assert ran.outcome.end is End.TIME
    await sandbox.remove()


async def test_a_project_that_is_too_large_is_not_copied(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fenced_copy, "MOST_FILES", 1)
    sandbox = a_copy(project)
    with pytest.raises(TooLarge, match="2 files are too many to copy"):
        sandbox.fill()
    await sandbox.remove()


async def test_a_project_of_too_many_bytes_is_not_copied(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fenced_copy, "MOST_BYTES", 2_000_000_000)
    with (project / "dump").open("wb") as file:
        file.truncate(3_000_000_000)  # no block of it is written
    sandbox = a_copy(project)
    with pytest.raises(TooLarge, match=r"3\.0 GB are too much to copy; at most 2\.0 GB are"):
        sandbox.fill()
    await sandbox.remove()


REFUSED = """
import asyncio, os, sys
from pathlib import Path
from session.checks.sandbox import fenced_copy, kernel
from session.checks.sandbox.command import Command
from session.checks.sandbox.sandbox import Sandboxes

async def main(most_files: int) -> None:
    sandboxes = Sandboxes(Path(sys.argv[1]), os.environ)
    fenced_copy.MOST_FILES = most_files
    for _ in range(2):
        sandbox = await sandboxes.make()
        await sandbox.put({"new.txt": b"put in\\n", "notes.md": None})
        line = "cat new.txt; ls notes.md; echo changed > app.py; exit 3"
        output = bytearray()
        command = Command(["/bin/sh", "-c", line], 60.0, dict(os.environ))
        try:
            ended = await sandbox.run(command, lambda piece: output.extend(piece) is None)
        finally:
            await sandbox.remove()
        print(ended.code, output.splitlines()[0].decode(), sandbox.note.split(":")[0])

user, group = os.getuid(), os.getgid()
kernel.unshare(kernel.NEW_USER)
kernel.map_own_user(user, group)
Path("/proc/sys/user/max_user_namespaces").write_text("0")
for given in sys.argv[2:]:
    try:
        asyncio.run(main(int(given)))
    except Exception as problem:
        print(type(problem).__name__, problem)
"""


def refused(project: Path, *most_files: int) -> list[str]:
    """What is said of sandboxes where the kernel allows no namespaces."""
    line = [sys.executable, "-c", REFUSED, str(project), *map(str, most_files)]
    ran = subprocess.run(line, capture_output=True, text=True, check=True, cwd=Path.cwd())
    return ran.stdout.splitlines()


@needs_landlock
def test_where_the_system_refuses_namespaces_the_first_command_runs_in_a_copy(project: Path) -> None:
    before = (project / "app.py").read_text()
    note = (
        "a copy within bubblewrap (unshare"
        if has_bubblewrap()
        else "a copy behind a fence, without sockets (unshare"
    )
    *copied, too_large = refused(project, 100, 1)
    assert copied == [f"3 put in {note}"] * 2
    assert too_large == (
        "SandboxRefused unshare: the system allows no more namespaces, "
        "and 2 files are too many to copy; at most 1 are"
    )
    assert (project / "app.py").read_text() == before and (project / "notes.md").exists()
    assert not (project / "new.txt").exists()
    assert list((state_folder() / "sandboxes").iterdir()) == []


async def test_a_project_that_contains_sparks_own_folders_is_copied(own_folders: Path) -> None:
    (own_folders / "notes").write_text("in the home folder")
    (own_folders / ".gitignore").write_text("state/\ncache/\nconfig/\n")
    sandbox = await Sandboxes(own_folders, os.environ, lambda: True).make()
    assert isinstance(sandbox, CopySandbox)
    ran = await shell(sandbox)("cat notes")
    assert ran.output == "in the home folder" and "spark's own folders" in sandbox.note
    await sandbox.remove()
