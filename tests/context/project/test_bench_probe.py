"""The benchmark of the context says why there is nothing to measure, and counts no memory twice."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bench.context_bench import children
from tests.context.conftest import Repo


@pytest.mark.parametrize("what", ["first", "index"])
def test_a_project_of_which_git_lists_no_files_is_told(what: str, repo: Repo, tmp_path: Path) -> None:
    repo.write(".gitignore", "/*\n")
    repo.write("a.c", "int x;\n")
    given = [what, str(repo.root), str(tmp_path / "cache"), "why?", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.context_probe", *given],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"{repo.root}: there is nothing to read; git lists no files")


FORKS = """
import os, sys
if os.fork() == 0:
    print("forked", flush=True)
    sys.stdin.readline()
    os.execv(sys.executable, [sys.executable, "-c", "input()"])
os.wait()
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="memory is read from /proc")
def test_a_process_that_was_just_forked_is_not_counted_beside_its_parent() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        assert process.stdout.readline() == "forked\n"
        (forked,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children(process.pid) == []
        process.stdin.write("\n")
        process.stdin.flush()
        latest = time.monotonic() + 20
        while children(process.pid) != [int(forked)] and time.monotonic() < latest:
            time.sleep(0.01)
        assert children(process.pid) == [int(forked)]
        process.stdin.close()
