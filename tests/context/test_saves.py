"""What a save costs: git is asked only where it alone can tell."""

from __future__ import annotations

import pytest

from context.git import Git
from context.project import Project
from tests.context.conftest import Repo


def test_git_is_asked_of_the_first_save_and_of_one_that_takes_it_back(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = "def first(): ...\n"
    repo.commit(**{"a.py": before})
    project = Project(repo.root)
    project.scan()
    asked: list[str] = []
    run = Git.run

    def counted(self: Git, *arguments: str, stdin: bytes = b"") -> bytes:
        asked.append(arguments[0])
        return run(self, *arguments, stdin=stdin)

    monkeypatch.setattr(Git, "run", counted)
    repo.write("a.py", before + "x = 1\n")
    assert "a.py" in project.update(["a.py"]).changes
    assert "status" in asked
    asked.clear()
    for number in range(3):
        repo.write("a.py", before + f"x = {number + 2}\n")
        assert "a.py" in project.update(["a.py"]).changes
    assert asked == []
    repo.write("a.py", before)
    assert not project.update(["a.py"]).changes
    assert "status" in asked
