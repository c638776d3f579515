"""What the index answers does not depend on how worker processes split the files between its parts."""

from __future__ import annotations

import random
from array import array

from hypothesis import given, settings
from hypothesis import strategies as st

from context.disk.source import Source
from context.index.entries import place
from context.index.facts import facts_of
from context.index.memory_segment import MemorySegment
from context.index.part import Facts
from context.index.postings import Words

FILES = [
    facts_of(
        Source(
            f"src/file_{number:04}.py",
            f"def shared(): common()\n{'rare = 1' if number % 160 == 0 else ''}\n"
            f"{'half = 2' if number % 2 else ''}\n",
            f"{number:064x}",
        )
    )
    for number in range(800)
]
QUESTIONS = ({"common": 1.0}, {"half": 1.0, "common": 0.5}, {"rare": 1.0, "half": 1.0, "shared": 2.0})


def split(parts: list[list[int]], removed: frozenset[int]) -> Words:
    """The index of :data:`FILES` in these parts, without the files that the user removed."""
    segments, at = [], {}
    for index, numbers in enumerate(parts):
        segment = MemorySegment()
        for number in numbers:
            at[number] = place(index, segment.add(FILES[number]))
        segments.append(segment)
    length = sum(sum(facts.words.values()) for facts in FILES)
    live = tuple(bytes([1]) * len(segment) for segment in segments)
    words = Words(tuple(segments), live, len(FILES), length)
    return words.without(at[number] for number in removed)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 1_000_000), st.integers(1, 5), st.sampled_from((0, 3, 60, 280, 760)))
def test_the_split_into_parts_changes_no_answer(seed: int, count: int, removing: int) -> None:
    dice = random.Random(seed)
    numbers = list(range(len(FILES)))
    removed = frozenset(dice.sample(numbers, removing))
    one = split([numbers], removed)
    dice.shuffle(numbers)
    cuts = sorted(dice.sample(range(len(FILES)), count - 1))
    ends = zip([0, *cuts], [*cuts, len(FILES)], strict=True)
    several = split([numbers[start:end] for start, end in ends], removed)
    for asked in QUESTIONS:
        assert several.score(asked) == one.score(asked)
    for word in ("common", "half", "rare", "nowhere"):
        assert several.rarity(word) == one.rarity(word)
    assert sorted(several.with_stems(["file_0001"])) == sorted(one.with_stems(["file_0001"]))
    assert several.defining_files({"shared": 1}) == one.defining_files({"shared": 1})


def test_a_file_that_is_outdated_does_not_count() -> None:
    numbers = list(range(160))
    rare = {number for number in numbers if number % 160 == 0}
    words = split([numbers], frozenset(numbers[1:80]))
    without = split([[0, *numbers[80:]]], frozenset())
    assert rare == {0}
    for word in ("rare", "half", "common"):
        assert words.rarity(word) == without.rarity(word)


def test_a_part_that_grew_since_is_counted_as_it_was() -> None:
    segment = MemorySegment()
    for facts in FILES[:300]:
        segment.add(facts)
    live = (bytes([1]) * 300,)
    before = Words((segment,), live, 300, 900)
    rarity = before.rarity("common")
    later: list[Facts] = FILES[300:600]
    for facts in later:
        segment.add(facts)
    assert Words((segment,), live, 300, 900).rarity("common") == rarity
    assert isinstance(segment.postings("common"), array)
