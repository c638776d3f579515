"""The patch of hunks, given to the real ``git apply``."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edits.git_patch import ChangedFile, counts, git_patch

contents = st.none() | st.lists(st.sampled_from([b"a\n", b"b\n", b"\r\n", b"\xff\n", b"x"]), max_size=8).map(
    b"".join
)
names = st.sampled_from(["a.txt", "with space.txt", 'quo"te', "tab\tname", "back\\slash", "ümlaut", "a/b c"])


def applied(folder: Path, file: ChangedFile) -> bytes | None:
    """The file's content once git has applied the patch to what was before."""
    folder.mkdir()
    subprocess.run(["git", "init", "-q", folder], check=True)
    if file.before is not None:
        (folder / file.old_path).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.old_path).write_bytes(file.before)
    command = ["git", "-c", "core.autocrlf=false", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, cwd=folder, input=git_patch([file]), capture_output=True, check=False)
    assert done.returncode == 0, (done.stderr, git_patch([file]))
    target = folder / file.path
    if file.old_path != file.path:
        assert not (folder / file.old_path).exists()
    return target.read_bytes() if target.exists() else None


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names, contents, contents)
def test_git_applies_any_change(
    tmp_path_factory: pytest.TempPathFactory, name: str, before: bytes | None, after: bytes | None
) -> None:
    if before == after:
        return
    file = ChangedFile(name, name, before, after)
    assert applied(tmp_path_factory.mktemp("patch") / "repo", file) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [(b"a\nb\n", b"a\nc\n"), (b"a\n", b"a\n"), (b"\0\1\2" * 100, b"\0\3" * 77), (None, b"\0new")],
)
def test_git_applies_moves_and_what_is_not_text(
    tmp_path: Path, before: bytes | None, after: bytes | None
) -> None:
    old = "old name.bin" if before is not None else "new.bin"
    assert applied(tmp_path / "repo", ChangedFile(old, "new.bin", before, after)) == after


def test_lines_are_counted() -> None:
    assert counts(ChangedFile("a", "a", b"a\nb\nc\n", b"a\nX\nY\nc\n")) == (2, 1)
    assert counts(ChangedFile("a", "a", None, b"\0")) is None
