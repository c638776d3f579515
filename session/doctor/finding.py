"""What an examination finds, for ``spark doctor``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One step: what was looked at, whether it is well (None: it does not matter here), what was found,
    and the milliseconds it took where that says something."""

    step: str
    well: bool | None
    found: str
    milliseconds: float | None = None
