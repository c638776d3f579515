"""The JSON form of events, for the journal and ``--json``."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

from session.events.event import Event


@cache
def event_types() -> dict[str, type[Event]]:
    """All event classes by their tags. Import ``session.events`` before the first call."""
    # The dataclass decorator makes a class with slots a second time; that one is in use, and comes later.
    return {kind.type: kind for kind in Event.__subclasses__()}


def to_dict(event: Event) -> dict[str, Any]:
    """The JSON form of ``event``, without optional fields that are None."""
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return {"type": event.type, **{name: value for name, value in values.items() if value is not None}}


def from_dict(record: dict[str, Any]) -> Event | None:
    """The event of a JSON object, or None for a type that this version does not know.

    Raises TypeError if a known type lacks a required field or has one of the wrong type.
    """
    name = record.get("type")
    kind = event_types().get(name) if isinstance(name, str) else None
    if kind is None:
        return None
    values = {}
    for field in fields(kind):
        if field.name in record:
            values[field.name] = _value(record[field.name], str(field.type), f"{name}.{field.name}")
    return kind(**values)


def _value(value: Any, annotation: str, where: str) -> Any:
    """``value`` from JSON as the type that ``annotation`` names. Raises TypeError if it has another type."""
    if annotation == "tuple[str, ...]" and isinstance(value, list | tuple):
        if all(isinstance(part, str) for part in value):
            return tuple(value)
    elif type(value).__name__ in annotation.split(" | ") or (value is None and "None" in annotation):
        return value
    raise TypeError(f"{where} must be {annotation}, not {value!r}")
