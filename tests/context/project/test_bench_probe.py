"""The benchmark of the context ends, and says why, where there is nothing to measure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
