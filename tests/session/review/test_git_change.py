"""The change under review, read from real repositories."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from session.review.git_change import NoRepositoryError, RangeError, of_range, uncommitted


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def commit(root: Path, **files: str | None) -> str:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink() if text is None else path.write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "change")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def paths(change: object) -> list[str]:
    return [file.path for file in change.files]  # type: ignore[attr-defined]


def test_staged_unstaged_untracked_and_renamed_files_are_reviewed(root: Path) -> None:
    commit(root, a_py="one\ntwo\n", b_py="b\n" * 9, gone_py="x\n", same_py="same\n")
    (root / "a.py").write_text("one\n2\n")
    git(root, "mv", "b.py", "c.py")
    (root / "c.py").write_text("b\n" * 9 + "more\n")
    (root / "new.py").write_text("new\n")
    (root / "gone.py").unlink()
    (root / ".env").write_text("KEY=secret\n")
    (root / "data.bin").write_bytes(b"\0\1")
    git(root, "add", "a.py")
    change = uncommitted(root)
    assert paths(change) == ["a.py", "c.py", "new.py"]
    a, c, new = change.files
    assert a.before == ("one", "two") and a.after == ("one", "2")
    assert c.before == ("b",) * 9 and c.touches(10, 10) and not c.touches(1, 5)
    assert new.before is None
    assert {each.path for each in change.left_out} == {".env", "data.bin", "gone.py"}


def test_a_repository_without_a_commit_is_all_new(root: Path) -> None:
    (root / "a.py").write_text("one\n")
    git(root, "add", "a.py")
    assert [file.before for file in uncommitted(root).files] == [None]


def test_ranges_are_read_as_git_reads_them(root: Path) -> None:
    first = commit(root, a_py="1\n")
    second = commit(root, a_py="1\n2\n", b_py="b\n")
    git(root, "checkout", "-qb", "side", first)
    side = commit(root, c_py="c\n")
    assert paths(of_range(root, first)) == ["a.py"], "the first commit changed what it holds"
    assert paths(of_range(root, second)) == ["a.py", "b.py"]
    assert paths(of_range(root, f"{first}..{second}")) == ["a.py", "b.py"]
    assert paths(of_range(root, f"{second}...{side}")) == ["c.py"]
    assert {each.path for each in of_range(root, f"{second}..{side}").left_out} == {"b.py"}
    assert paths(of_range(root, "HEAD")) == ["c.py"] == paths(of_range(root, "main...")), "HEAD is at hand"


def test_only_the_folder_in_hand_is_reviewed(root: Path) -> None:
    commit(root, a_py="1\n", sub__b_py="1\n")
    last = commit(root, a_py="2\n", sub__b_py="2\n")
    assert paths(of_range(root / "sub", last)) == ["b.py"]
    (root / "sub/b.py").write_text("3\n")
    (root / "a.py").write_text("3\n")
    assert paths(uncommitted(root / "sub")) == ["b.py"]


def test_links_are_left_out_wherever_they_lead(root: Path) -> None:
    first = commit(root, a_py="1\n")
    (root / "link.py").symlink_to("/etc/passwd")
    assert [each.path for each in uncommitted(root).left_out] == ["link.py"]
    second = commit(root, b_py="1\n")
    assert [each.path for each in of_range(root, f"{first}..{second}").left_out] == ["link.py"]


@pytest.mark.parametrize(
    "wanted", ["nothing", "--all", "-h", "HEAD..nothing", "--output=x", "a\nb", "HEAD^{tree}"]
)
def test_what_is_no_range_is_told(root: Path, wanted: str) -> None:
    commit(root, a_py="1\n")
    with pytest.raises(RangeError, match="there is no commit"):
        of_range(root, wanted)
    assert sorted(path.name for path in root.iterdir()) == [".git", "a.py"]


def test_a_folder_without_git_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoRepositoryError):
        uncommitted(tmp_path)


def test_nothing_of_a_hostile_repository_runs(root: Path, tmp_path: Path) -> None:
    """Text conversion, external diffs and filters are programs that a repository names."""
    commit(root, a_py="1\n", _gitattributes="*.py diff=evil filter=evil\n")
    ran = tmp_path / "ran"
    for key in ("diff.evil.textconv", "diff.evil.command", "diff.external", "filter.evil.clean"):
        git(root, "config", key, f"touch {ran}; cat")
    (root / "a.py").write_text("2\n")
    assert paths(uncommitted(root)) == ["a.py"]
    of_range(root, "HEAD")
    assert not ran.exists()
