"""The words of a request are counted in each passage of a file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.disk.source import Source
from context.index.file_text import FileText
from context.text.words import IDENTIFIER, words_of
from context.window.passage_words import WordCounts, count_words
from context.window.passages import passages

LINES = (
    "def readAll(read_size, 0xBEEF, x2y):",
    "    read = read_read(12_read) + 7read",
    "",
    "\tclass HTTPReader: pass  # read it all",
    "größe = LängeDerZeile + read\x0bReader",
    "a\fb reader İread",
    "value = other(value, size, the_reader)" * 9,
)
WANTED = ("read", "reader", "size", "read_size", "the", "länge", "it", "readall", "missing")


def expected(file: FileText) -> WordCounts:
    counts: WordCounts = {}
    for number, passage in enumerate(passages(file)):
        for line in file.lines[passage.lines.start : passage.lines.stop]:
            for identifier in IDENTIFIER.findall(line):
                for word in words_of(identifier):
                    if word in WANTED:
                        held = counts.setdefault(word, {})
                        held[number] = held.get(number, 0) + 1
    return counts


@given(st.lists(st.sampled_from(LINES), max_size=60))
def test_words_are_counted_in_each_passage(lines: list[str]) -> None:
    file = FileText(Source("a.py", "\n".join(lines), "digest"))
    assert count_words({"a.py": file}, WANTED) == {"a.py": expected(file)}


@pytest.mark.parametrize("ending", ["", "größe\n"])
def test_each_file_has_its_own_counts(ending: str) -> None:
    first = FileText(Source("a.py", "read_read = 1read\n" + ending, "1"))
    second = FileText(Source("b.py", f"Reader.readAll()\n{ending}", "2"))
    assert count_words({"a.py": first, "b.py": second}, WANTED) == {
        "a.py": {"read": {0: 2}},
        "b.py": {"reader": {0: 1}, "readall": {0: 1}, "read": {0: 1}},
    }


def test_counts_that_were_kept_are_those_of_the_words_asked_for() -> None:
    first = FileText(Source("a.py", "read(size)\n", "1"))
    second = FileText(Source("b.py", "size = read(read)\n", "2"))
    for _ in range(2):
        assert count_words({"a.py": first}, ["read"]) == {"a.py": {"read": {0: 1}}}
        both = count_words({"b.py": second, "a.py": first}, ["size"])
        assert list(both.items()) == [("b.py", {"size": {0: 1}}), ("a.py", {"size": {0: 1}})]
        assert count_words({"a.py": first, "b.py": second}, ["read"])["b.py"] == {"read": {0: 2}}
