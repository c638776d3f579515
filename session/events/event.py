"""The base of all events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a session. ``type`` is the tag of its class in JSON."""

    type: ClassVar[str]
