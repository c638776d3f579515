"""The table of ``spark models``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from session.base.text.sanitize import clean_line
from session.models.catalogue import Model, Price
from tui.front.printing import say, say_json
from tui.front.words.figures import thousands

_HEAD = ("", "model", "window", "efforts", "$ in/cached/out", "edits", "reads", "provider", "checked")


@dataclass(frozen=True, slots=True)
class Listed:
    """A model, whether the catalogue has a row for it, and whether it is the one in use."""

    model: Model
    known: bool
    used: bool


def print_json(rows: Sequence[Listed]) -> None:
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


def print_table(rows: Sequence[Listed]) -> None:
    """One line per model with its prices in dollars per million tokens; only names where nothing is known."""
    lines = [_cells(row) for row in rows]
    if any(row.known for row in rows):
        lines.insert(0, _HEAD)
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEAD))]
    for line in lines:
        words = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        say((line[0] or " ").ljust(2) + "  ".join(list(words)[1:]).rstrip())


def _cells(row: Listed) -> tuple[str, ...]:
    model = row.model
    sign, name = "*" if row.used else "+" if row.known else "", clean_line(model.name)
    if not row.known:
        return (sign, name, *[""] * (len(_HEAD) - 2))
    efforts = " ".join(model.efforts) or "none"
    price = "unknown" if model.price is None else _price(model.price)
    reads = "+".join(model.modalities)
    window, checked = thousands(model.window), model.checked or "-"
    return (sign, name, window, efforts, price, model.edit_format, reads, model.provider, checked)


def _price(price: Price) -> str:
    amounts = "/".join(f"{amount:g}" for amount in (price.input, price.cached, price.output))
    return amounts + (f" (>{thousands(price.long_over)}: more)" if price.long is not None else "")
