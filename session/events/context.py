"""What the user pins to the window or takes out of it, and how far the project has been read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.events.event import Event


@dataclass(frozen=True, slots=True)
class ContextPinned(Event):
    """From now on ``target`` (a path, ``path:10-20``, a symbol, a folder, a pattern) is in every window."""

    type: ClassVar[str] = "context.pinned"
    target: str


@dataclass(frozen=True, slots=True)
class ContextUnpinned(Event):
    """``target`` is pinned no longer."""

    type: ClassVar[str] = "context.unpinned"
    target: str


@dataclass(frozen=True, slots=True)
class ContextRemoved(Event):
    """From now on no more than the names of ``target`` (a path, a folder, a pattern) is shown."""

    type: ClassVar[str] = "context.removed"
    target: str


@dataclass(frozen=True, slots=True)
class ContextRestored(Event):
    """``target`` may be shown again."""

    type: ClassVar[str] = "context.restored"
    target: str


@dataclass(frozen=True, slots=True)
class ReadingProgress(Event):
    """The project is being read: ``known`` of its ``total`` files so far. The last of these events has
    as many known as there are; a reading that is over soon tells none."""

    type: ClassVar[str] = "reading"
    known: int
    total: int
