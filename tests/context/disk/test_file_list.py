from __future__ import annotations

import os
from pathlib import Path

import pytest

from context.disk.file_list import list_git, list_walk
from context.disk.git import Git
from tests.context.conftest import Repo

FILES = {
    ".gitignore": "*.log\n/build/\nnode_modules\n!keep.log\n",
    "a.py": "a",
    "x.log": "x",
    "keep.log": "k",
    "build/out.o": "o",
    "sub/build/in.py": "i",
    "sub/.gitignore": "local.txt\n!x.log\n",
    "sub/local.txt": "l",
    "sub/x.log": "x",
    "sub/node_modules/dep/index.js": "d",
}
LISTED = (".gitignore", "a.py", "keep.log", "sub/.gitignore", "sub/build/in.py", "sub/x.log")


def test_the_walk_lists_what_git_lists(repo: Repo) -> None:
    for path, text in FILES.items():
        repo.write(path, text)
    by_git, by_walk = list_git(Git.open(repo.root)), list_walk(repo.root)
    assert by_git.files == by_walk.files == LISTED
    assert {"build", "sub/node_modules"} <= by_git.ignored
    assert {"build", "sub/node_modules", ".git"} <= by_walk.ignored


@pytest.mark.parametrize("rule", ["*a" * 40 + "b", "**/*a" * 40 + "b", "**/a/" * 40 + "b", "[" * 2_000])
def test_no_ignore_rule_takes_exponential_time(tmp_path: Path, rule: str) -> None:
    folder = tmp_path / Path(*["a"] * 60)
    folder.mkdir(parents=True)
    (folder / ("a" * 200)).touch()
    (tmp_path / "x.log").touch()
    (tmp_path / ".gitignore").write_text(f"{rule}\n**/*.l*g\n")
    assert list_walk(tmp_path).files == (".gitignore", f"{'a/' * 60}{'a' * 200}")


def test_circular_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "f.py").write_text("f")
    (tmp_path / "a" / "up").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    assert list_walk(tmp_path).files == ("a/f.py", "a/up", "self")


def test_a_folder_that_cannot_be_listed_is_reported(tmp_path: Path) -> None:
    # A folder that is gone when its turn comes stands for any that cannot be listed: root may list all.
    (tmp_path / "f").write_text("f")
    assert list_walk(tmp_path / "missing").unread.keys() == {"."}


def test_nested_repositories_are_left_out(repo: Repo) -> None:
    repo.commit(**{"a.py": "a"})
    inner = repo.root / "vendor" / "inner"
    inner.mkdir(parents=True)
    Repo(inner).commit(**{"b.py": "b"})
    listing = list_git(Git.open(repo.root))
    assert listing.files == ("a.py",)
    assert listing.unread == {"vendor/inner": "a folder with a repository of its own"}


def test_names_that_are_not_utf8_are_listed(tmp_path: Path) -> None:
    odd = os.fsdecode(b"\xff\nname")
    (tmp_path / odd).write_text("o")
    assert list_walk(tmp_path).files == (odd,)
    Repo(tmp_path)
    assert list_git(Git.open(tmp_path)).files == (odd,)
