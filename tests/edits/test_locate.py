"""The ladder: each rung, uniqueness, what settles several matches, and what a refusal says."""

from __future__ import annotations

from typing import Any

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode, Rung
from edits.locate import Miss, Place, Present, locate


def hunk(*lines: str, **more: Any) -> Hunk:
    body = tuple(HunkLine(LineKind(line[0]), line[1:]) for line in lines)
    return Hunk("f", Action.UPDATE, Format.V4A, body, **more)


CLASSES = [
    "class A:",
    "    def run(self):",
    "        pass",
    "",
    "class B:",
    "    def run(self):",
    "        pass",
    "",
    "    def stop(self):",
    "        pass",
    "",
]


@pytest.mark.parametrize(
    ("file", "old", "rung"),
    [
        (["a", "b", "c"], "b", Rung.EXACT),
        (["a", "b  ", "c"], "b", Rung.FOLDED),
        (["a", "say “b”…", "c"], 'say "b"...', Rung.FOLDED),
        (["a", "    b", "c"], "b", Rung.INDENT),
        (["a", "\tb", "c"], "\t\tb", Rung.INDENT),
    ],
)
def test_the_rungs(file: list[str], old: str, rung: Rung) -> None:
    place = locate(file, hunk(f"-{old}", f"+{old}!"))
    assert isinstance(place, Place) and (place.start, place.end, place.rung) == (1, 2, rung)


def test_an_exact_match_is_taken_before_a_looser_one() -> None:
    place = locate(["  x", "x", "x "], hunk("-x", "+y"))
    assert isinstance(place, Place) and place.start == 1


def test_new_lines_are_indented_as_the_old_ones_were_found() -> None:
    edit = hunk("-if a:", "-    b", "+if a:", "+    while b:", "+", "+        c")
    place = locate(["", "    if a:", "        b"], edit)
    assert isinstance(place, Place)
    assert [line.text for line in place.lines if line.kind is LineKind.NEW] == [
        "    if a:",
        "        while b:",
        "",
        "            c",
    ]


def test_an_indentation_that_is_not_uniform_is_no_match() -> None:
    found = locate(["  a", "    b"], hunk("-a", "-b", "+c"))
    assert isinstance(found, Miss) and found.code is RefusalCode.NO_MATCH


def test_a_new_line_too_shallow_to_shift_out_is_no_match() -> None:
    assert isinstance(locate(["a"], hunk("-    a", "+b")), Miss)


def test_several_matches_are_refused_with_their_lines() -> None:
    found = locate(["x", "y", "x", "y"], hunk("-x", "-y", "+z"))
    assert isinstance(found, Miss) and found.code is RefusalCode.AMBIGUOUS
    assert "lines 1-2, 3-4" in found.message


@pytest.mark.parametrize(
    ("anchors", "line"),
    [
        (("class B:", "def run(self):"), 6),
        (("class A:",), 2),
        (("def stop(self):",), 9),
        (("class B",), None),
    ],
)
def test_anchors_settle_by_scope(anchors: tuple[str, ...], line: int | None) -> None:
    found = locate(CLASSES, hunk("-        pass", "+        ...", anchors=anchors))
    if line is None:
        assert isinstance(found, Miss) and found.code is RefusalCode.AMBIGUOUS
    else:
        assert isinstance(found, Place) and found.start == line


def test_an_anchor_that_is_not_above_refuses_even_a_single_match() -> None:
    for anchor in ("class C:", "def stop(self):"):
        found = locate(CLASSES, hunk("-class A:", "+class AA:", anchors=(anchor,)))
        assert isinstance(found, Miss) and anchor in found.message


def test_the_anchor_may_be_repeated_as_context() -> None:
    found = locate(CLASSES, hunk(" class B:", "+    x = 1", anchors=("class B:",)))
    assert isinstance(found, Place) and found.start == 4


@pytest.mark.parametrize(("hint", "line"), [(1, 0), (2, 0), (9, 9), (10, 9), (6, None)])
def test_a_line_hint_settles_only_when_clearly_nearer(hint: int, line: int | None) -> None:
    found = locate(["x", *"abcdefgh", "x"], hunk("-x", "+y", line_hint=hint))
    assert (found.start if isinstance(found, Place) else None) == line


def test_end_of_file_settles() -> None:
    found = locate(["x", "a", "x", ""], hunk("-x", "+y", at_end_of_file=True))
    assert isinstance(found, Place) and found.start == 2


@pytest.mark.parametrize(
    ("file", "edit"),
    [
        (["a", "new", "c"], hunk(" a", "-old", "+new", " c")),
        (["a", "c"], hunk(" a", "-old", " c")),
        (["a", "new  ", "c"], hunk("-old", "+new")),
        (["a", "end"], hunk("+end")),
    ],
)
def test_new_text_that_is_there_already(file: list[str], edit: Hunk) -> None:
    assert isinstance(locate(file, edit), Present)


@pytest.mark.parametrize(
    ("file", "edit"),
    [
        (["a", "}", "c"], hunk("-old", "+}")),
        (["new", "b", "new"], hunk("-old", "+new")),
        (["a", "c"], hunk("-old")),
        (["new", "old one", "old two"], hunk("-old one", "-stale", "-old two", "+new")),
    ],
)
def test_new_text_that_proves_nothing_is_no_match(file: list[str], edit: Hunk) -> None:
    found = locate(file, edit)
    assert isinstance(found, Miss) and found.code is RefusalCode.NO_MATCH


def test_a_refusal_shows_the_nearest_real_lines() -> None:
    file = ["import os", "def load(path):", "    data = read(path)", "    return data"]
    found = locate(file, hunk(" def load(path):", "-    data = read(name)", "+    data = {}"))
    assert isinstance(found, Miss)
    assert found.message.split("\n")[1:] == [" 2 | def load(path):", "*3 |     data = read(path)"]


def test_an_insertion_goes_under_its_anchor_or_to_the_end() -> None:
    under = locate(CLASSES, hunk("+    x = 1", anchors=("class B:",)))
    assert isinstance(under, Place) and (under.start, under.end) == (5, 5)
    twice = locate(CLASSES, hunk("+        x", anchors=("def run(self):",)))
    assert isinstance(twice, Miss)
    end = locate(["a", "b"], hunk("+c"))
    assert isinstance(end, Place) and end.start == 2
    assert isinstance(locate(["a"], hunk("+c", line_hint=4)), Miss)


def test_a_needle_longer_than_the_file_or_an_empty_file_is_no_match() -> None:
    for file in ([], ["a"]):
        assert isinstance(locate(file, hunk("-a", "-b", "-c", "+d")), Miss)
