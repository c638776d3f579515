"""The ladder: each rung, uniqueness, the choice among several matches, and the messages of refusals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode, Rung
from edits.placing import alignment
from edits.placing.found import Miss, Place, Present
from edits.placing.locate import locate


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
    place = locate(["  word", "word", "word "], hunk("-word", "+y"))
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


@pytest.mark.parametrize(
    ("file", "typed", "new"),
    [
        (["  if a:", "    b"], ["-  if a:", "-    b", "+if a:", "+    c"], ["  if a:", "    c"]),
        (["  if a:", "    b"], ["-  if a:", "-    b", "+if a:"], None),
        (["  if a:", "    b"], ["-  if a:", "-    b", "+while a:"], ["while a:"]),
        (["  if a:", "    b"], [" if a:", "-    b", "+    c", "+    d"], ["    c", "    d"]),
        (
            ["  call(one)", "", "  end()"],
            ["-call(one)", "+  call(two)", "+  more()"],
            ["  call(two)", "  more()"],
        ),
        (["Words of text.", "More of them."], [" Words of text.", "+ New ones."], ["New ones."]),
        (["Words of text.", " More of them."], [" Words of text.", "+ New ones."], [" New ones."]),
        (["Words of text.", "More of them."], [" Words of text.", "+ - New ones."], [" - New ones."]),
    ],
)
def test_the_indentation_of_new_lines(file: list[str], typed: list[str], new: list[str] | None) -> None:
    """Prose may have any, but for the blank after a sign."""
    path = "f.md" if "Words of text." in file else "f.py"
    place = locate(file, replace(hunk(*typed), path=path))
    if new is None:
        assert isinstance(place, Miss) and place.message.startswith("the new lines lack indentation")
    else:
        assert isinstance(place, Place)
        assert [line.text for line in place.lines if line.kind is LineKind.NEW] == new


def test_a_shift_that_is_not_uniform_does_not_match() -> None:
    found = locate(["  a", "    b"], hunk("-a", "-b", "+c"))
    assert isinstance(found, Miss) and found.code is RefusalCode.NO_MATCH


def test_a_new_line_too_shallow_to_shift_does_not_match() -> None:
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
def test_anchors_select_by_scope(anchors: tuple[str, ...], line: int | None) -> None:
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
def test_a_line_hint_selects_only_a_clearly_nearer_place(hint: int, line: int | None) -> None:
    found = locate(["x", *"abcdefgh", "x"], hunk("-x", "+y", line_hint=hint))
    assert (found.start if isinstance(found, Place) else None) == line


def test_the_end_of_file_mark_selects_the_last_place() -> None:
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
def test_new_text_that_is_in_the_file_already(file: list[str], edit: Hunk) -> None:
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
def test_new_text_that_may_be_there_by_chance_does_not_match(file: list[str], edit: Hunk) -> None:
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


def test_a_text_longer_than_the_file_does_not_match() -> None:
    for file in ([], ["a"]):
        assert isinstance(locate(file, hunk("-a", "-b", "-c", "+d")), Miss)


@pytest.mark.parametrize("text", ["}", "", "end"])
def test_text_with_few_letters_must_be_unique_with_any_indentation(text: str) -> None:
    found = locate(["a {", f"  {text}", "b {", text, ""], hunk(f" {text}", "+new"))
    assert isinstance(found, Miss)


ELIDED = [
    "def first():",
    "    one = 1",
    "    two = 2",
    "    return one + two",
    "",
    "def second():",
    "    one = 1",
    "    three = 3",
    "    return one + three",
]


@pytest.mark.parametrize(
    "mark", ["...", "    ...", "    # ...", "    # ... the rest of it ...", "    \u2026"]
)
def test_elided_lines_stay_as_they_are(mark: str) -> None:
    edit = hunk(" def first():", f" {mark}", "-    return one + two", "+    return two")
    place = locate(ELIDED, edit)
    assert isinstance(place, Place) and (place.start, place.end, place.rung) == (0, 4, Rung.ELISION)
    assert [line.text for line in place.lines if line.kind is not LineKind.OLD] == [
        *ELIDED[:3],
        "    return two",
    ]


def test_a_piece_after_an_elision_is_searched_for_in_the_scope_of_the_first() -> None:
    edit = hunk(" def second():", " ...", "-    one = 1", "+    one = 11", " ...")
    place = locate(ELIDED, edit)
    assert isinstance(place, Place) and (place.start, place.end) == (5, 7)


@pytest.mark.parametrize(
    "edit",
    [
        hunk(" def second():", " ...", "-    return one + two", "+    return 2"),
        hunk("-def first():", "-...", "-    return one + two", "+x"),
        hunk(" ...", "-    one = 1", "+    one = 11"),
        hunk(" ...", "+    new"),
    ],
)
def test_an_elision_with_an_ambiguous_place_is_refused(edit: Hunk) -> None:
    assert isinstance(locate(ELIDED, edit), Miss)


def test_one_stale_line_is_ignored_and_the_files_line_kept() -> None:
    file = [
        "def load(path):",
        "    name = path.name",
        "    data = read(name)",
        "    check(data)",
        "    return data",
    ]
    old = [" def load(path):", "     name = path.stem", "     data = read(name)", "-    check(data)"]
    place = locate(file, hunk(*old, "+    verify(data)", "     return data"))
    assert isinstance(place, Place) and (place.start, place.end, place.rung) == (0, 5, Rung.ALIGNED)
    assert [line.text for line in place.lines if line.kind is not LineKind.OLD] == [
        *file[:3],
        "    verify(data)",
        file[4],
    ]


@pytest.mark.parametrize(
    "lines",
    [
        # the first line, the line next to the change, and a line to delete may not be stale
        (
            " def store(path):",
            "     name = path.name",
            "     data = read(name)",
            "-    check(data)",
            "+    x",
        ),
        (" def load(path):", "     name = path.name", "     data = read(path)", "-    check(data)", "+    x"),
        (" def load(path):", "     name = path.name", "     data = read(name)", "-    check(date)", "+    x"),
    ],
)
def test_alignment_is_strict_at_the_ends_and_at_the_change(lines: tuple[str, ...]) -> None:
    file = [
        "def load(path):",
        "    name = path.name",
        "    data = read(name)",
        "    check(data)",
        "    return data",
    ]
    assert isinstance(locate(file, hunk(*lines)), Miss)


def test_two_similar_places_are_refused_by_alignment() -> None:
    one = ["begin work here", "name = first", "middle of it all", "value = compute(1)", "finish it there"]
    two = ["begin work here", "name = fourth", "middle of it all", "value = compute(1)", "finish it there"]
    edit = hunk(
        " begin work here",
        " name = fifth",
        " middle of it all",
        "-value = compute(1)",
        "+x",
        " finish it there",
    )
    assert isinstance(locate([*one, *two], edit), Miss)


@pytest.mark.parametrize(
    ("file", "typed", "new", "becomes"),
    [
        (["\tif a:", "\t\tb()"], ["    if a:", "        b()"], "            c()", "\t\t\tc()"),
        (["    if a:", "        b()"], ["\tif a:", "\t\tb()"], "\t\t  c()", "          c()"),
        (["  if a:", "    b()"], ["    if a:", "        b()"], "            c()", "      c()"),
    ],
)
def test_tabs_and_other_indentation_widths_are_converted(
    file: list[str], typed: list[str], new: str, becomes: str
) -> None:
    place = locate(["x", *file, "y"], hunk(*(f" {line}" for line in typed), f"+{new}"))
    assert isinstance(place, Place) and place.rung is Rung.INDENT
    assert place.lines[-1].text == becomes


def test_an_indentation_that_is_not_whole_levels_is_refused() -> None:
    edit = hunk("     if a:", "         b()", "+      c()")
    assert isinstance(locate(["  if a:", "    b()"], edit), Miss)


class Definition:
    def __init__(self, name: str, start: int, end: int) -> None:
        self.name, self.start, self.end = name, start, end


@pytest.mark.parametrize("anchor", ["B.run", "run in B", "public class B"])
def test_names_of_definitions_select_where_anchors_do_not(anchor: str) -> None:
    definitions = [
        Definition("A", 0, 3), Definition("run", 1, 3),
        Definition("B", 4, 10), Definition("run", 5, 7), Definition("stop", 8, 10),
    ]  # fmt: skip
    edit = hunk("     def run(self):", "-        pass", "+        ...", anchors=(anchor,))
    found = locate(CLASSES, edit, lambda: definitions)
    if anchor == "run in B":
        # read outermost first: there is no B within a run
        assert isinstance(found, Miss)
    else:
        assert isinstance(found, Place) and found.start == 5
    assert isinstance(locate(CLASSES, edit), Miss)


def test_an_anchor_that_is_not_in_the_file_is_ignored_for_a_certain_match() -> None:
    sure = locate(
        CLASSES, hunk("     def stop(self):", "-        pass", "+        ...", anchors=("class Z:",))
    )
    assert isinstance(sure, Miss)
    longer = [*CLASSES, "def a_longer_name_of_its_own():", "    return 1"]
    edit = hunk(" def a_longer_name_of_its_own():", "-    return 1", "+    return 2", anchors=("class Z:",))
    found = locate(longer, edit)
    assert isinstance(found, Place) and found.start == 11


@pytest.mark.parametrize(("length", "count"), [(50_000, 40), (1_800, 60)], ids=["long lines", "many lines"])
def test_lines_that_are_made_to_be_compared_for_hours_are_not(
    length: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alignment, "_MOST_LETTERS", alignment._MOST_LETTERS // 30)  # for a quick test
    real = [f"{'(ab' * (length // 3)}{number}" for number in range(count)]
    stale = [f" {'b(a' * (length // 3)}{number}" for number in range(count)]
    found = locate(["begin(one)", *real, "end(two)"], hunk(" begin(one)", *stale, "+new", " end(two)"))
    assert isinstance(found, Miss)
