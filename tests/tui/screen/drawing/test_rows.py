"""Rows: what is put into one comes out of it, though it is kept in another form."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from tui.screen.drawing.rows import CODE_FREE, Breaks, Row, breaks, wrap

SPANS = some.lists(
    some.tuples(some.text("ab é字", max_size=12), some.sampled_from(["text", "added", "muted"]))
)


@given(SPANS)
def test_a_row_has_the_spans_that_it_was_given(spans: list[tuple[str, str]]) -> None:
    row = Row(spans)
    assert row.spans == spans
    assert row.text == "".join(text for text, _ in spans)


@given(SPANS, some.integers(1, 30), some.sampled_from(Breaks))
def test_wrapped_rows_hold_the_whole_text(spans: list[tuple[str, str]], width: int, by: Breaks) -> None:
    rows = wrap(spans, width, by=by)
    text = "".join((row.joint or "") + row.text for row in rows)
    assert text == "".join(text for text, _ in spans)


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        ("    total = first + second", 20, ["    total = first +", "second"]),
        ("    return compute(first_value)", 24, ["    return compute(first", "_value)"]),
        ("        deeply = 1", 16, ["        deeply =", "1"]),
        ("x = 'a_long_text_without_any_blank'", 12, ["x = 'a_long_", "text_without", "_any_blank'"]),
        ("                  ok", 10, [" " * 10, "        ok"]),
    ],
)
def test_code_breaks_at_a_space_near_the_end_of_a_row(line: str, width: int, rows: list[str]) -> None:
    assert [line[start:end] for start, end in breaks(line, width, Breaks.CODE)] == rows


@given(some.text("ab ", max_size=300), some.integers(1, 120))
def test_a_break_of_code_leaves_little_free(line: str, width: int) -> None:
    for start, end in breaks(line, width, Breaks.CODE)[:-1]:
        assert end - start >= width - min(CODE_FREE, width // 4)
