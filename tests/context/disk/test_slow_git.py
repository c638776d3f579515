"""How many files a tree stands for, counted without listing them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hypothesis import given
from hypothesis import strategies as st

from context.disk.slow_git import most_names

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

    def read(names: Iterable[str]) -> Mapping[str, bytes]:
        return {name: held[name] for name in names}

    top = len(trees) - 1
    assert most_names(name_of(top), read, 100) == listed(trees, top)
    assert most_names(name_of(top), read, 0) == 0


def test_each_folder_is_read_once_however_often_it_is_named() -> None:
    held = read_from([(10, []), *((0, [number] * 10) for number in range(12))])
    asked: list[str] = []

    def read(names: Iterable[str]) -> Mapping[str, bytes]:
        asked.extend(names)
        return {name: held[name] for name in asked}

    assert most_names(name_of(12), read, 100) == 10**13
    assert len(asked) == 13


def test_folders_without_end_and_missing_ones_say_nothing() -> None:
    deep = read_from([(1, []), *((1, [number]) for number in range(500))])
    assert most_names(name_of(500), lambda names: {name: deep[name] for name in names}, 1_000) == 0
    assert most_names(name_of(1), lambda names: {}, 1_000) == 0
