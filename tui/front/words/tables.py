"""The tables of ``spark models`` and ``spark usage``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta

from session.base.text.sanitize import clean_line
from session.models.catalogue import Model, Price
from session.record.usage import Spent, side_spent, side_turn, spent
from session.record.usage_log import Row
from tui.front.printing import say, say_json
from tui.front.words.figures import cached_share, cost, thousands

UsageTable = Mapping[tuple[date, str, str, str], Spent]
"""Tokens and cost by day, model, provider and kind of side request; the kind of turns is empty."""

_MODELS_HEAD = ("", "model", "window", "efforts", "$ in/cached/out", "edits", "reads", "provider", "checked")
_USAGE_HEAD = ("day", "model", "turns", "in", "cached", "out", "reasoning", "cost")


@dataclass(frozen=True, slots=True)
class Listed:
    """A model, whether the catalogue has a row for it, and whether it is the one in use."""

    model: Model
    known: bool
    used: bool


def print_models_json(rows: Sequence[Listed]) -> None:
    """One JSON object per line; assumptions about a model that is not ``known`` are left out."""
    for row in rows:
        model = row.model
        record: dict[str, object] = {
            "type": "model",
            "model": model.name,
            "known": row.known,
            "used": row.used,
        }
        if row.known:
            record |= {
                "provider": model.provider,
                "window": model.window,
                "efforts": model.efforts,
                "edit_format": model.edit_format,
                "modalities": model.modalities,
                "price": asdict(model.price) if model.price else None,
                "fast_price": asdict(model.fast_price) if model.fast_price else None,
                "checked": model.checked or None,
            }
        say_json(record)


def print_models(rows: Sequence[Listed]) -> None:
    """One line per model with its prices in dollars per million tokens; only names where nothing is known."""
    lines = [_model_cells(row) for row in rows]
    if any(row.known for row in rows):
        lines.insert(0, _MODELS_HEAD)
    widths = [max(len(line[column]) for line in lines) for column in range(len(_MODELS_HEAD))]
    for line in lines:
        words = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        say((line[0] or " ").ljust(2) + "  ".join(list(words)[1:]).rstrip())


def _model_cells(row: Listed) -> tuple[str, ...]:
    model = row.model
    sign, name = "*" if row.used else "+" if row.known else "", clean_line(model.name)
    if not row.known:
        return (sign, name, *[""] * (len(_MODELS_HEAD) - 2))
    efforts = " ".join(model.efforts) or "-"
    price = "unknown" if model.price is None else _price(model.price)
    reads = "+".join(model.modalities)
    window, checked = thousands(model.window), model.checked or "-"
    return (sign, name, window, efforts, price, model.edit_format, reads, model.provider, checked)


def _price(price: Price) -> str:
    amounts = "/".join(f"{amount:g}" for amount in (price.input, price.cached, price.output))
    return amounts + (f" (>{thousands(price.long_over)}: more)" if price.long is not None else "")


def first_day(days: int) -> date:
    """The first of the last ``days`` days; today is the last."""
    return date.today() - timedelta(days=days - 1)


def sums(rows: Iterable[Row]) -> UsageTable:
    """The sums over the turns, oldest day first."""
    table: dict[tuple[date, str, str, str], Spent] = {}
    for row in rows:
        aside = side_turn(row.usage.turn)
        key = (row.day, row.usage.model, row.provider, aside.kind if aside is not None else "")
        table[key] = table.get(key, Spent()) + (side_spent(row) if aside is not None else spent(row.usage))
    return dict(sorted(table.items()))


def print_usage_json(table: UsageTable) -> None:
    """One JSON object per line. Those of side requests have a ``kind``, and count requests as ``turns``.
    ``cost`` is in US dollars, null where no price is known, and leaves out the
    ``unpriced_turns`` and the ``plan_turns``."""
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
            "plan_turns": taken.planned,
        }
        say_json({**record, "kind": kind} if kind else record)


def print_usage(table: UsageTable) -> None:
    """One line per day and model, and one for the sum."""
    lines: list[tuple[str, ...]] = [_USAGE_HEAD]
    for (day, model, _, kind), taken in table.items():
        lines.append(_usage_cells(str(day), clean_line(f"{model} ({kind}s)" if kind else model), taken))
    if len(table) > 1:
        lines.append(_usage_cells("all", "", sum(table.values(), Spent())))
    widths = [max(len(line[column]) for line in lines) for column in range(len(_USAGE_HEAD))]
    for line in lines:
        words = [
            text.ljust(width) if column < 2 else text.rjust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        say("  ".join(words).rstrip())


def _usage_cells(day: str, model: str, taken: Spent) -> tuple[str, ...]:
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
