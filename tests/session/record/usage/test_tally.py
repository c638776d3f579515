"""The speed of an answer: told where enough came for long enough, and else not at all."""

from __future__ import annotations

import pytest

from session.record import turn_cost
from session.record.turn_cost import Tally
from session.wire.protocol.events import TextDelta, TokenUsage


@pytest.mark.parametrize(
    ("tokens", "took", "rate"),
    [
        (51, 0.00372, None),  # 13,708 tokens a second, as a stopped race once told
        (1_000, 0.049, None),
        (19, 5.0, None),
        (20, 0.05, 400.0),
        (1_000, 1.0, 1_000.0),
        (0, 9.0, None),
    ],
)
def test_a_speed_is_told_where_enough_tokens_came_for_long_enough(
    tokens: int, took: float, rate: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter((0.0, took))
    monkeypatch.setattr(turn_cost, "monotonic", lambda: next(clock))
    each = Tally("t1")
    for text in ("the first piece", "the last piece"):
        each.saw(TextDelta(text))
    each.count(TokenUsage(100, 0, tokens, 0))
    assert each.event().tokens_per_second == rate
