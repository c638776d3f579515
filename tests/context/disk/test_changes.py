from __future__ import annotations

import subprocess
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.disk.changes import Change, Status, changed_ranges, line_sums
from context.disk.git import Git
from context.disk.git_changes import git_changes
from context.disk.source import Source
from tests.context.conftest import Repo


def sums(text: str) -> array[int]:
    return line_sums(Source("f", text, ""))


def ranges(before: str, after: str) -> list[tuple[int, int]]:
    return [(found.start, found.stop) for found in changed_ranges(sums(before), sums(after))]


def test_ranges_of_changed_added_and_removed_lines() -> None:
    assert ranges("a\nb\nc\n", "a\nb\nc\n") == []
    assert ranges("a\nb\nc\n", "a\nX\nc\n") == [(1, 2)]
    assert ranges("a\nb\nc\n", "a\nb\nnew\nc\n") == [(2, 3)]
    assert ranges("a\nb\nc\n", "a\nc\n") == [(1, 1)]
    assert ranges("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n") == [(0, 1), (4, 5)]
    assert ranges("", "a\nb\n") == [(0, 2)]


LINES = st.lists(st.sampled_from("abcd"), max_size=12)


@given(LINES, LINES)
def test_lines_outside_the_changed_ranges_are_unchanged(before: list[str], after: list[str]) -> None:
    old, new = ("".join(f"{line}\n" for line in lines) for lines in (before, after))
    touched = {line for found in changed_ranges(sums(old), sums(new)) for line in found}
    kept = iter(before)
    assert all(any(line == other for other in kept) for at, line in enumerate(after) if at not in touched)


def changes(repo: Repo) -> dict[str, Change]:
    return git_changes(Git.open(repo.root))


def test_staged_unstaged_untracked_deleted_and_renamed(repo: Repo) -> None:
    body = "".join(f"line {n}\n" for n in range(30))
    repo.commit(
        **{
            "staged.py": body,
            "edited.py": body,
            "gone.py": "g\n",
            "old name.py": body + "more\n",
            "same.py": "s\n",
        }
    )
    repo.write("staged.py", body.replace("line 3\n", "LINE 3\n"))
    repo.git("add", "staged.py")
    repo.write("edited.py", body.replace("line 7\n", ""))
    (repo.root / "gone.py").unlink()
    repo.git("mv", "old name.py", "new name.py")
    repo.write("sub/new.py", "n\n")
    found = changes(repo)
    assert {path: change.status for path, change in found.items()} == {
        "staged.py": Status.MODIFIED,
        "edited.py": Status.MODIFIED,
        "gone.py": Status.DELETED,
        "new name.py": Status.RENAMED,
        "sub/new.py": Status.UNTRACKED,
    }
    assert found["new name.py"].renamed_from == "old name.py"
    edited = (repo.root / "edited.py").read_text()
    assert found["edited.py"].ranges(sums(edited)) == [range(7, 7)]
    assert found["staged.py"].ranges(sums((repo.root / "staged.py").read_text())) == [range(3, 4)]
    assert found["sub/new.py"].ranges(sums("n\n")) == [range(1)]


def test_a_repository_without_a_commit(repo: Repo) -> None:
    repo.write("a.py", "a\n")
    repo.write("b.py", "b\n")
    repo.git("add", "a.py")
    assert {path: change.status for path, change in changes(repo).items()} == {
        "a.py": Status.ADDED,
        "b.py": Status.UNTRACKED,
    }


def test_line_ends_and_unusual_names(repo: Repo) -> None:
    repo.commit(**{"crlf.txt": "a\nb\n", 'quo"te\tand ünï.py': "a\n", "-dash.py": "d\n", "*.py": "star\n"})
    repo.write("crlf.txt", b"a\r\nb\r\nc\r\n")
    repo.write('quo"te\tand ünï.py', "b\n")
    repo.write("-dash.py", "e\n")
    found = changes(repo)
    assert found["crlf.txt"].ranges(sums("a\nb\nc\n")) == [range(2, 3)]
    assert {'quo"te\tand ünï.py', "-dash.py"} <= found.keys()
    assert git_changes(Git.open(repo.root), ("*.py", "-dash.py")).keys() == {"-dash.py"}


def test_conflicts(repo: Repo) -> None:
    repo.commit(**{"a.py": "a\n"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit(**{"a.py": "side\n"})
    repo.git("checkout", "-q", "main")
    repo.commit(**{"a.py": "main\n"})
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("merge", "--no-edit", "side")
    found = changes(repo)
    assert found["a.py"].status is Status.CONFLICTED
    assert found["a.py"].base == sums("main\n")
