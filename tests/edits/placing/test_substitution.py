"""Edits by characters land in one place or not at all, and change nothing beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edits.files.text import decode
from edits.formats.events import Broken
from edits.hunk import Landed, RefusalCode, Refused, Replacement, Status
from edits.placing.found import Miss, Present
from edits.placing.place import substitute
from edits.placing.splices import spliced
from tests.edits.helpers import Project
from tests.thorough import share

ALPHABET = st.text("ab \n", max_size=24)


def edit(old: str, new: str, **more: object) -> str:
    return json.dumps({"path": "a", "old_string": old, "new_string": new, **more}) + "\n"


def landed(folder: Path, before: str, *edits: str) -> tuple[str, Project]:
    project = Project(folder)
    project.write({"a": before.encode()})
    project.apply("".join(edits))
    return project.read_bytes()["a"].decode(), project


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("x = f(1) + f(2)\n", "f(1)", "g(1)", "x = g(1) + f(2)\n"),
        ("a\r\nb\r\nc", "b\nc", "b\nd\ne", "a\r\nb\r\nd\r\ne"),
        ("a\rb\rc", "a\nb", "a\nx\nb", "a\rx\rb\rc"),
        ("a\nb\r\nc\n", "a\nb\nc", "a\nb\nC", "a\nb\r\nC\n"),
        ("one\ntwo\nthree\n", "two\n", "", "one\nthree\n"),
        ("one\ntwo\nthree\n", "one\ntwo", "onetwo", "onetwo\nthree\n"),
        ("one\n", "one\n", "one\ntwo\n", "one\ntwo\n"),
        ("one", "one", "", ""),
        ("tab\there", "\t", "  ", "tab  here"),
    ],
)
def test_a_replacement_lands_and_can_be_undone(
    tmp_path: Path, before: str, old: str, new: str, after: str
) -> None:
    now, project = landed(tmp_path, before, edit(old, new))
    assert now == after and project.refusals == []
    assert isinstance(project.landing.undo(), Landed)
    assert project.read_bytes()["a"].decode() == before


def test_two_places_are_refused_unless_all_are_to_be_replaced(tmp_path: Path) -> None:
    before = "a f a\nf\n"
    now, project = landed(tmp_path / "one", before, edit("f", "g"))
    (refused,) = project.refusals
    assert now == before and isinstance(refused, Refused) and refused.code is RefusalCode.AMBIGUOUS
    assert "lines 1, 2" in refused.message
    now, _ = landed(tmp_path / "all", before, edit("f", "gg", replace_all=True))
    assert now == "a gg a\ngg\n"


def test_an_insertion_sent_twice_lands_once(tmp_path: Path) -> None:
    now, project = landed(tmp_path, "import a\n", *[edit("import a", "import a, b")] * 2)
    assert now == "import a, b\n"
    assert [result.status for result in project.landed] == [Status.APPLIED, Status.ALREADY_APPLIED]


def test_a_text_with_other_indentation_is_placed_by_its_lines(tmp_path: Path) -> None:
    before = "def f():\n    if x:\n        return 1\n"
    now, project = landed(tmp_path, before, edit("if x:\n    return 1", "if x:\n    return 2"))
    assert now == "def f():\n    if x:\n        return 2\n"
    assert [result.status for result in project.landed] == [Status.APPLIED_FUZZY]


def test_a_text_that_joins_lines_is_placed_exactly_or_not_at_all(tmp_path: Path) -> None:
    before = "    one\n    two\n"
    now, project = landed(tmp_path, before, edit("one \n", "one, "))
    assert now == before and isinstance(project.refusals[0], Refused)


def test_several_edits_of_a_call_land_one_after_the_other(tmp_path: Path) -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "c"}]
    text = json.dumps({"edits": [*edits, {"old_string": "q", "new_string": "r"}], "path": "a"})
    now, project = landed(tmp_path, "a\n", text)
    assert now == "c\n" and len(project.refusals) == 1 and not isinstance(project.refusals[0], Broken)


@settings(deadline=None, max_examples=share(400, 60))
@given(ALPHABET, ALPHABET.filter(bool), ALPHABET, st.booleans(), st.sampled_from(["\n", "\r\n", "\r"]))
def test_it_equals_a_plain_text_replacement(
    before: str, old: str, new: str, everywhere: bool, newline: str
) -> None:
    file = decode(before.replace("\n", newline).encode(), "a")
    found = substitute(file, Replacement(old, new), everywhere=everywhere)
    places = [at for at in range(len(before)) if before.startswith(old, at)]
    if not places:
        assert found is None or isinstance(found, Present)
    elif len(places) > 1 and not everywhere:
        assert isinstance(found, Miss) and found.code is RefusalCode.AMBIGUOUS
    else:
        assert found is not None and not isinstance(found, (Present, Miss))
        wanted = before.replace(old, new) if everywhere else before.replace(old, new, 1)
        assert spliced(file, found.splices).replace(newline, "\n") == wanted
