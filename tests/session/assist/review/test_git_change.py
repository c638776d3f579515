"""The change under review, read from real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from session.assist.review.git_change import NoRepositoryError, RangeError, of_range, uncommitted


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


def test_a_file_that_a_range_renames_is_compared_with_what_it_was(root: Path) -> None:
    commit(root, a_py="".join(f"line {number}\n" for number in range(20)))
    git(root, "mv", "a.py", "b.py")
    with (root / "b.py").open("a") as file:
        file.write("more\n")
    git(root, "commit", "-qam", "rename")
    change = of_range(root, "HEAD")
    (file_now,) = change.files
    assert file_now.path == "b.py" and file_now.touches(21, 21) and not file_now.touches(1, 19)
    assert not change.left_out


def test_what_is_no_file_or_has_no_name_for_a_model_is_left_out_and_told_why(root: Path) -> None:
    commit(root, a_py="1\n")
    (root / os.fsdecode(b"odd\xff.py")).write_text("2\n")
    (root / "new\nline.py").write_text("2\n")
    names = {
        "odd\ufffd.py": "its name is not valid UTF-8",
        r"new\nline.py": "its name holds control characters",
    }
    assert {each.path: each.why for each in uncommitted(root).left_out} == names
    git(root, "add", "-A")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{git(root, 'rev-parse', 'HEAD')},sub")
    git(root, "commit", "-qm", "odd")
    change = of_range(root, "HEAD")
    assert {each.path: each.why for each in change.left_out} == {**names, "sub": "a submodule"}
    assert not change.files


def test_the_last_commit_of_a_shallow_clone_is_not_taken_for_the_first(root: Path, tmp_path: Path) -> None:
    commit(root, a_py="1\n")
    commit(root, b_py="1\n")
    git(root, "clone", "-q", "--depth", "1", root.as_uri(), str(tmp_path / "shallow"))
    with pytest.raises(RangeError, match="fetch --deepen 1"):
        of_range(tmp_path / "shallow", "HEAD")


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


def test_what_the_project_calls_generated_and_large_data_are_left_out(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commit(tmp_path, a_py="x = 1\n")
    (tmp_path / ".gitattributes").write_text("api/** linguist-generated\nlib/*.py linguist-vendored=true\n")
    for path, text in {
        "api/client.py": "y = 1\n",
        "lib/other.py": "y = 1\n",
        "rows.json": '{"a": 1}\n' * 9_000,
        "small.json": '{"a": 1}\n',
        "b.py": "y = 1\n",
    }.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    change = uncommitted(tmp_path)
    assert [file.path for file in change.files] == [".gitattributes", "b.py", "small.json"]
    assert {each.path: each.why for each in change.left_out} == {
        "api/client.py": "the project says that it is generated",
        "lib/other.py": "the project says that it is generated",
        "rows.json": "it is a large file of data",
    }
