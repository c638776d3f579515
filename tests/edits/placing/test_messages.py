"""The messages of refusals: tables of lines and texts, and what is said of them."""

from __future__ import annotations

import pytest

from edits.placing.miss_messages import describe_candidates, describe_nearest, likely_files


@pytest.mark.parametrize(
    ("starts", "size", "said"),
    [
        ([0, 4], 1, "occurs 2 times (lines 1, 5);"),
        ([0, 4], 3, "occurs 2 times (lines 1-3, 5-7);"),
        (list(range(8)), 1, "occurs 8 times (lines 1, 2, 3, 4, 5, 6, 7, 8);"),
        (list(range(10)), 1, "occurs 10 times (lines 1, 2, 3, 4, 5, 6, 7, 8 and 2 more);"),
    ],
)
def test_several_places_are_told(starts: list[int], size: int, said: str) -> None:
    assert said in describe_candidates(starts, size)


LINES = [
    "import os",
    "",
    "def load(path):",
    "    data = read(path)",
    "    return data",
    "",
    "def save(path):",
]


@pytest.mark.parametrize(
    ("old", "shown"),
    [
        (
            ["def load(path):", "    data = read(name)"],
            [" 3 | def load(path):", "*4 |     data = read(path)"],
        ),
        (["nothing", "    return data"], ["*4 |     data = read(path)", " 5 |     return data"]),
        (["nothing", "import os"], [" 1 | import os"]),
        (["def save(path):", "    more"], [" 7 | def save(path):"]),
        (["    data = read(the_path)"], ["*4 |     data = read(path)"]),
        (["}", "    return the data"], ["*4 |     data = read(path)", "*5 |     return data"]),
    ],
)
def test_the_nearest_lines_are_shown(old: list[str], shown: list[str]) -> None:
    assert describe_nearest(LINES, old).split("\n")[1:] == shown


@pytest.mark.parametrize(
    ("lines", "old", "said"),
    [
        ([], ["x"], "the file is empty"),
        (LINES, ["entirely different words"], "the text is not in the file, and nothing similar is"),
        (LINES, ["{", "}"], "the text is not in the file, and nothing similar is"),
        (LINES, [], "the text is not in the file, and nothing similar is"),
    ],
)
def test_nothing_similar_is_told(lines: list[str], old: list[str], said: str) -> None:
    assert describe_nearest(lines, old) == said


def test_long_lines_and_long_places_are_cut() -> None:
    lines = [f"line number {number} {'x' * (140 + number)}" for number in range(20)]
    shown = describe_nearest(lines, [*lines[2:16], "stale"]).split("\n")[1:]
    assert len(shown) == 13 and shown[-1] == "  … to line 17"
    assert shown[0] == f"  3 | {lines[2]}" and shown[11].startswith(" 14 | ")
    assert shown[8] == f" 11 | {lines[10][:160]}…" or len(lines[10]) <= 160
    assert all(len(line) <= 6 + 161 for line in shown)


def test_of_several_nearest_places_the_one_with_most_lines_and_then_the_first_is_shown() -> None:
    file = ["alpha", "x", "alpha", "beta", "y", "alpha", "beta"]
    assert describe_nearest(file, ["alpha", "beta", "gamma"]).split("\n")[1] == " 3 | alpha"
    assert describe_nearest(["beta", "x", "beta"], ["beta", "gamma"]).split("\n")[1] == " 1 | beta"


def test_the_line_most_similar_letter_by_letter_is_shown_first() -> None:
    """Of the lines that share words with the longest one that was typed, the likest counts."""
    lines = [
        "value = other(value, value)",
        "value = read(the_path)",
        "value of much longer words about nothing",
    ]
    assert describe_nearest(lines, ["value = read(a_path)"]).split("\n")[1] == "*2 | value = read(the_path)"
    assert (
        describe_nearest(lines[::-1], ["value = read(a_path)"]).split("\n")[1]
        == "*2 | value = read(the_path)"
    )
    assert describe_nearest(lines[2:], ["value = read(a_path)"]).endswith("nothing similar is")
    twice = [lines[1], "", lines[1]]
    assert describe_nearest(twice, ["value = read(a_path)"]).split("\n")[1] == "*1 | value = read(the_path)"


@pytest.mark.parametrize(
    ("path", "likely"),
    [
        ("app/main.py", ["src/app/main.py", "main.py"]),
        ("other\\main.py", ["main.py", "src/app/main.py"]),
        ("src/util.py", ["src/utils.py"]),
        ("nothing/alike.rs", []),
    ],
)
def test_likely_files(path: str, likely: list[str]) -> None:
    assert likely_files(path, ["src/app/main.py", "main.py", "src/utils.py", "README"]) == likely


def test_at_most_five_likely_files_are_told() -> None:
    assert likely_files("x/a.py", [f"d{number}/a.py" for number in range(9)]) == [
        f"d{number}/a.py" for number in range(5)
    ]


@pytest.mark.parametrize(
    ("line", "typed", "shown"),
    [("abc xxxx", "abc yyyy", False), ("abcd xxxx", "abcd yyyy", True), ("abcd xxxx", "abce yyyy", False)],
)
def test_a_line_is_shown_only_where_more_than_half_of_it_is_the_same(
    line: str, typed: str, shown: bool
) -> None:
    told = describe_nearest([line], [typed])
    assert told.endswith(f"*1 | {line}") == shown
    assert told.endswith("nothing similar is") != shown


@pytest.mark.parametrize(
    ("old", "differs"),
    [
        (["def f():", "x = 1", "  y = 2"], "(* differs, in indentation only)"),
        (["def f():", "x = 3", "  y = 2"], "(* differs)"),
        (["def f():", "    x = 1", "    z = 2"], "(* differs)"),
    ],
)
def test_lines_that_differ_in_indentation_only_are_told_so(old: list[str], differs: str) -> None:
    assert differs in describe_nearest(["def f():", "    x = 1", "    y = 2"], old)
