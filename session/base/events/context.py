"""Events of the window: pins, removals, and the progress of reading the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class ContextPinned(Event):
    """From now on ``target`` (a path, ``path:10-20``, a symbol, a folder, a pattern) is in every window."""

    type: ClassVar[str] = "context.pinned"
    target: str


@dataclass(frozen=True, slots=True)
class ContextUnpinned(Event):
    """``target`` is no longer pinned."""

    type: ClassVar[str] = "context.unpinned"
    target: str


@dataclass(frozen=True, slots=True)
class ContextRemoved(Event):
    """From now on the model is shown only the names of ``target`` (a path, a folder, a pattern)."""

    type: ClassVar[str] = "context.removed"
    target: str


@dataclass(frozen=True, slots=True)
class ContextRestored(Event):
    """The model may be shown ``target`` again."""

    type: ClassVar[str] = "context.restored"
    target: str


@dataclass(frozen=True, slots=True)
class ReadingHeld(Event):
    """The folder is not read until the user wants it to be: ``reason`` says why, as half a sentence. An empty
    one tells that it is read now."""

    type: ClassVar[str] = "reading.held"
    reason: str


@dataclass(frozen=True, slots=True)
class ReadingProgress(Event):
    """The project is being read: ``known`` of its ``total`` files so far.

    In the last of these events both are equal. A short reading has no such events.
    """

    type: ClassVar[str] = "reading"
    known: int
    total: int
