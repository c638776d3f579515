"""Tests what git's rules do to edits of files that are not there, with a real git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, Refused, Replacement
from session.project.workspace import CRLF, LF, line_ending, open_workspace

SET, AUTO, UNSET = {"text": "set"}, {"text": "auto"}, {"text": "unset"}


@pytest.mark.parametrize(
    ("attributes", "autocrlf", "eol", "ending"),
    [
        ({}, "", "", None),
        ({"text": "unspecified", "eol": "unspecified"}, "false", "crlf", None),
        ({"eol": "crlf"}, "", "", CRLF),
        (SET | {"eol": "crlf"}, "input", "lf", CRLF),
        (AUTO | {"eol": "lf"}, "true", "crlf", LF),
        (UNSET | {"eol": "crlf"}, "true", "", None),
        (UNSET, "true", "", None),
        ({}, "true", "", CRLF),
        ({}, "TRUE", "lf", CRLF),
        ({}, "input", "crlf", LF),
        (SET, "", "", LF),
        (SET, "", "crlf", CRLF),
        (AUTO, "false", "CRLF", CRLF),
        (AUTO, "input", "crlf", LF),
        (AUTO, "", "native", LF),
    ],
)
def test_the_ending_that_git_gives_a_file(
    attributes: dict[str, str], autocrlf: str, eol: str, ending: str | None
) -> None:
    assert line_ending(attributes, autocrlf, eol) == ending


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "far").mkdir(parents=True)
    (folder / "near").mkdir()
    (folder / "far" / "a.txt").write_text("one\ntwo\n")
    (folder / "near" / "b.txt").write_text("one\ntwo\n")
    (folder / ".gitattributes").write_text("*.bat text eol=crlf\n*.bin -text\n")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    return folder


def added(path: str, *lines: str) -> Hunk:
    return Hunk(
        path, Action.ADD, Format.SEARCH_REPLACE, tuple(HunkLine(LineKind.NEW, line) for line in lines)
    )


def test_new_files_get_the_endings_of_the_project(root: Path, tmp_path: Path) -> None:
    landing = open_workspace(root, {"XDG_STATE_HOME": str(tmp_path / "state")}).landing

    def land(hunk: Hunk, name: str) -> bytes:
        assert isinstance(landing.land(hunk, hunk_id=name), Landed)
        return (root / hunk.path).read_bytes()

    assert land(added("run.bat", "@echo off", "echo one"), "h1") == b"@echo off\r\necho one\r\n"
    text = Replacement("", "one\ntwo\r\nthree")
    whole = Hunk("near/run.bat", Action.ADD, Format.JSON, replacement=text)
    assert land(whole, "h2") == b"one\r\ntwo\r\nthree"
    assert land(added("run.sh", "echo one"), "h3") == b"echo one\n"
    git(root, "config", "core.autocrlf", "true")
    landing = open_workspace(root, {"XDG_STATE_HOME": str(tmp_path / "state")}).landing
    assert land(added("near/run.py", "x = 1"), "h4") == b"x = 1\r\n"
    assert land(added("x.bin", "x"), "h5") == b"x\n"


def test_a_file_that_a_sparse_checkout_leaves_out_is_neither_made_nor_missing(
    root: Path, tmp_path: Path
) -> None:
    git(root, "sparse-checkout", "set", "near")
    assert not (root / "far").exists()
    landing = open_workspace(root, {"XDG_STATE_HOME": str(tmp_path / "state")}).landing
    edit = Hunk("far/a.txt", Action.UPDATE, Format.JSON, replacement=Replacement("two", "TWO"))
    for number, hunk in enumerate((edit, added("far/a.txt", "one"))):
        result = landing.land(hunk, hunk_id=f"h{number}")
        assert type(result) is Refused and "git sparse-checkout add 'far'" in result.message
    assert not (root / "far").exists()
    assert isinstance(landing.land(added("far/new.txt", "one"), hunk_id="h8"), Landed), (
        "git knows no such file"
    )


def test_a_file_that_git_skips_although_it_is_there_is_not_edited(root: Path, tmp_path: Path) -> None:
    git(root, "update-index", "--skip-worktree", "far/a.txt")
    landing = open_workspace(root, {"XDG_STATE_HOME": str(tmp_path / "state")}).landing

    def land(path: str, name: str) -> Landed | Refused:
        edit = Hunk(path, Action.UPDATE, Format.JSON, replacement=Replacement("two", "TWO"))
        return landing.land(edit, hunk_id=name)

    refused = land("far/a.txt", "h1")
    assert (
        isinstance(refused, Refused) and "git update-index --no-skip-worktree 'far/a.txt'" in refused.message
    )
    assert (root / "far/a.txt").read_text() == "one\ntwo\n"
    assert isinstance(land("near/b.txt", "h2"), Landed)
    git(root, "update-index", "--no-skip-worktree", "far/a.txt")
    assert isinstance(land("far/a.txt", "h3"), Landed)


def test_without_a_repository_a_new_file_is_as_it_was_typed(tmp_path: Path) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    (root / ".gitattributes").write_text("* text eol=crlf\n")
    landing = open_workspace(root, {"XDG_STATE_HOME": str(tmp_path / "state")}).landing
    assert isinstance(landing.land(added("a.txt", "one"), hunk_id="h1"), Landed)
    assert (root / "a.txt").read_bytes() == b"one\n"
