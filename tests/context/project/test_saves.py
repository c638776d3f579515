"""A save asks git as little as possible, and a damaged segment is replaced while a project is open."""

from __future__ import annotations

from pathlib import Path

from context.project.project import Project
from tests.context.conftest import Repo


def test_git_is_asked_about_the_first_save_and_its_reversal_only(repo: Repo, git_asked: list[str]) -> None:
    before = "def first(): ...\n"
    repo.commit(**{"a.py": before})
    project = Project(repo.root)
    project.scan()
    git_asked.clear()
    repo.write("a.py", before + "x = 1\n")
    assert "a.py" in project.update(["a.py"]).changes
    assert "status" in git_asked
    git_asked.clear()
    for number in range(3):
        repo.write("a.py", before + f"x = {number + 2}\n")
        assert "a.py" in project.update(["a.py"]).changes
    assert git_asked == []
    repo.write("a.py", before)
    assert not project.update(["a.py"]).changes
    assert "status" in git_asked


def test_a_segment_that_is_cut_short_is_read_anew(repo: Repo, tmp_path: Path) -> None:
    repo.commit(**{f"m{number}.py": f"def at_{number}(): ...\n" for number in range(20)})
    cold = Project(repo.root, tmp_path / "cache")
    cold.scan()
    cold.close()
    project = Project(repo.root, tmp_path / "cache")
    project.scan()
    (segment,) = (tmp_path / "cache").glob("*/*.segment")
    with segment.open("r+b") as file:
        file.truncate(64)
    assert project.snapshot.entries.outline("m3.py") == ""
    mended = project.reconcile()
    assert mended.complete and mended.entries["m3.py"].outline == "def at_3()\n"
    assert mended.words.score({"at_7": 1.0}).keys() == {"m7.py"}
    project.close()
    assert Project(repo.root, tmp_path / "cache").scan().entries["m3.py"].names == {"at_3"}
