"""Whether ``spark doctor`` sees that nothing can be kept: on real file systems that are full in some way."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from session.setup.doctor_setup import examine_state
from tests.checkout import ROOT

LOOKS = """
import itertools, sys
from pathlib import Path
from session.setup.doctor_setup import examine_state
state, kind = Path(sys.argv[1], "state"), sys.argv[2]
state.mkdir()
try:
    for number in itertools.count():
        (state / str(number)).write_bytes(b"x" * 4096 if kind == "bytes" else b"")
except OSError:
    found = examine_state(state)
    print(found.well, found.found)
"""


@pytest.mark.parametrize(
    ("kind", "option", "why"),
    [
        ("inodes", "nr_inodes=60", "the file system has no free inodes: nothing new is kept in"),
        ("bytes", "size=64k", "No space left on device: nothing new is kept in"),
    ],
)
def test_a_file_system_without_room_is_told(tmp_path: Path, kind: str, option: str, why: str) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not installed")
    mount = f'mount -t tmpfs -o {option} none "$0" && exec "$@"'
    line = ["unshare", "-Urm", "sh", "-c", mount, str(tmp_path)]
    if subprocess.run([*line, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody mount")
    ran = subprocess.run(
        [*line, sys.executable, "-c", LOOKS, str(tmp_path), kind],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert ran.stdout.startswith(f"False {why}"), ran.stdout + ran.stderr


def test_a_state_folder_that_takes_files_is_well_and_keeps_nothing_of_the_try(tmp_path: Path) -> None:
    found = examine_state(tmp_path / "state")
    assert found.well and found.found == str(tmp_path / "state")
    assert not list((tmp_path / "state").iterdir())


def test_a_state_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("x", "utf-8")
    assert examine_state(tmp_path / "state").well is False
