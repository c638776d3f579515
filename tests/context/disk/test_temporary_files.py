"""The temporary file of an edit is not a file of the project."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from context.disk.file_list import is_temporary
from context.project.project import Project
from edits.files.durable import new_token, temporary_name


@pytest.mark.parametrize("name", ["app.py", "設定" * 40, "n" * 255])
def test_the_temporary_names_of_edits_are_recognised(name: str) -> None:
    assert is_temporary(f"src/{temporary_name(name, new_token())}")


OTHERS = ["app.py", ".app.spark", "notes.spark", "src/.h1-2.spark/app.py", ".a.h1-2.spark", ".a.new.spark"]


@pytest.mark.parametrize("path", OTHERS)
def test_similar_names_are_ordinary_files(path: str) -> None:
    assert not is_temporary(path)


@pytest.mark.parametrize("in_git", [True, False])
def test_temporary_files_are_neither_listed_nor_changed(tmp_path: Path, in_git: bool) -> None:
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
