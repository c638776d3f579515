"""The base of all events, and their JSON form, for the journal and ``--json``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar, Protocol


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a session. ``type`` is the tag of its class in JSON."""

    type: ClassVar[str]


class Publisher(Protocol):
    """Where events are handed to: a session's recorder, or what follows one attempt of a race."""

    def publish(self, event: Event) -> None:
        """Take the next event."""
        ...


@cache
def event_types() -> dict[str, type[Event]]:
    """All event classes by their tags. Import ``session.base.events`` before the first call."""
    # The dataclass decorator makes a class with slots a second time; that one is in use, and comes later.
    return {kind.type: kind for kind in Event.__subclasses__()}


def to_dict(event: Event) -> dict[str, Any]:
    """The JSON form of ``event``, without optional fields that are None."""
    values = {
        field.name: value
        for field in fields(event)
        if (value := getattr(event, field.name)) is not None or field.default is not None
    }
    return {"type": event.type, **values}


def from_dict(record: dict[str, Any]) -> Event | None:
    """The event of a JSON object, or None for a type that this version does not know.

    Raises TypeError if a known type lacks a required field or has one of the wrong type.
    """
    name = record.get("type")
    kind = event_types().get(name) if isinstance(name, str) else None
    if kind is None:
        return None
    values = {}
    for field, annotation, plain in _fields(kind.type):
        if field in record:
            value = record[field]
            values[field] = value if type(value) is plain else _value(value, annotation, f"{name}.{field}")
    return kind(**values)


@cache
def _fields(tag: str) -> tuple[tuple[str, str, type | None], ...]:
    """The name and annotation of each field, and the plain type that it takes, if there is one."""
    kind = event_types()[tag]
    plain: dict[str, type] = {"str": str, "int": int, "bool": bool, "float": float}
    return tuple(
        (field.name, str(field.type), plain.get(str(field.type).partition(" ")[0])) for field in fields(kind)
    )


def _value(value: Any, annotation: str, where: str) -> Any:
    """``value`` from JSON as the type that ``annotation`` names. Raises TypeError if it has another type."""
    if annotation == "tuple[str, ...]" and isinstance(value, list | tuple):
        if all(isinstance(part, str) for part in value):
            return tuple(value)
    elif type(value).__name__ in annotation.split(" | ") or (value is None and "None" in annotation):
        return value
    raise TypeError(f"{where} must be {annotation}, not {value!r}")
