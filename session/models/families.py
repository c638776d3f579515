"""What is assumed of models by the family that their name tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

_TRAITS = ("reasoning_field", "tools_as_item", "steer")
"""Keys that a model's own row has from its family too: they are about the maker and not about the model."""


@dataclass(frozen=True, slots=True)
class Families:
    """The rows of ``[[families]]``. A row's ``names`` are patterns with ``*``; they are compared with the
    last part of a name (``gpt-5.6`` of ``openai/gpt-5.6``) in lower case. The last row that fits counts."""

    rows: tuple[Mapping[str, Any], ...]

    def assumed(self, name: str) -> dict[str, Any]:
        """All that is assumed of a model without a row."""
        own = name.lower().rpartition("/")[2]
        values: dict[str, Any] = {}
        for row in self.rows:
            if any(fnmatchcase(own, pattern) for pattern in row["names"]):
                values |= {key: value for key, value in row.items() if key != "names"}
        return values

    def traits(self, name: str) -> dict[str, Any]:
        """What also holds for a model with a row, where that does not say otherwise."""
        return {key: value for key, value in self.assumed(name).items() if key in _TRAITS}
