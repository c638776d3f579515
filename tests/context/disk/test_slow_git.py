"""How many files a tree stands for, counted without listing them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from hypothesis import given
from hypothesis import strategies as st

from context.disk.git_process import names_at_least

Tree = tuple[int, list[int]]
"""The number of files in a folder, and which earlier folders it holds."""
TREES = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.integers(0, 9), max_size=3)), min_size=1, max_size=8
)


def name_of(number: int) -> str:
    return f"{number:040x}"


def read_from(trees: list[Tree]) -> dict[str, bytes]:
    """The trees as git keeps them; a folder that is named before any exists is left out."""
    content = {}
    for number, (files, below) in enumerate(trees):
        entries = [b"100644 f%d\0" % each + bytes(20) for each in range(files)]
        for at, other in enumerate(below):
            if number:
                entries.append(b"40000 d%d\0" % at + bytes.fromhex(name_of(other % number)))
        content[name_of(number)] = b"".join(entries)
    return content


def listed(trees: list[Tree], number: int) -> int:
    files, below = trees[number]
    return files + sum(listed(trees, other % number) for other in below if number)


@given(TREES)
def test_the_count_is_that_of_the_list(trees: list[Tree]) -> None:
    held = read_from(trees)
    top = len(trees) - 1
    total = listed(trees, top)

    def read(names: Iterable[str]) -> Mapping[str, bytes]:
        return {name: held[name] for name in names}

    assert names_at_least(name_of(top), read, 10**6, math.inf) == total
    few = names_at_least(name_of(top), read, 3, math.inf)
    assert 3 < few <= total or few == total <= 3


def test_each_folder_is_read_once_however_often_it_is_named() -> None:
    held = read_from([(10, []), *((0, [number] * 10) for number in range(12))])
    asked: list[str] = []

    def read(names: Iterable[str]) -> Mapping[str, bytes]:
        asked.extend(names)
        return {name: held[name] for name in asked}

    assert names_at_least(name_of(12), read, 100, math.inf) == 10**13
    assert len(asked) == 13


def test_folders_that_are_named_often_are_read_before_all_others() -> None:
    """One of the first of ten thousand folders is the top of a few that stand for many files."""
    ordinary = range(13, 10_013)
    trees: list[Tree] = [(10, []), *((0, [number] * 10) for number in range(12))]
    trees += [(1, [number + 10_000]) for number in ordinary] + [(1, []) for number in ordinary]
    trees.append((0, [12, *ordinary]))
    held = read_from(trees)
    asked: list[str] = []

    def read(names: Iterable[str]) -> Mapping[str, bytes]:
        asked.extend(names)
        return {name: held[name] for name in asked}

    assert names_at_least(name_of(len(trees) - 1), read, 10**7, math.inf) > 10**13
    assert len(asked) < 2_000


def test_a_count_that_is_not_finished_is_one_of_what_was_read() -> None:
    deep = read_from([(1, []), *((1, [number]) for number in range(5_000))])
    assert names_at_least(name_of(5_000), lambda names: {n: deep[n] for n in names}, 10**6, math.inf) == 5_001
    assert names_at_least(name_of(1), lambda names: {}, 1_000, math.inf) == 0
    soon = iter([deep[name_of(5_000)]])
    found = names_at_least(name_of(5_000), lambda names: {n: next(soon, b"") for n in names}, 9, math.inf)
    assert found == 1
    assert names_at_least(name_of(5_000), lambda names: deep, 9, -math.inf) == 0
