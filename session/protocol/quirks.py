"""Where a provider departs from its dialect in the body of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Quirks:
    """Body fields a provider refuses (``omit``) or knows under another name (``rename``)."""

    omit: frozenset[str] = frozenset()
    rename: Mapping[str, str] = field(default_factory=dict)

    def apply(self, body: dict[str, Any]) -> dict[str, Any]:
        """``body`` as this provider takes it."""
        if not self.omit and not self.rename:
            return body
        return {self.rename.get(key, key): value for key, value in body.items() if key not in self.omit}


NO_QUIRKS = Quirks()
