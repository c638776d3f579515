"""The table of ``spark usage``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from session.base.text.sanitize import clean_line
from session.record.side_usage import side_spent, side_turn
from session.record.usage_log import Row
from session.record.usage_totals import Spent, spent
from tui.front.printing import say, say_json
from tui.front.words.figures import cached_share, cost, thousands

Table = Mapping[tuple[date, str, str, str], Spent]
"""Tokens and cost by day, model, provider and kind of side request; the kind of turns is empty."""

_HEAD = ("day", "model", "turns", "in", "cached", "out", "reasoning", "cost")


def first_day(days: int) -> date:
    """The first of the last ``days`` days; today is the last."""
    return date.today() - timedelta(days=days - 1)


def sums(rows: Iterable[Row]) -> Table:
    """The sums over the turns, oldest day first."""
    table: dict[tuple[date, str, str, str], Spent] = {}
    for row in rows:
        aside = side_turn(row.usage.turn)
        key = (row.day, row.usage.model, row.provider, aside.kind if aside is not None else "")
        table[key] = table.get(key, Spent()) + (side_spent(row) if aside is not None else spent(row.usage))
    return dict(sorted(table.items()))


def print_json(table: Table) -> None:
    """One JSON object per line. Those of side requests have a ``kind``, and count requests as ``turns``.
    ``cost`` is in US dollars, null where no price is known, and leaves out the
    ``unpriced_turns``."""
    for (day, model, provider, kind), taken in table.items():
        record = {
            "type": "usage.day",
            "day": day.isoformat(),
            "model": model,
            "provider": provider,
            "turns": taken.turns,
            "input_tokens": taken.input,
            "cached_tokens": taken.cached,
            "output_tokens": taken.output,
            "reasoning_tokens": taken.reasoning,
            "estimated_tokens": taken.estimated,
            "cost": None if taken.known_cost is None else round(taken.known_cost, 6),
            "unpriced_turns": taken.unpriced,
        }
        say_json({**record, "kind": kind} if kind else record)


def print_table(table: Table) -> None:
    """One line per day and model, and one for the sum."""
    lines: list[tuple[str, ...]] = [_HEAD]
    for (day, model, _, kind), taken in table.items():
        lines.append(_cells(str(day), clean_line(f"{model} ({kind}s)" if kind else model), taken))
    if len(table) > 1:
        lines.append(_cells("all", "", sum(table.values(), Spent())))
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    for line in lines:
        words = [
            text.ljust(width) if column < 2 else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        say("  ".join(words).rstrip())


def _cells(day: str, model: str, taken: Spent) -> tuple[str, ...]:
    mark = "~" if taken.estimated else ""
    return (
        day,
        model,
        str(taken.turns),
        mark + thousands(taken.input),
        cached_share(taken) or "-",
        mark + thousands(taken.output),
        thousands(taken.reasoning),
        cost(taken),
    )
