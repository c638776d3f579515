"""How many tokens servers count for one that spark counts, by model: kept in one file of the state folder.

spark counts with OpenAI's encoding (o200k); other makers' models have encodings of their own.
"""

from __future__ import annotations

import json
from pathlib import Path

from session.base.storage.private_files import replace_private

FILE_NAME = "token-ratios.json"
_LOWEST, _HIGHEST = 0.5, 3.0
_WEIGHT = 0.2
"""The weight of one more measurement."""


def read_ratios(state: Path) -> dict[str, float]:
    """The measured ratios by ``PROVIDER/MODEL``. A damaged file is no file."""
    try:
        rows = json.loads((state / FILE_NAME).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(rows, dict):
        return {}
    return {
        name: float(value)
        for name, value in rows.items()
        if type(value) in (int, float) and _LOWEST <= value <= _HIGHEST
    }


def keep_ratio(state: Path, name: str, ratio: float) -> None:
    """Keep a measured ratio of the model ``name``, smoothed by those before. Raises OSError."""
    if not _LOWEST <= ratio <= _HIGHEST:
        return
    rows = read_ratios(state)
    before = rows.get(name)
    now = round(ratio if before is None else before + _WEIGHT * (ratio - before), 3)
    if now != before:
        replace_private(state / FILE_NAME, json.dumps({**rows, name: now}, indent=1).encode())
