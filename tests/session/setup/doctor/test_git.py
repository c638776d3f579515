"""What ``spark doctor`` says of git: of the repository around a folder, and of one that git cannot read."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from session.setup.doctor_setup import examine_git


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.txt").write_text("one\n")
    for line in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *line], cwd=folder, check=True)
    return folder


def test_a_folder_below_the_repositorys_own_is_in_it(root: Path, tmp_path: Path) -> None:
    assert examine_git(root)[0] == "a git repository"
    assert examine_git(root / "src")[0] == "in a git repository"
    kept, git = examine_git(tmp_path)
    assert kept == "no git repository" and git.well


@pytest.mark.parametrize("file", ["HEAD", "index"])
def test_a_repository_that_git_cannot_read_is_told(root: Path, file: str) -> None:
    (root / ".git" / file).write_text("garbage")
    _, git = examine_git(root)
    assert git.well is False
    assert str(root / ".git") in git.found and git.found.endswith("changed files are found by their content")
