"""Tables in an answer: columns that stand under each other, whole at every width, in pieces as at once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tui.chat.transcript.answer import copied
from tui.chat.transcript.markdown import MarkdownStream
from tui.chat.transcript.tables import MOST

TABLE = """\
Before it.

| file | change | why |
| --- | :---: | --- |
| `globals.py` | two hunks | 日本語の説明 is wide |
| `a\\|b.py` | **one** hunk |
| `_textwrap.py` | one hunk | because it is slow |

After it.
"""


def drawn(text: str, width: int) -> list[str]:
    stream = MarkdownStream(width)
    stream.feed(text)
    stream.settle(closed=True)
    return [row.text.rstrip() for row in stream.rows]


def test_a_table_is_copied_as_it_was_written_and_a_part_of_a_line_as_it_is_drawn() -> None:
    stream = MarkdownStream(40)
    stream.feed(TABLE)
    stream.settle(closed=True)
    rows = [row for row in stream.rows if row.raw or row.joint == "\n"]
    assert len(rows) > 5, "a line of the table wraps"
    assert copied((row, 0, None) for row in rows) == TABLE.split("\n\n")[1]
    assert copied([(rows[0], 2, 6)]) == "file"


def test_the_columns_of_a_table_are_aligned_by_cells() -> None:
    assert drawn(TABLE, 70) == [
        "  Before it.",
        "",
        "  file         │ change    │ why",
        "  ───────────────────────────────────────────────",
        "  globals.py   │ two hunks │ 日本語の説明 is wide",
        "  a|b.py       │ one hunk  │",
        "  _textwrap.py │ one hunk  │ because it is slow",
        "",
        "  After it.",
    ]


def test_a_wide_table_wraps_its_cells_and_a_tiny_pane_gives_up_the_columns() -> None:
    lines = drawn(TABLE, 36)
    assert all(cell_len(line) <= 36 for line in lines)
    assert lines[7:11] == [
        "  a|b.py    │ one hunk  │",
        "  _textwrap │ one hunk  │ because",
        "  .py       │           │ it is",
        "            │           │ slow",
    ]
    assert "  globals.py │" in "\n".join(drawn(TABLE, 20)) and "slow" in "\n".join(drawn(TABLE, 20))


def test_a_line_is_drawn_when_it_is_whole_and_a_table_is_bounded() -> None:
    stream = MarkdownStream(60)
    stream.feed("| a | b |\n| --- | --- |\n| begun")
    stream.settle()
    assert "begun" not in "".join(row.text for row in stream.rows)
    stream.feed(" | x |\n" + "| y | z |\n" * 3 * MOST)
    stream.settle()
    first = len(stream.rows)
    stream.feed("| y | z |\n")
    assert stream.settle() >= first - MOST, "what stands further up is not laid out again"


@given(st.lists(st.integers(1, 9), min_size=1, max_size=60), st.integers(8, 80))
def test_a_table_in_pieces_ends_as_the_table_at_once(sizes: list[int], width: int) -> None:
    stream = MarkdownStream(width)
    seen = list(stream.rows)
    at = 0
    for size in sizes:
        stream.feed(TABLE[at : at + size])
        first = stream.settle()
        assert stream.rows[:first] == seen[:first]
        seen = list(stream.rows)
        at += size
    stream.feed(TABLE[at:])
    stream.settle(closed=True)
    assert [row.text.rstrip() for row in stream.rows] == drawn(TABLE, width)
