"""Trees with names that git never writes, and reads without a question: they lead out of the project."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from context.disk.git import Git
from context.disk.git_changes import branch_changes
from session.assist.review.git_change import of_range
from tests.context.conftest import Repo

NEEDLE = "what is outside of the project"


def tree(repo: Repo, *entries: tuple[str, str, str]) -> str:
    """Write a tree as it stands, whatever its names are."""
    data = b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(blob) for mode, name, blob in entries)
    done = subprocess.run(
        ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
        cwd=repo.root,
        input=data,
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


@pytest.mark.parametrize("name", ["..", ".", ".git", "../secret.txt", ".GIT", "sub/../../secret.txt"])
def test_a_name_of_a_tree_that_leads_elsewhere_is_not_reviewed(tmp_path: Path, name: str) -> None:
    (tmp_path / "secret.txt").write_text(NEEDLE, "utf-8")
    (tmp_path / "project").mkdir()
    repo = Repo(tmp_path / "project")
    repo.commit(**{"a.py": "a = 1\n"})
    blob = repo.git("rev-parse", "HEAD:a.py").strip()
    inner = tree(repo, ("100644", "secret.txt", blob))
    hostile = ("100644", name, blob) if "/" in name else ("40000", name, inner)
    made = tree(repo, hostile, ("100644", "z.py", blob))
    commit = repo.git("commit-tree", made, "-p", "HEAD", "-m", "x").strip()
    change = of_range(repo.root, f"HEAD..{commit}")
    assert {file.path for file in change.files} == {"z.py"}
    repo.git("checkout", "-q", "-b", "topic")
    repo.git("update-ref", "refs/heads/topic", commit)
    assert branch_changes(Git.open(repo.root)) <= {"a.py", "z.py"}
