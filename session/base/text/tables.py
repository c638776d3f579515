"""Reads a table of a TOML file key by key, and says clearly what is wrong with it.

Every message names the table, the key and what was expected; an unknown key is answered with the known ones
and a guess at what was meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from session.base.text.wording import spelled_like

_LONGEST_VALUE = 60


class TableError(ValueError):
    """A table cannot be used; the message says where, what is wrong, and what is expected."""


class Table:
    """A TOML table; ``where`` names it in messages, as ``[tools]`` or a place in a file.

    Read all keys, then call :meth:`end`. Texts and lists are never shown in messages: they may hold a secret.
    """

    def __init__(self, where: str, values: Any) -> None:
        if not isinstance(values, Mapping):
            raise _error(where, "must be a table")
        self.where = where
        self._values: dict[str, Any] = dict(values)
        self._known: list[str] = []

    def has(self, key: str) -> bool:
        """Whether ``key`` is given and was not read yet."""
        return key in self._values

    def take(self, key: str, default: Any = None) -> Any:
        """The value of ``key``, whatever its type."""
        self._known.append(key)
        return self._values.pop(key, default)

    def text(self, key: str, default: str | None = None) -> str:
        """A string; without a default the key is required."""
        value = self.take(key, default)
        if value is None:
            raise self.wrong(f"needs {key}, a string")
        if not isinstance(value, str):
            given = f", not {value!r}" if isinstance(value, int | float) else ""
            raise self.wrong(f"{key} must be a string{given}")
        return value

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self.take(key, default)
        if not isinstance(value, bool):
            raise self.wrong(f"{key} must be true or false, not {_shown(value)}")
        return value

    def whole(
        self, key: str, default: int | None = None, *, least: int, most: int | None = None, unit: str = ""
    ) -> int:
        """A whole number from ``least`` to ``most``; a default may lie outside of that."""
        value = self.take(key, default)
        if value == default and type(value) is int:
            return value
        if type(value) is not int or value < least or (most is not None and value > most):
            bounds = f"from {least} to {most}" if most is not None else f"of at least {least}"
            counted = f" of {unit}" if unit else ""
            raise self.wrong(f"{key} must be a whole number{counted} {bounds}, not {_shown(value)}")
        return value

    def number(
        self, key: str, default: float, *, least: float = 0.0, most: float = 10**6, unit: str = ""
    ) -> float:
        """A number from ``least`` to ``most``."""
        value = self.take(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            counted = f" of {unit}" if unit else ""
            raise self.wrong(f"{key} must be a number{counted} from {least:g} to {most:,.0f}")
        return float(value)

    def count(self, key: str) -> int | None:
        """A whole number of at least 1; None where it is not given."""
        return self.whole(key, 0, least=1) or None

    def seconds(self, key: str, most: float | None = None) -> float | None:
        """A time above 0 and of at most ``most`` seconds; None where it is not given."""
        value = self.take(key)
        if value is None:
            return None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 < value <= (most if most is not None else value):
            bounds = "above 0" if most is None else f"above 0 and up to {most:g}"
            raise self.wrong(f"{key} must be a number of seconds {bounds}, not {_shown(value)}")
        return float(value)

    def texts(
        self, key: str, default: tuple[str, ...] = (), choices: tuple[str, ...] = ()
    ) -> tuple[str, ...]:
        """A list of strings, each one of ``choices`` if there are any."""
        value = self.take(key, list(default))
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise self.wrong(f"{key} must be a list of strings")
        for entry in value:
            if choices and entry not in choices:
                raise self.wrong(f"{key} names {entry!r}; there are {', '.join(choices)}")
        return tuple(value)

    def choice(self, key: str, choices: tuple[str, ...], default: str | None = None) -> str:
        """One of ``choices``; without a default the key is required."""
        value = self.take(key, default)
        if value not in choices:
            listed = " or ".join(map(repr, choices)) if len(choices) == 2 else ", ".join(map(repr, choices))
            raise self.wrong(f"{key} must be {'' if len(choices) == 2 else 'one of '}{listed}")
        return str(value)

    def table(self, key: str) -> Mapping[str, Any]:
        """A table as it stands, empty where it is not given."""
        value = self.take(key, {})
        if not isinstance(value, dict):
            raise self.wrong(f"{key} must be a table")
        return value

    def text_table(self, key: str) -> Mapping[str, str]:
        """A table of strings."""
        values = self.table(key)
        if not all(isinstance(value, str) for value in values.values()):
            raise self.wrong(f"{key} must be a table of strings")
        return values

    def inner(self, key: str) -> Table | None:
        """A table to be read in its turn; None where it is not given."""
        values = self.take(key)
        return None if values is None else Table(f"{self.where}, {key}", values)

    def inners(self, key: str) -> list[Table]:
        """An array of tables to be read in their turn."""
        values = self.take(key, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise self.wrong(f"{key} must be tables")
        return [Table(f"{self.where}, {key} {number}", value) for number, value in enumerate(values, 1)]

    def end(self) -> None:
        """Raises TableError for a key that was not read."""
        for key in self._values:
            near = spelled_like(key, self._known, 1)
            meant = f" (did you mean {near[0]!r}?)" if near else ""
            raise self.wrong(f"has no key {key!r}{meant}; its keys are {', '.join(sorted(self._known))}")

    def wrong(self, why: str) -> TableError:
        """The error that names this table."""
        return _error(self.where, why)


def _error(where: str, why: str) -> TableError:
    """A table's own name is the subject of the sentence; a place in a file stands before it."""
    separator = " " if where.endswith("]") else ": "
    return TableError(f"{where}{separator}{why}" if where else why)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
