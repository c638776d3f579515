"""The base of all events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a session. ``type`` is the tag of its class in JSON."""

    type: ClassVar[str]


class Publisher(Protocol):
    """Where events are handed to: a session's recorder, or what follows one attempt of a race."""

    def publish(self, event: Event) -> None:
        """Take the next event."""
        ...
