"""Rows: what is put into one comes out of it, though it is kept in another form."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from tui.drawing.rows import Row, wrap

SPANS = some.lists(
    some.tuples(some.text("ab é字", max_size=12), some.sampled_from(["text", "added", "muted"]))
)


@given(SPANS)
def test_a_row_has_the_spans_that_it_was_given(spans: list[tuple[str, str]]) -> None:
    row = Row(spans)
    assert row.spans == tuple(spans)
    assert row.text == "".join(text for text, _ in spans)


@given(SPANS, some.integers(1, 30))
def test_wrapped_rows_hold_the_whole_text(spans: list[tuple[str, str]], width: int) -> None:
    rows = wrap(spans, width)
    text = "".join((row.joint or "") + row.text for row in rows)
    assert text == "".join(text for text, _ in spans)
