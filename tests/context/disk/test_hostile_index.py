"""An index with names that git never writes, and reads without a question.

They lead out of the project, or into the repository's own folder. A repository in an archive has its index.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import pytest

from context.disk.file_list import list_git, listed_by_git
from context.disk.git import Git
from context.disk.git_changes import git_changes
from context.disk.source import Source, Unread, read
from context.project.project import Project
from tests.context.conftest import Repo

NEEDLE = "what is outside of the project"
NAMES = (
    "../secret.txt",
    "sub/../../secret.txt",
    "./a.py",
    "sub//b.py",
    "/etc/passwd",
    ".git/config",
    ".GIT/config",
    "sub/.git/config",
    "..",
    "sub/..",
    ".git",
)


def write_index(repo: Repo, *names: str) -> None:
    """Write an index (format: gitformat-index, version 2) with these names, all of one content."""
    repo.write("blob", "hello\n")
    blob = bytes.fromhex(repo.git("hash-object", "-w", "blob").strip())
    (repo.root / "blob").unlink()
    entries = b""
    for name in sorted(name.encode() for name in names):
        entry = struct.pack(">10I", 1, 0, 1, 0, 0, 0, 0o100644, 0, 0, 6) + blob
        entry += struct.pack(">H", len(name)) + name
        entries += entry + b"\0" * (8 - len(entry) % 8)
    data = b"DIRC" + struct.pack(">2I", 2, len(names)) + entries
    (repo.root / ".git" / "index").write_bytes(data + hashlib.sha1(data, usedforsecurity=False).digest())


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_the_index_that_leads_elsewhere_is_no_file(repo: Repo, name: str) -> None:
    (repo.root.parent / "secret.txt").write_text(NEEDLE, "utf-8")
    repo.commit(**{"a.py": "a = 1\n", "sub/b.py": "b = 1\n"})
    write_index(repo, "a.py", "sub/b.py", name)
    git = Git.open(repo.root)
    assert set(list_git(git).files) == {"a.py", "sub/b.py"}
    assert git_changes(git).keys() <= {"a.py", "sub/b.py"}
    assert listed_by_git(git, {"a.py"}) <= {"a.py"}
    project = Project(repo.root, repo.root.parent / "cache")
    project.scan()
    texts = [read(repo.root, path) for path in project.snapshot.paths]
    assert not any(isinstance(text, Source) and NEEDLE in text.text for text in texts)


@pytest.mark.parametrize(
    "path", ["../secret.txt", "sub/../../secret.txt", "..", "sub/../a.py", "./a.py", "//a.py"]
)
def test_a_path_with_steps_is_not_read(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text(NEEDLE, "utf-8")
    (tmp_path / "project" / "sub").mkdir(parents=True)
    (tmp_path / "project" / "a.py").write_text("a\n", "utf-8")
    assert isinstance(read(tmp_path / "project", path), Unread)
