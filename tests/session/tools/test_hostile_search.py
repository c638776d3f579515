"""Searching a hostile repository with git runs nothing that the repository names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from session.tools.search import Query, search
from tests.context.disk.hostile_repositories import VECTORS, Vector, make


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.name)
async def test_git_grep_in_a_hostile_repository_runs_nothing(
    vector: Vector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = shutil.which("git")
    if program is None:
        pytest.skip("git is not installed: this test is about git repositories")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "git").symlink_to(program)
    base = tmp_path / "base"
    base.mkdir()
    hostile = make(vector, base)
    monkeypatch.setenv("PATH", str(folder))
    places = await search(Query("needle"), hostile.opened, ("b.py", "new.py"), git=True)
    assert not places.broken and not hostile.ran.exists()
