"""Repositories whose data lead elsewhere, never end, or are small and stand for far too much.

Each project opens; what cannot be used is named, and nothing of another repository becomes part of this one.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

import context.disk.git
import context.disk.git_process
from context.project.project import Project
from tests.context.conftest import Repo


def _other(repo: Repo) -> Path:
    """The git directory of another repository of the user, with a file that only it has."""
    root = repo.root.parent / "other"
    root.mkdir()
    Repo(root).commit(**{"private.py": "private = 1\n"})
    return root / ".git"


def _git_file(repo: Repo) -> None:
    other = _other(repo)
    shutil.rmtree(repo.root / ".git")
    repo.write(".git", f"gitdir: {other}\n")


def _git_link(repo: Repo) -> None:
    other = _other(repo)
    shutil.rmtree(repo.root / ".git")
    (repo.root / ".git").symlink_to(other)


def _others_work_tree(repo: Repo) -> None:
    other = _other(repo)
    linked = repo.root.parent / "linked"
    Repo(other.parent).git("worktree", "add", "-q", str(linked))
    shutil.rmtree(repo.root / ".git")
    repo.write(".git", (linked / ".git").read_bytes())


def _commondir(repo: Repo) -> None:
    repo.write(".git/commondir", f"{_other(repo)}\n")


def _linked_data(repo: Repo) -> None:
    other = _other(repo)
    for name in ("objects", "refs"):
        shutil.rmtree(repo.root / ".git" / name)
        (repo.root / ".git" / name).symlink_to(other / name)


def _bare(repo: Repo, *, says_so: bool = True) -> Path:
    """A bare repository of the user elsewhere, with a file that only it has."""
    other = _other(repo)
    bare = other.parent.parent / "other.git"
    Repo(other.parent).git("clone", "-q", "--bare", str(other), str(bare))
    if not says_so:
        Repo(other.parent).git("--git-dir", str(bare), "config", "--unset", "core.bare")
    return bare


def _file_to_a_bare_one(repo: Repo) -> None:
    bare = _bare(repo)
    shutil.rmtree(repo.root / ".git")
    repo.write(".git", f"gitdir: {bare}\n")


def _file_to_one_that_does_not_say_it_is_bare(repo: Repo) -> None:
    bare = _bare(repo, says_so=False)
    shutil.rmtree(repo.root / ".git")
    repo.write(".git", f"gitdir: {bare}\n")


def _link_to_a_bare_one(repo: Repo) -> None:
    bare = _bare(repo)
    shutil.rmtree(repo.root / ".git")
    (repo.root / ".git").symlink_to(bare)


def _data_of_a_bare_one(repo: Repo) -> None:
    bare = _bare(repo)
    for name in ("objects", "refs"):
        shutil.rmtree(repo.root / ".git" / name)
        (repo.root / ".git" / name).symlink_to(bare / name)
    (repo.root / ".git/packed-refs").symlink_to(bare / "packed-refs")


def _some_data_of_a_bare_one(repo: Repo) -> None:
    bare = _bare(repo)
    for name in ("objects/pack", "refs/heads"):
        shutil.rmtree(repo.root / ".git" / name)
        (repo.root / ".git" / name).symlink_to(bare / name)


def _linked_index(repo: Repo) -> None:
    (repo.root / ".git" / "index").unlink()
    (repo.root / ".git" / "index").symlink_to(_other(repo) / "index")


@pytest.mark.parametrize(
    "lead",
    [
        *(_git_file, _git_link, _others_work_tree, _commondir, _linked_data, _linked_index),
        *(_file_to_a_bare_one, _file_to_one_that_does_not_say_it_is_bare, _link_to_a_bare_one),
        *(_data_of_a_bare_one, _some_data_of_a_bare_one),
    ],
)
def test_the_repository_of_another_folder_is_not_that_of_the_project(
    repo: Repo, lead: Callable[[Repo], None]
) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    lead(repo)
    snapshot = Project(repo.root).scan()
    assert "a.py" in snapshot.entries and "private.py" not in {*snapshot.entries, *snapshot.changes}
    assert "is that of" in snapshot.notes[0] and "other" in snapshot.notes[0]


def test_a_separate_git_directory_and_a_moved_work_tree_are_used(repo: Repo) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    repo.git("worktree", "add", "-q", str(repo.root.parent / "linked"))
    (repo.root.parent / "linked").rename(repo.root.parent / "moved")
    assert not Project(repo.root.parent / "moved").scan().notes
    (repo.root.parent / "apart").mkdir()
    apart = Repo(repo.root.parent / "apart")
    apart.git("init", "-q", "--separate-git-dir", str(repo.root.parent / "kept.git"))
    apart.commit(**{"a.py": "a = 1\n"})
    snapshot = Project(apart.root).scan()
    assert not snapshot.notes and not snapshot.changes


def _object(repo: Repo, name: str) -> Path:
    found = repo.git("rev-parse", name).strip()
    return repo.root / ".git" / "objects" / found[:2] / found[2:]


@pytest.mark.parametrize(
    "file",
    [
        "refs/heads/main",
        "objects/info/commit-graph",
        "objects/pack/multi-pack-index",
        "HEAD^{tree}",
    ],
)
def test_a_named_pipe_among_the_data_is_named_and_waited_for_once(
    repo: Repo, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    pipe = _object(repo, file) if file.startswith("HEAD") else repo.root / ".git" / file
    pipe.unlink(missing_ok=True)
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    monkeypatch.setattr(context.disk.git, "_PATIENCE", 0.3)
    project = Project(repo.root)
    first = project.scan()
    assert "a.py" in first.entries and f"{pipe} is a named pipe" in first.notes[0]
    started: list[str] = []
    monkeypatch.setattr(context.disk.git.Git, "open", lambda root: started.append(str(root)))
    assert project.scan().notes == first.notes
    assert not started


@pytest.mark.parametrize("kind", ["pipe", "device", "long", "quoted", "chain"])
def test_a_list_of_other_folders_that_makes_no_sense_is_not_given_to_git(repo: Repo, kind: str) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    file = repo.root / ".git" / "objects" / "info" / "alternates"
    file.parent.mkdir(exist_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "device":
            file.symlink_to("/dev/zero")
        case "long":
            file.write_text("".join(f"/nowhere/{number}\n" for number in range(10_000)))
        case "quoted":
            file.write_text('"/nowhere"\n')
        case _:
            file.write_text("/nowhere\n" + "".join(f"/nowhere/{number}\n" for number in range(200)))
    snapshot = Project(repo.root).scan()
    assert "a.py" in snapshot.entries and "alternates" in snapshot.notes[0]


def test_folders_with_objects_that_name_each_other_are_read(repo: Repo) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    objects, other = repo.root / ".git" / "objects", repo.root.parent / "other"
    for folder, names in ((objects, other), (other, objects)):
        (folder / "info").mkdir(parents=True, exist_ok=True)
        (folder / "info" / "alternates").write_text(f"{names}\n")
    assert not Project(repo.root).scan().notes


def test_an_index_that_stands_for_gigabytes_of_names_is_given_up(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Version 4 of the format (gitformat-index) gives a name as the end that differs from the one before."""
    repo.commit(**{"a.py": "a = 1\n"})
    blob = bytes.fromhex(repo.git("rev-parse", "HEAD:a.py").strip())
    about = struct.pack(">10I", 1, 0, 1, 0, 0, 0, 0o100644, 0, 0, 6) + blob + struct.pack(">H", 0xFFF)
    entries = [about + b"\0" + b"/".join([b"d" * 200] * 18) + b"/0000000\0"]
    entries += [about + b"\x07%07d\0" % number for number in range(1, 10_000)]
    data = b"DIRC" + struct.pack(">2I", 4, len(entries)) + b"".join(entries)
    (repo.root / ".git" / "index").write_bytes(data + hashlib.sha1(data, usedforsecurity=False).digest())
    monkeypatch.setattr(context.disk.git_process, "MOST_OUTPUT", 10_000_000)
    snapshot = Project(repo.root).scan()
    assert list(snapshot.entries) == ["a.py"] and "printed more than" in snapshot.notes[0]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="memory is limited on Linux only")
def test_a_reference_without_end_takes_no_memory_without_end(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    (repo.root / ".git" / "refs" / "heads" / "main").unlink()
    (repo.root / ".git" / "refs" / "heads" / "main").symlink_to("/dev/zero")
    monkeypatch.setattr(context.disk.git_process, "MOST_MEMORY", 200_000_000)
    snapshot = Project(repo.root).scan()
    assert "a.py" in snapshot.entries and "memory" in snapshot.notes[0].lower()


@pytest.mark.parametrize("part", [b"\x1b]0;evil\x07", b"\xe2\x80\xae", b"x" * 1_000_000])
def test_a_message_and_an_author_of_any_kind_are_no_part_of_the_project(repo: Repo, part: bytes) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    tree = repo.git("rev-parse", "HEAD^{tree}").strip().encode()
    who = b"%b <a@example.org> 1 +0000" % part
    body = b"tree %b\nauthor %b\ncommitter %b\n\n%b\n" % (tree, who, who, part)
    data = b"commit %d\0%b" % (len(body), body)
    name = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    (repo.root / ".git" / "objects" / name[:2]).mkdir(exist_ok=True)
    (repo.root / ".git" / "objects" / name[:2] / name[2:]).write_bytes(zlib.compress(data))
    repo.write(".git/refs/heads/main", f"{name}\n")
    snapshot = Project(repo.root).scan()
    assert list(snapshot.entries) == ["a.py"] and not snapshot.notes and not snapshot.changes


@pytest.mark.parametrize("file", ["shallow", "packed-refs", "info/grafts"])
def test_nonsense_in_a_file_of_the_repository_leaves_the_project_open(repo: Repo, file: str) -> None:
    repo.commit(**{"a.py": "a = 1\n"})
    repo.write(f".git/{file}", b"\x00\xff nonsense \x1b[2J\n" * 1_000)
    snapshot = Project(repo.root).scan()
    assert list(snapshot.entries) == ["a.py"]
    assert not any("\x1b" in note for note in snapshot.notes)
