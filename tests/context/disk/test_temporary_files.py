"""An edit that is just being written is no file of the project's."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from context.disk.file_list import in_the_making
from context.project.project import Project
from edits.files.durable import new_token, temporary_name


@pytest.mark.parametrize("name", ["app.py", "設定" * 40, "n" * 255])
def test_the_name_is_the_one_that_edits_give(name: str) -> None:
    assert in_the_making(f"src/{temporary_name(name, new_token())}")


OTHERS = ["app.py", ".app.spark", "notes.spark", "src/.h1-2.spark/app.py", ".a.h1-2.spark", ".a.new.spark"]


@pytest.mark.parametrize("path", OTHERS)
def test_other_names_are_files_like_any(path: str) -> None:
    assert not in_the_making(path)


@pytest.mark.parametrize("in_git", [True, False])
def test_it_is_neither_listed_nor_changed(tmp_path: Path, in_git: bool) -> None:
    if in_git:
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    (tmp_path / "app.py").write_text("one = 1\n")
    project = Project(tmp_path)
    project.scan()
    temporary = tmp_path / temporary_name("app.py", new_token())
    temporary.write_text("two = 2\n")
    for snapshot in (project.update([temporary.name]), project.scan()):
        assert snapshot.paths == ("app.py",)
        assert temporary.name not in snapshot.changes and temporary.name not in snapshot.entries
