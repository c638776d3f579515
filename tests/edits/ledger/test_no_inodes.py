"""A file system without room for another file: a hunk lands whole or is refused, and can be undone later."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

MOUNT = 'mount -t tmpfs -o nr_inodes=200 none "$0" && exec "$@"'


def test_without_room_for_files_hunks_land_whole_or_not_at_all(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    line = ["unshare", "-Urm", "sh", "-c", MOUNT, str(tmp_path)]
    if subprocess.run([*line, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount")
    tried = [*line, sys.executable, "-m", "tests.edits.ledger.inode_victim", str(tmp_path)]
    ran = subprocess.run(tried, capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = [tuple(each.split()) for each in ran.stdout.splitlines()]
    assert {kind for kind, left, end in told if left == "0" and end == "refused"}
    assert {kind for kind, _, end in told if end == "landed"} == {kind for kind, _, _ in told}
