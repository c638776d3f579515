"""No program that a repository names is run, however it is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from context.project.project import Project
from tests.context.disk.hostile_repositories import VECTORS, Vector, make

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="git is not installed: these tests are about git repositories"
)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
def test_opening_a_hostile_repository_runs_nothing(vector: Vector, tmp_path: Path) -> None:
    """Plain git runs the program in the same repository afterwards, so that there was something to run."""
    hostile = make(vector, tmp_path)
    project = Project(hostile.opened)
    project.scan()
    (hostile.opened / "a.txt").write_text("six\n")
    (hostile.opened / "added.py").write_text("added = 1\n")
    project.update(["a.txt", "added.py"])
    project.reconcile()
    project.close()
    assert not hostile.ran.exists(), hostile.ran.read_text()
    for command in vector.fires:
        hostile.plain_git(command)
    assert hostile.ran.exists() == bool(vector.fires)
