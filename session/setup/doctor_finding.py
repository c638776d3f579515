"""The result of one check of ``spark doctor``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: its name, whether it passed (None if it does not matter here), what was found, and the
    milliseconds it took where those mean something."""

    step: str
    well: bool | None
    found: str
    milliseconds: float | None = None
