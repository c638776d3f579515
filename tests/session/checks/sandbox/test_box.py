"""The folders of sandboxes: private, held while in use, removed whatever a command left in them."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from session.base.storage.folders import state_folder
from session.checks.sandbox import sandbox_folder
from session.checks.sandbox.sandbox import Sandboxes
from session.checks.sandbox.sandbox_folder import Box, remove_leftovers

HOLD = """
import sys, time
from pathlib import Path
from session.checks.sandbox.sandbox_folder import Box
box = Box(Path(sys.argv[1]))
(box.path / "written").write_text("x")
print(box.path, flush=True)
time.sleep(60)
"""


def test_a_box_is_private_and_goes_with_everything_in_it(tmp_path: Path) -> None:
    box = Box(tmp_path / "boxes")
    assert stat.S_IMODE(box.path.stat().st_mode) == 0o700
    shut = box.path / "a" / "shut"
    shut.mkdir(parents=True)
    (shut / "file").write_text("x")
    (box.path / "link").symlink_to(tmp_path)
    (tmp_path / "outside").write_text("stays")
    shut.chmod(0)
    box.path.joinpath("a").chmod(0o500)
    box.remove()
    assert not box.path.exists() and (tmp_path / "outside").read_text() == "stays"


def test_a_box_in_use_stays_and_that_of_a_killed_process_goes(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    assert holder.stdout is not None
    path = Path(holder.stdout.readline().strip())
    try:
        assert remove_leftovers(tmp_path) == 0 and path.exists()
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        holder.stdout.close()
    assert remove_leftovers(tmp_path) == 1 and not path.exists()


async def test_the_next_sandbox_removes_what_a_killed_process_left(project: Path) -> None:
    parent = state_folder() / "sandboxes"
    left = Box(parent)
    os.close(left._lock)  # as the kernel does for a killed process
    sandbox = await Sandboxes(project, os.environ).make()
    while left.path.exists():
        await asyncio.sleep(0.01)
    await sandbox.remove()
    assert list(parent.iterdir()) == []


@pytest.mark.parametrize("lost", [4, 5])
def test_a_folder_that_is_taken_for_a_leftover_is_made_again_five_times_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    locked, tries = sandbox_folder._locked, iter(range(9))

    def lose(lock: Path) -> int:
        if next(tries) < lost:
            raise FileNotFoundError(lock)
        return locked(lock)

    monkeypatch.setattr(sandbox_folder, "_locked", lose)
    if lost == 5:
        with pytest.raises(FileNotFoundError):
            Box(tmp_path)
    else:
        Box(tmp_path).remove()
    assert next(tries) == 5
