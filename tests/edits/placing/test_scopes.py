"""Anchors and elisions: tables of lines and hunks, and which places they leave."""

from __future__ import annotations

import pytest

from edits.files.folding import fold
from edits.placing.anchors import anchor_line, in_scope, settle_by_anchors, settle_by_symbols, stands
from edits.placing.indent import reindented
from edits.placing.whole_files import is_elision, place_elided
from tests.edits.placing.written import body, marked

NESTED = [
    "class A:",
    "  def f(self):",
    "    x",
    "",
    "  def g(self):",
    "    x",
    "class B:",
    "  def f(self):",
    "    x",
]


@pytest.mark.parametrize(
    ("anchors", "starts"),
    [
        (["class A:"], [2, 5]),
        (["class B:"], [8]),
        (["def f(self):"], [2, 8]),
        (["def f("], [2, 8]),
        (["class A:", "def f(self):"], [2]),
        (["class B:", "def g(self):"], []),
        (["class A:", "def g(self):"], [5]),
        (["def f(self):", "class B:"], [8]),
        (["nothing"], []),
        (["  x  "], [2, 5, 8]),
    ],
)
def test_settling_by_anchors(anchors: list[str], starts: list[int]) -> None:
    assert settle_by_anchors(NESTED, [2, 5, 8], 1, anchors) == starts
    assert stands(NESTED, anchors) == (anchors != ["nothing"])


@pytest.mark.parametrize(
    ("anchors", "line"),
    [
        (["class A:"], 0),
        (["def f(self):"], None),
        (["class B:", "def f(self):"], 7),
        (["class A:", "def f(self):"], 1),
        (["nothing"], None),
        (["nothing", "class A:"], None),
    ],
)
def test_the_line_of_an_anchor(anchors: list[str], line: int | None) -> None:
    assert anchor_line(NESTED, anchors) == line


@pytest.mark.parametrize(
    ("outer", "inner", "within"),
    [(0, 2, True), (0, 5, True), (0, 6, False), (1, 3, True), (1, 4, False), (6, 8, True), (2, 2, True)],
)
def test_the_scope_of_a_line(outer: int, inner: int, within: bool) -> None:
    assert in_scope(NESTED, outer, inner) == within


def test_a_bracket_does_not_end_a_scope() -> None:
    lines = ["f(", "  a", ")", "  b", "{", "}", "]", "c"]
    assert in_scope(lines, 0, 6) and not in_scope(lines, 0, 7)


def test_three_anchors_are_each_within_the_one_before() -> None:
    lines = ["a:", " b:", "  c:", "   x", " d:", "  c:", "   x"]
    assert settle_by_anchors(lines, [3, 6], 1, ["a:", "b:", "c:"]) == [3]
    assert settle_by_anchors(lines, [3, 6], 1, ["a:", "d:", "c:"]) == [6]
    assert settle_by_anchors(lines, [3, 6], 1, ["b:", "a:", "c:"]) == []
    # With an anchor that is above but not around, the order alone counts.
    assert settle_by_anchors(lines, [3, 6], 1, ["b:", "c:"]) == [3]
    assert settle_by_anchors([*lines, "   y"], [6], 2, ["b:", "d:", "c:"]) == [6]


class Definition:
    def __init__(self, name: str, start: int, end: int) -> None:
        self.name, self.start, self.end = name, start, end


@pytest.mark.parametrize(
    ("anchors", "starts"),
    [
        (["A"], [2, 5]),
        (["A.f"], [2]),
        (["class A", "def g(A, f)"], [5]),
        (["B.f"], [8]),
        (["B.g"], []),
        (["f"], [2, 8]),
        (["nothing(A)"], [2, 5, 8]),
    ],
)
def test_settling_by_definitions(anchors: list[str], starts: list[int]) -> None:
    definitions = [
        Definition("A", 0, 6), Definition("f", 1, 4), Definition("g", 4, 6),
        Definition("B", 6, 9), Definition("f", 7, 9),
    ]  # fmt: skip
    assert settle_by_symbols([2, 5, 8], 1, anchors, definitions) == starts
    assert settle_by_symbols([8], 2, anchors, definitions) == ([8] if anchors == ["nothing(A)"] else [])


@pytest.mark.parametrize(
    ("line", "elides"),
    [
        ("...", True),
        ("  …  ", True),
        ("# ...", True),
        ("// ... rest of it", True),
        ("/* ... */", True),
        ("{/* ... */}", True),
        ("<!-- ... -->", True),
        ("-- ... more", True),
        ("....", False),
        ("# ...!", False),
        ("x ...", False),
        ("..", False),
    ],
)
def test_elisions(line: str, elides: bool) -> None:
    assert is_elision(line) == elides


FUNCTION = ["def f():", "  a1", "  b1", "  c1", "  d1", "end1", "def g():", "  a1", "  c1"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        (
            [" def f():", " ...", "-  d1", "+  D"],
            (0, 5, [" def f():", "   a1", "   b1", "   c1", "-  d1", "+  D"]),
        ),
        (
            [" def f():", " ...", "-  b1", " ...", "-  d1"],
            (0, 5, [" def f():", "   a1", "-  b1", "   c1", "-  d1"]),
        ),
        ([" def g():", "-  a1", " ...", "+x", "   c1"], (6, 9, [" def g():", "-  a1", "+x", "   c1"])),
        (
            ["   def f():", " ...", "-    d1", "+    D"],
            (0, 5, ["   def f():", "   a1", "   b1", "   c1", "-    d1", "+  D"]),
        ),
        ([" ...", "-  b1", "+  B", " ...", " }"], (2, 3, ["-  b1", "+  B"])),
        (
            [" }", " ...", " def f():", " ...", "-  b1", "+  B"],
            (0, 3, [" def f():", "   a1", "-  b1", "+  B"]),
        ),
        (["   b1", "   c1", "   d1", " ...", "-  d1", "+  D"], None),
        ([" def f():", "-...", "-  d1"], None),
        ([" def f():", " ...", "+x", " ...", "-  d1"], None),
        ([" ...", " }"], None),
        ([" def g():", " ...", "-  b1"], None),
        ([" def f():", "-  a1"], None),
        ([" ...", "-  a1"], None),
    ],
)
def test_places_with_elisions(typed: list[str], found: tuple[int, int, list[str]] | None) -> None:
    answer = place_elided(FUNCTION, fold(FUNCTION), body(*typed))
    if answer is None:
        assert found is None
        return
    start, end, lines, shift = answer
    assert (start, end, marked(reindented(lines, shift) or ())) == found
