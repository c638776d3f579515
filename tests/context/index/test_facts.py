"""What the index keeps of one content."""

from __future__ import annotations

from context.disk.source import Source
from context.index.facts import facts_of


def test_words_of_the_path_and_of_defined_names_count_more() -> None:
    facts = facts_of(Source("src/queue.py", "def drain(queue): pass  # drain it, 0x1F times\n", "0" * 64))
    assert facts.names == {"drain"}
    # Twice in the text and once as a name; once in the text and twice in the path.
    assert facts.words == {"src": 2, "queue": 3, "def": 1, "drain": 3, "pass": 1, "times": 1}


def test_an_outline_that_no_map_has_room_for_is_cut_at_a_line() -> None:
    lines = [f"#define REGISTER_NUMBER_{number} 0x{number:08X}" for number in range(3_000)]
    facts = facts_of(Source("registers.h", "\n".join(lines) + "\n", "0" * 64))
    kept = facts.outline.splitlines()
    assert kept[:-1] == lines[: len(kept) - 1]
    assert kept[-1] == "… more"
    assert 39_000 < len(facts.outline) <= 40_000 + len("… more\n")
    assert "REGISTER_NUMBER_2999" in facts.names


def test_lines_are_kept_where_they_are_wanted() -> None:
    source = Source("a.py", "x = 1\nx = 1\ny = 2\n", "0" * 64)
    sums = facts_of(source).lines
    assert sums is not None and sums[0] == sums[1] != sums[2] and len(sums) == 3
    assert facts_of(source, lines=False).lines is None
