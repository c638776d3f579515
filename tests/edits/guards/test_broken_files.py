"""The verdict on a turn's files: which have a syntax error that they did not have, and since which hunks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from edits.files.tree import Tree
from edits.guards.broken_files import BrokenFile, broken_files
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind
from tests.edits.helpers import Project


def checker(path: str, text: str) -> str | None:
    if not path.endswith(".py"):
        return None
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"line {error.lineno}"
    return None


def land(project: Project, number: int, path: str, old: str, new: str, *, turn: str = "t1") -> None:
    lines = (HunkLine(LineKind.OLD, old), HunkLine(LineKind.NEW, new)) if old else ()
    hunk = Hunk(path, Action.UPDATE, Format.V4A, lines)
    if not old:
        hunk = Hunk(path, Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, new),))
    landed = project.landing.land(hunk, hunk_id=f"h{number}", session="s", turn=turn)
    assert isinstance(landed, Landed)


def verdict(project: Project, turn: str = "t1") -> list[BrokenFile]:
    return broken_files(Tree(project.root), project.ledger, "s", turn, checker)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


SOUND = "a = 1\nb = 2\nc = 3\n"


def test_states_that_do_not_parse_on_the_way_are_nobodys_business(project: Project) -> None:
    project.write({"x.py": SOUND})
    land(project, 1, "x.py", "a = 1", "a = (1,")
    land(project, 2, "x.py", "b = 2", "     2)")
    assert verdict(project) == []


def test_the_hunks_since_the_last_sound_state_are_named_with_the_line_as_it_is_now(project: Project) -> None:
    project.write({"x.py": SOUND})
    land(project, 1, "x.py", "a = 1", "a = 10")
    land(project, 2, "x.py", "b = 2", "b = (")
    land(project, 3, "x.py", "c = 3", "c = = 30")
    (broken,) = verdict(project)
    assert (broken.path, broken.hunks) == ("x.py", ("h2", "h3"))
    for hunk in reversed(broken.hunks):
        assert isinstance(project.landing.undo(hunk), Landed)
    assert verdict(project) == [] and project.read()["x.py"] == SOUND.replace("1", "10")


def test_a_file_that_never_parsed_is_not_told(project: Project) -> None:
    project.write({"x.py": "a = (\nb = 2\n", "x.txt": "a = (\n"})
    land(project, 1, "x.py", "b = 2", "b = 3")
    land(project, 2, "x.txt", "a = (", "a = ((")
    assert verdict(project) == []


def test_a_new_file_is_judged_and_one_that_is_gone_or_of_another_turn_is_not(project: Project) -> None:
    project.write({"x.py": SOUND, "y.py": SOUND})
    land(project, 1, "new.py", "", "a = (")
    land(project, 2, "x.py", "a = 1", "a = (", turn="t2")
    land(project, 3, "y.py", "a = 1", "a = (")
    (project.root / "y.py").unlink()
    assert [(broken.path, broken.hunks) for broken in verdict(project)] == [("new.py", ("h1",))]


@pytest.mark.parametrize("undone", ["h1", "h2"])
def test_an_undone_hunk_is_not_named(project: Project, undone: str) -> None:
    project.write({"x.py": SOUND})
    land(project, 1, "x.py", "a = 1", "a = (")
    land(project, 2, "x.py", "c = 3", "c = )")
    project.landing.undo(undone)
    (broken,) = verdict(project)
    assert broken.hunks == (("h2",) if undone == "h1" else ("h1",))
