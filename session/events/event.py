"""What every event is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a session: a frozen value. ``type`` is its tag in JSON, unique to its
    class."""

    type: ClassVar[str]
