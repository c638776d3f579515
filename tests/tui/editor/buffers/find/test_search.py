from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.editor.buffers.text_search import (
    LONGEST_LINE,
    MOST,
    Match,
    Mode,
    Search,
    SearchError,
    in_row,
    next_match,
)

texts = st.lists(st.text("abAB \t.é(", max_size=12), min_size=1, max_size=8)


@given(texts, st.text("abAB .(", min_size=1, max_size=3))
def test_a_literal_search_finds_what_each_line_holds(lines: list[str], query: str) -> None:
    found = Search(query, Mode.EXACT).matches(lines)
    by_line = [
        Match(row, at.start(), at.end())
        for row, line in enumerate(lines)
        for at in re.finditer(re.escape(query), line)
    ]
    assert found == by_line
    for row in range(len(lines)):
        assert in_row(found, row) == [(each.start, each.end) for each in by_line if each.row == row]


@given(texts, st.text("abAB .(", min_size=1, max_size=3), st.text("xy\n\\1", max_size=4))
def test_replacing_all_is_what_replacing_in_the_text_is(lines: list[str], query: str, put: str) -> None:
    search = Search(query, Mode.EXACT)
    rows = search.replaced(lines, search.matches(lines), put)
    after = list(lines)
    if rows is not None:
        assert rows.fits(lines)
        after[rows.row : rows.row + len(rows.old)] = rows.new
    assert "\n".join(after) == "\n".join(line.replace(query, put) for line in lines)


def test_small_letters_match_capitals_and_capitals_only_themselves() -> None:
    lines = ["Store store STORE"]
    assert len(Search("store").matches(lines)) == 3
    assert len(Search("Store").matches(lines)) == 1
    assert len(Search("store", Mode.EXACT).matches(lines)) == 1
    assert len(Search("s.ore", Mode.REGEX).matches(lines)) == 3


def test_a_regular_expression_replaces_with_its_groups() -> None:
    search = Search(r"(\w+)\((?P<inside>\w+)\)", Mode.REGEX)
    lines = ["a(b) + c(d)"]
    rows = search.replaced(lines, search.matches(lines), r"\g<inside>[\1]")
    assert rows is not None and rows.new == ("b[a] + d[c]",)


@pytest.mark.parametrize("text", ["(", "[", "*", "a{99999999999}", "(?P<n"])
def test_what_is_no_regular_expression_is_told(text: str) -> None:
    with pytest.raises(SearchError, match="not a regular expression"):
        Search(text, Mode.REGEX)


@pytest.mark.parametrize("template", [r"\2", r"\g<none>", "\\"])
def test_a_replacement_without_its_group_is_told(template: str) -> None:
    search = Search("(a)", Mode.REGEX)
    with pytest.raises(SearchError, match="group"):
        search.replaced(["a"], search.matches(["a"]), template)


def test_empty_matches_long_lines_and_endless_matches_are_bounded() -> None:
    assert Search("x*", Mode.REGEX).matches(["ab", "xx"]) == [Match(1, 0, 2)]
    assert Search("(a+)+b", Mode.REGEX).matches(["a" * (LONGEST_LINE + 1)]) == []
    assert len(Search("a").matches(["a" * (MOST + 5)])) == MOST
    assert Search("").matches(["a"]) == []


def test_the_next_match_goes_round_both_ends() -> None:
    matches = [Match(0, 2, 3), Match(4, 0, 1)]
    assert next_match(matches, (0, 2), 1) == (0, False)
    assert next_match(matches, (0, 3), 1) == (1, False)
    assert next_match(matches, (4, 1), 1) == (0, True)
    assert next_match(matches, (4, 0), -1) == (0, False)
    assert next_match(matches, (0, 2), -1) == (1, True)
    assert next_match([], (0, 0), 1) is None


@pytest.mark.parametrize("text", ["(a+)+$", "(a|a)+$", "(a|aa)+$", "(.*a){25}$"])
def test_a_regular_expression_that_would_never_end_is_stopped(text: str) -> None:
    search = Search(text, Mode.REGEX)
    with pytest.raises(SearchError, match="takes too long"):
        search.matches(["a" * 200 + "!"] * 50)


def test_a_replacement_that_would_never_end_is_stopped() -> None:
    line = "a" * 200 + "!"
    with pytest.raises(SearchError, match="takes too long"):
        Search("(a|a)+$", Mode.REGEX).replaced([line], [Match(0, 0, 200)], "b")
