"""Tables of TOML files: what cannot be used is named by table and key, and no secret is shown."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from session.base.text.tables import Table, TableError


def table(text: str, where: str = "[x]") -> Table:
    return Table(where, tomllib.loads(text))


def test_values_are_read_by_their_types() -> None:
    read = table('a = "t"\nb = true\nc = 3\nd = ["x"]\ne = 1.5\nf = {g = "h"}\n[[i]]\nj = 1\n')
    assert (read.text("a"), read.flag("b", False), read.whole("c", least=1)) == ("t", True, 3)
    assert (read.texts("d"), read.seconds("e"), dict(read.text_table("f"))) == (("x",), 1.5, {"g": "h"})
    (inner,) = read.inners("i")
    assert inner.count("j") == 1 and inner.where == "[x], i 1"
    read.end()


def test_what_is_not_given_is_the_default() -> None:
    read = table("")
    assert (read.text("a", "t"), read.flag("b", True), read.whole("c", 0, least=1)) == ("t", True, 0)
    assert (read.seconds("d"), read.inner("e"), read.inners("f"), read.count("g")) == (None, None, [], None)


@pytest.mark.parametrize(
    ("text", "ask", "why"),
    [
        ("a = 3", lambda t: t.text("a"), "[x] a must be a string, not 3"),
        ("", lambda t: t.text("a"), "[x] needs a, a string"),
        ('a = "yes"', lambda t: t.flag("a", True), "[x] a must be true or false, not 'yes'"),
        ("a = true", lambda t: t.whole("a", least=1), "[x] a must be a whole number of at least 1, not True"),
        (
            "a = 9",
            lambda t: t.whole("a", least=1, most=8, unit="threads"),
            "[x] a must be a whole number of threads from 1 to 8, not 9",
        ),
        ("a = 0", lambda t: t.seconds("a"), "[x] a must be a number of seconds above 0, not 0"),
        ("a = nan", lambda t: t.seconds("a"), "[x] a must be a number of seconds above 0, not nan"),
        ("a = 61", lambda t: t.seconds("a", 60), "[x] a must be a number of seconds above 0 and up to 60"),
        ("a = [1]", lambda t: t.texts("a"), "[x] a must be a list of strings"),
        ('a = ["c"]', lambda t: t.texts("a", (), ("b",)), "[x] a names 'c'; there are b"),
        ('a = "c"', lambda t: t.choice("a", ("b", "d")), "[x] a must be 'b' or 'd'"),
        ('a = "c"', lambda t: t.choice("a", ("b", "d", "e")), "[x] a must be one of 'b', 'd', 'e'"),
        ("a = 1", lambda t: t.table("a"), "[x] a must be a table"),
        ("a = {b = 1}", lambda t: t.text_table("a"), "[x] a must be a table of strings"),
        ("a = [1]", lambda t: t.inners("a"), "[x] a must be tables"),
        ("a = 1", lambda t: t.inner("a"), "[x], a: must be a table"),
    ],
)
def test_a_wrong_value_is_named(text: str, ask: Callable[[Table], Any], why: str) -> None:
    with pytest.raises(TableError) as caught:
        ask(table(text))
    assert str(caught.value).startswith(why)


def test_a_text_in_the_wrong_place_is_not_shown() -> None:
    for ask in (Table.text, Table.text_table, Table.inners):
        with pytest.raises(TableError) as caught:
            ask(table('a = ["sk-secret"]'), "a")
        assert "sk-secret" not in str(caught.value)


def test_an_unknown_key_is_answered_with_the_known_ones_and_a_guess() -> None:
    read = table("timeout = 1")
    read.text("url", "")
    read.seconds("time_out")
    with pytest.raises(TableError) as caught:
        read.end()
    assert (
        str(caught.value) == "[x] has no key 'timeout' (did you mean 'time_out'?); its keys are time_out, url"
    )


def test_a_file_stands_before_the_message_and_the_top_table_has_no_name() -> None:
    assert str(table("", "some/file.toml").wrong("needs a")) == "some/file.toml: needs a"
    assert str(table("", "").wrong("needs a")) == "needs a"
