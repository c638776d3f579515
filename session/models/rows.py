"""Reading one row of the catalogue key by key: wrong types and unknown keys are refused by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class CatalogueError(ValueError):
    """A row of the catalogue, or of the user's additions to it, cannot be used."""


class Row:
    """A TOML table; ``where`` names it in messages. Call :meth:`end` after the last key."""

    def __init__(self, where: str, values: Any) -> None:
        if not isinstance(values, dict):
            raise CatalogueError(f"{where} must be a table")
        self.where = where
        self._values: dict[str, Any] = dict(values)
        self._known: list[str] = []

    def text(self, key: str, default: str | None = None) -> str:
        """A string; without a default it must be there."""
        value = self._take(key, default)
        if value is None:
            raise self.wrong(f"needs {key}, a string")
        if not isinstance(value, str):
            raise self.wrong(f"{key} must be a string")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.wrong(f"{key} must be true or false")
        return value

    def seconds(self, key: str) -> float | None:
        """A time above 0; None where it is not given."""
        value = self._take(key, None)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise self.wrong(f"{key} must be a number of seconds above 0")
        return float(value)

    def whole(self, key: str, unit: str, default: int | None = None) -> int:
        """A whole number above 0."""
        value = self._take(key, default)
        if type(value) is not int or value <= 0:
            raise self.wrong(f"{key} must be a whole number of {unit} above 0")
        return value

    def texts(
        self, key: str, default: tuple[str, ...] = (), choices: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """A list of strings, of ``choices`` if there are any."""
        value = self._take(key, list(default))
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self.wrong(f"{key} must be a list of strings")
        for entry in value:
            if choices and entry not in choices:
                raise self.wrong(f"{key} names {entry!r}; there are {', '.join(choices)}")
        return tuple(value)

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """One of ``choices``; without a default it must be there."""
        value = self._take(key, default)
        if value not in choices:
            raise self.wrong(f"{key} must be {' or '.join(repr(choice) for choice in choices)}")
        return str(value)

    def table(self, key: str) -> Mapping[str, Any]:
        """A table, empty where it is not given."""
        value = self._take(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"{key} must be a table")
        return value

    def text_table(self, key: str) -> Mapping[str, str]:
        """A table of strings."""
        values = self.table(key)
        if not all(isinstance(value, str) for value in values.values()):
            raise self.wrong(f"{key} must hold strings")
        return values

    def end(self) -> None:
        """Refuse what is left over."""
        if self._values:
            unknown = ", ".join(repr(key) for key in sorted(self._values))
            raise self.wrong(f"unknown {unknown}; what can be set is {', '.join(sorted(self._known))}")

    def wrong(self, why: str) -> CatalogueError:
        """The error that names this row."""
        return CatalogueError(f"{self.where} {why}")

    def _take(self, key: str, default: Any) -> Any:
        self._known.append(key)
        return self._values.pop(key, default)
