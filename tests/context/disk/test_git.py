from __future__ import annotations

import os
from pathlib import Path

import pytest

from context.disk.changes import git_changes
from context.disk.git import Git, GitUnavailable
from context.disk.programs import find_program
from context.project.project import Project
from tests.context.conftest import Repo


def test_nothing_the_repository_configures_is_run(repo: Repo) -> None:
    trap = repo.root.parent / "ran"
    program = repo.root / "trap.sh"
    program.write_text(f"#!/bin/sh\necho $0 $@ >> {trap}\ncat\n")
    program.chmod(0o755)
    repo.write(".gitattributes", "*.py filter=evil diff=evil\n*.js filter=slow\n")
    repo.commit(**{"a.py": "a = 1\n", "b.js": "let b\n"})
    for key in (
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.slow.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.pager",
        "core.sshCommand",
    ):
        repo.git("config", key, str(program))
    repo.git("config", "filter.evil.required", "true")
    hooks = repo.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "post-index-change").write_text(program.read_text())
    (hooks / "post-index-change").chmod(0o755)
    repo.write("a.py", "a = 2\n")
    repo.write("b.js", "let c\n")
    os.utime(repo.root / "trap.sh", (1, 1))
    snapshot = Project(repo.root).scan()
    assert {"a.py", "b.js"} <= snapshot.changes.keys()
    Project(repo.root).update(["a.py"])
    assert not trap.exists(), trap.read_text()


def test_variables_that_redirect_git_are_not_followed(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    assert Git.open(repo.root).prefix == ""


def test_not_a_repository_is_expected(tmp_path: Path) -> None:
    with pytest.raises(GitUnavailable) as caught:
        Git.open(tmp_path)
    assert caught.value.expected


def test_git_not_installed_is_said(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(**{"a.py": "def a(): pass\n"})
    monkeypatch.setenv("PATH", str(repo.root / "empty"))
    snapshot = Project(repo.root).scan()
    assert not snapshot.git and "a.py" in snapshot.entries
    assert snapshot.notes == ("git is not installed; without git, changes are found by comparing contents",)


def test_a_damaged_repository_is_said(repo: Repo) -> None:
    repo.commit(**{"a.py": "def a(): pass\n"})
    repo.write(".git/HEAD", "garbage")
    snapshot = Project(repo.root).scan()
    assert "a.py" in snapshot.entries
    assert f"git finds no repository in {repo.root / '.git'}: it is damaged" in snapshot.notes[0]


def test_another_owner_is_said_with_what_allows_it(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give files away")
    monkeypatch.setenv("HOME", str(repo.root.parent))
    for folder in (repo.root, repo.root / ".git"):
        os.chown(folder, 12_345, 12_345)
    with pytest.raises(GitUnavailable, match=rf"safe\.directory {repo.root} allows it"):
        Git.open(repo.root)


def test_folders_of_the_search_path_that_cannot_be_looked_into_are_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    monkeypatch.setenv("PATH", os.pathsep.join((str(loop), "x" * 5_000, os.environ["PATH"])))
    assert find_program("git", tmp_path) is not None


def test_a_broken_index_is_said_and_the_files_are_there(repo: Repo) -> None:
    repo.commit(**{"a.py": "def a(): pass\n"})
    repo.write(".git/index", b"garbage")
    snapshot = Project(repo.root).scan()
    assert "a.py" in snapshot.entries and snapshot.notes


def test_blobs_are_read_in_one_go_and_large_ones_left(repo: Repo) -> None:
    repo.commit(a="one\n", b="two\n\nthree", c="x" * 5000)
    names = {line.split()[3]: line.split()[2] for line in repo.git("ls-tree", "HEAD").splitlines()}
    blobs = Git.open(repo.root).blobs([names["a"], names["b"], names["c"], "0" * 40], 1000)
    assert blobs == {names["a"]: b"one\n", names["b"]: b"two\n\nthree"}


def test_a_folder_inside_a_repository_sees_itself(repo: Repo) -> None:
    repo.commit(**{"top.py": "t = 1\n", "sub/a.py": "a = 1\n"})
    repo.write("top.py", "t = 2\n")
    repo.write("sub/a.py", "a = 2\n")
    snapshot = Project(repo.root / "sub").scan()
    assert snapshot.paths == ("a.py",)
    assert list(snapshot.changes) == ["a.py"]
    assert git_changes(Git.open(repo.root / "sub")).keys() == {"a.py"}
