"""Files in segments of the index are found again, whichever way they were written."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from context.disk.source import Source
from context.index import memory_segment
from context.index.facts import facts_of
from context.index.memory_segment import MemorySegment
from context.index.part import COUNT_BITS, MOST_COUNTED, Facts
from context.index.segment import DamagedSegment, Segment
from context.index.segment_writing import write_segment
from context.text.words import definition_term, stem_term, term_numbers


def made(count: int, seed: int = 1) -> list[Facts]:
    """Files that share some of their words."""
    dice = random.Random(seed)
    vocabulary = [f"word_{number:03}" for number in range(300)] + ["größe", "x" * 60]
    found = []
    for number in range(count):
        text = " ".join(dice.choices(vocabulary, k=dice.randint(1, 200)))
        name = f"src/file_{seed}_{number}.py"
        found.append(facts_of(Source(name, f"def made_{number}(): {text}\n", f"{number + seed:064x}")))
    return found


def drafted(files: Iterable[Facts]) -> MemorySegment:
    draft = MemorySegment()
    for facts in files:
        draft.add(facts)
    return draft


def held(part: MemorySegment | Segment, term: str) -> dict[str, int]:
    """The files with a term, and how often it occurs in each, up to the largest count."""
    postings = part.postings(term)
    if postings is None:
        return {}
    assert list(postings) == sorted(postings)
    return {part.path(packed >> COUNT_BITS): packed & MOST_COUNTED for packed in postings}


def told(files: Iterable[Facts], term: str) -> dict[str, int]:
    return {facts.path: min(facts.words[term], MOST_COUNTED) for facts in files if facts.words.get(term)}


def written(
    tmp_path: Path, *parts: tuple[MemorySegment | Segment, bytes | None], name: str = "one"
) -> Segment:
    write_segment(parts, tmp_path / name)
    return Segment(tmp_path / name)


def test_a_segment_has_the_contents_of_its_draft(tmp_path: Path) -> None:
    files = made(120)
    draft = drafted(files)
    segment = written(tmp_path, (draft, None))
    assert len(segment) == 120
    for number, facts in enumerate(files):
        assert segment.path(number) == facts.path
        assert segment.digest(number) == facts.digest
        assert segment.outline(number) == facts.outline
        assert segment.layout(number) == facts.layout != b""
        assert segment.names(number) == " ".join(sorted(facts.names))
        assert segment.lines(number) == facts.lines
        assert segment.find(facts.path, facts.digest) == number
        assert segment.find(facts.path, "0" * 64) is None
        assert held(segment, definition_term(f"made_{number}")) == {facts.path: 1}
        assert held(segment, stem_term(f"file_1_{number}")) == {facts.path: 1}
    for word in {word for facts in files for word in facts.words} | {"nowhere", ""}:
        assert held(segment, word) == held(draft, word) == told(files, word)


def test_a_merged_segment_has_the_live_files(tmp_path: Path) -> None:
    first, second, third = made(60, 1), made(50, 2), made(40, 3)
    parts = [
        written(tmp_path, (drafted(files), None), name=f"p{at}")
        for at, files in enumerate((first, second, third))
    ]
    live = bytes(number % 3 != 0 for number in range(50))
    merged = written(tmp_path, (parts[0], None), (parts[1], live), (parts[2], bytes([1] * 40)), name="merged")
    kept = first + [facts for facts, alive in zip(second, live, strict=True) if alive] + third
    assert [merged.path(number) for number in range(len(merged))] == [facts.path for facts in kept]
    for word in {word for facts in (*first, *second, *third) for word in facts.words}:
        assert held(merged, word) == told(kept, word)


def test_runs_written_together_have_the_contents_of_each(tmp_path: Path) -> None:
    first, second = made(30, 1), made(30, 2)
    runs = [drafted(files).pack() for files in (first, second)]
    write_segment([(run, None) for run in runs], tmp_path / "runs")
    segment = Segment(tmp_path / "runs")
    for word in {word for facts in (*first, *second) for word in facts.words}:
        assert held(segment, word) == told([*first, *second], word)


def test_terms_with_the_same_number_share_their_postings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All but the first letters are lost: many words have one number then.
    monkeypatch.setattr(
        memory_segment, "term_numbers", lambda terms: term_numbers([term[:7] for term in terms])
    )
    files = made(40)
    segment = written(tmp_path, (drafted(files), None))
    for start in ("word_00", "word_01"):
        expected = {facts.path for facts in files if any(word.startswith(start) for word in facts.words)}
        assert held(segment, start).keys() == expected


def test_numbers_of_terms_are_the_same_everywhere() -> None:
    # They are on disk: another version of Python reads them.
    expected = [0xC3F17511E61B, 0x5BD3A98924D1, 0x84257FB7BCF7]
    assert term_numbers(["word", "größe", "\x01name"]) == expected


@pytest.mark.parametrize("end", [0, 10, 500, -1])
def test_a_segment_cut_short_is_refused(tmp_path: Path, end: int) -> None:
    write_segment([(drafted(made(5)), None)], tmp_path / "one")
    whole = (tmp_path / "one").read_bytes()
    (tmp_path / "one").write_bytes(whole[:end])
    with pytest.raises(DamagedSegment):
        Segment(tmp_path / "one")


def test_a_table_that_was_overwritten_is_refused(tmp_path: Path) -> None:
    segment = written(tmp_path, (drafted(made(200)), None))
    data = bytearray((tmp_path / "one").read_bytes())
    lengths = segment.lengths.tobytes()
    at = data.index(lengths)
    data[at : at + 8] = b"\xff" * 8
    (tmp_path / "two").write_bytes(data)
    with pytest.raises(DamagedSegment, match="a part of itself"):
        Segment(tmp_path / "two")


def test_a_segment_cut_short_during_a_merge_raises_an_error(tmp_path: Path) -> None:
    segment = written(tmp_path, (drafted(made(200)), None))
    (tmp_path / "one").write_bytes(b"spark")
    with pytest.raises(DamagedSegment, match="cut short"):
        write_segment([(segment, None), (drafted(made(3)), None)], tmp_path / "two")
    assert segment.damaged
    assert not (tmp_path / "two").exists()
