"""The table of a run: for each model and way, how many answers were read, landed and right."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

_HEAD = (
    "model",
    "way",
    "half",
    "n",
    "parsed",
    "landed",
    "right first",
    "right",
    "interval",
    "refused",
    "out",
    "s",
)


def table(rows: Sequence[dict[str, Any]], back: Collection[str], seed: int) -> str:
    """The table as Markdown, with the reasons of refusals below it. ``back`` are the requests held back."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        half = "held back" if row["request"] in back else "tuned"
        for name in (half, "all"):
            groups[row["model"], row["way"], name].append(row)
    lines = [_line(_HEAD), _line("---" for _ in _HEAD)]
    lines += [_line((*key, *_figures(group))) for key, group in sorted(groups.items())]
    reasons = Counter((row["model"], row["way"], why) for row in rows for why in _refusals(row))
    told = [f"- {model}, {way}: {why}: {count}" for (model, way, why), count in sorted(reasons.items())]
    return "\n".join([f"The half held back is that of seed {seed}.", "", *lines, "", *told])


def _line(cells: Iterable[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _figures(rows: Sequence[dict[str, Any]]) -> tuple[object, ...]:
    right = sum(not row["wrong"] for row in rows)
    first = sum(not row["wrong"] and len(row["answers"]) == 1 for row in rows)
    low, high = interval(right, len(rows))
    tokens = sum(answer["tokens_out"] for row in rows for answer in row["answers"])
    return (
        len(rows),
        sum(_parsed(row) for row in rows),
        sum(bool(row["changed"]) for row in rows),
        first,
        f"{right} ({100 * right / len(rows):.0f} %)",
        f"{100 * low:.0f}–{100 * high:.0f} %",
        sum(bool(_refusals(row)) for row in rows),
        round(tokens / len(rows)),
        round(sum(row["seconds"] for row in rows) / len(rows)),
    )


def _parsed(row: dict[str, Any]) -> bool:
    hunks = any(event["type"].startswith("hunk.") for event in row["events"])
    return hunks or (not row["events"] and bool(row["changed"]))


def _refusals(row: dict[str, Any]) -> list[str]:
    return [event.get("code", "") for event in row["events"] if event["type"] == "hunk.refused"]


def interval(right: int, of: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for ``right`` of ``of``."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, right / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return max(0.0, middle - half), min(1.0, middle + half)
