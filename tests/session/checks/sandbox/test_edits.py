"""Files that are put into a sandbox: commands see them, and the project never does."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from session.base.storage.folders import state_folder
from session.checks.sandbox.sandbox import WRITTEN, Sandbox, Sandboxes
from tests.session.checks.sandbox.shell import a_copy, shell

EDITS: Mapping[str, bytes | None] = {
    "app.py": b"print('changed')\n",
    "new/deep/file.txt": b"new\n",
    "run": b"#!/bin/sh\necho changed\n",
    "old.txt": None,
    "never/there": None,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "app.py").write_text("print('as it is')\n")
    (folder / "run").write_text("#!/bin/sh\necho as it is\n")
    (folder / "run").chmod(0o750)
    (folder / "old.txt").write_text("old\n")
    return folder


@pytest.fixture(params=["overlay", "copy"])
async def sandbox(root: Path, request: pytest.FixtureRequest) -> Sandbox:
    if request.param == "copy":
        copy = a_copy(root)
        copy.fill()
        return copy
    made = await Sandboxes(root, os.environ).make()
    await shell(made)("true")
    if made.note:
        pytest.skip(f"this system makes no overlays in namespaces: {made.note}")
    return made


async def test_a_command_sees_the_edits_and_the_project_does_not(root: Path, sandbox: Sandbox) -> None:
    before = {path.name: path.read_bytes() for path in root.iterdir()}
    await sandbox.put(EDITS)
    ran = await shell(sandbox)("cat app.py new/deep/file.txt; ./run; stat -c %a run; ls")
    assert ran.output.split("\n")[:4] == ["print('changed')", "new", "changed", "750"]
    assert ran.output.split("\n")[4:-1] == ["app.py", "new", "run"]
    assert {path.name: path.read_bytes() for path in root.iterdir()} == before
    await sandbox.remove()


async def test_an_overlay_holds_the_changed_files_only(root: Path) -> None:
    (root / "large.bin").write_bytes(b"x" * 5_000_000)
    made = await Sandboxes(root, os.environ).make()
    await made.put({"app.py": b"put in\n", "old.txt": None})
    ran = await shell(made)("cat app.py; echo by the command > made; wc -c < large.bin; rm large.bin")
    if made.note:
        pytest.skip(f"this system makes no overlays in namespaces: {made.note}")
    assert ran.output.split() == ["put", "in", "5000000"]
    (box,) = (state_folder() / "sandboxes").iterdir()
    written = {path.name: path.lstat().st_size for path in (box / WRITTEN).iterdir() if path.is_file()}
    assert written == {"app.py": 7, "made": 15}
    assert sum(path.lstat().st_blocks * 512 for path in box.rglob("*") if path.is_file()) < 100_000
    await made.remove()
    assert (root / "large.bin").exists() and not box.exists()


async def test_later_edits_replace_earlier_ones_and_what_a_command_wrote(
    root: Path, sandbox: Sandbox
) -> None:
    await sandbox.put(EDITS)
    await shell(sandbox)("echo by the command > app.py; rm run")
    await sandbox.put({"old.txt": b"again\n", "app.py": b"last\n", "new/deep/file.txt": None})
    ran = await shell(sandbox)("cat app.py old.txt; ls new/deep run 2>&1")
    assert ran.output.startswith("last\nagain\n") and "file.txt" not in ran.output
    await sandbox.remove()


async def test_edits_never_go_through_a_link_out_of_the_sandbox(tmp_path: Path, root: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    sandbox = a_copy(root)
    sandbox.fill()
    (sandbox.root / "linked").symlink_to(outside)
    (sandbox.root / "file").symlink_to(outside / "kept")
    await sandbox.put({"linked/kept": None, "linked/new": b"new", "file": b"written"})
    assert sorted(path.name for path in outside.iterdir()) == ["kept"]
    assert (outside / "kept").read_text() == "kept"
    assert stat.S_ISREG((sandbox.root / "file").lstat().st_mode)
    await sandbox.remove()
