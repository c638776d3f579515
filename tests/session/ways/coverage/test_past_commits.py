"""Finding past commits with their tests, and writing the project as it was before one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from context.disk.git import Git
from session.checks.check import Check, Kind
from session.ways.coverage import past_commits, write_before

PYTEST = Check("tests", "python -m pytest -q {tests}", Kind.TESTS)


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    done = subprocess.run(("git", *who, *arguments), cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(folder: Path, subject: str, **files: str | None) -> str:
    """Commit files, whose names have ``__`` for a slash and end without their suffix."""
    for name, content in files.items():
        file = folder / f"{name.replace('__', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            file.unlink()
        else:
            file.write_text(content)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")[:12]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "Begin", calc="def add(a, b):\n    return a\n", test_calc="def test_add():\n    pass\n")
    return folder


def test_only_commits_that_change_code_with_its_tests_are_found(root: Path) -> None:
    both = commit(root, "Mend add", calc="def add(a, b):\n    return a + b\n", test_calc="# better\n")
    commit(root, "Code alone", calc="# code\n")
    commit(root, "Tests alone", test_calc="# tests\n")
    gone = commit(root, "Remove", calc=None, test_calc="# last\n")
    commit(root, "Far too much", **{f"file_{at}": "" for at in range(30)}, test_calc="# much\n")
    found = list(past_commits(Git.open(root), PYTEST, 100))
    assert [each.name for each in found] == [gone, both], "the newest first, and not the first of all"
    assert found[1].subject == "Mend add" and found[1].tests == {"test_calc.py": b"# better\n"}
    assert found[1].code == {"calc.py": b"def add(a, b):\n    return a + b\n"}
    assert found[0].code == {"calc.py": None}
    assert "test_calc.py" in found[1].prompt and "Mend add" in found[1].prompt
    assert len(list(past_commits(Git.open(root), PYTEST, 1))) == 0, "only so many are looked at"


def test_the_project_is_as_before_but_for_the_tests(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "secret"
    outside.write_text("secret")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "out").symlink_to("../secret")
    (root / "in").symlink_to("calc.py")
    (root / ".gitattributes").write_text("test_* export-ignore\ncalc.py filter=upper\n")
    commit(root, "Links", other="x = 1\n")
    commit(root, "Mend add", calc="def add(a, b):\n    return a + b\n", test_calc="# better\n")
    (root / "calc.py").write_text("what the user types now")
    repository = Git.open(root)
    found = next(past_commits(repository, PYTEST, 10))
    before = tmp_path / "before"
    before.mkdir()
    write_before(repository, found, before)
    assert (before / "calc.py").read_text() == "def add(a, b):\n    return a\n"
    assert (before / "test_calc.py").read_text() == "# better\n"
    assert (before / "run.sh").stat().st_mode & 0o111 and not (before / "calc.py").stat().st_mode & 0o111
    assert (before / "in").readlink() == Path("calc.py") and not (before / "out").is_symlink()
    assert (root / "calc.py").read_text() == "what the user types now"


def test_a_folder_of_a_repository_is_its_own_project(root: Path, tmp_path: Path) -> None:
    commit(root, "Two", sub__calc="a = 1\n", sub__test_calc="# one\n")
    commit(root, "Both", sub__calc="a = 2\n", sub__test_calc="# two\n", calc="# out of sight\n")
    repository = Git.open(root / "sub")
    found = next(past_commits(repository, PYTEST, 10))
    assert set(found.tests) == {"test_calc.py"} and set(found.code) == {"calc.py"}
    before = tmp_path / "before"
    before.mkdir()
    write_before(repository, found, before)
    assert sorted(each.name for each in before.iterdir()) == ["calc.py", "test_calc.py"]
    assert (before / "calc.py").read_text() == "a = 1\n"


def test_a_link_that_leads_out_only_once_all_links_are_there_takes_no_file_outside(
    root: Path, tmp_path: Path
) -> None:
    # "b" seems to stay inside as long as there is no "x", which leads to the folder itself.
    (root / "tests").mkdir()
    (root / "tests" / "test_b.py").symlink_to("../x/../outside.py")
    (root / "x").symlink_to(".")
    commit(root, "links", a="a = 1\n")
    (root / "tests" / "test_b.py").unlink()
    commit(root, "a test", a="a = 2\n", tests__test_b="b = 1\n")
    found = next(iter(past_commits(Git.open(root), PYTEST, 5)))
    copies = tmp_path / "copies"
    (copies / "one").mkdir(parents=True)
    write_before(Git.open(root), found, copies / "one")
    assert not (copies / "outside.py").exists()
    assert (copies / "one" / "tests" / "test_b.py").read_text() == "b = 1\n"
