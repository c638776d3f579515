"""Events of the project: pins and removals, the progress of reading it, and files that would instruct the
model or set something.
"""

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


@dataclass(frozen=True, slots=True)
class TrustAsked(Event):
    """The user has not agreed to what these files say, so nothing of them is used; ``changed``: not to what
    at least one of them says now. Empty: nothing is asked any more."""

    type: ClassVar[str] = "trust.asked"
    paths: tuple[str, ...]
    changed: bool = False


@dataclass(frozen=True, slots=True)
class InstructionsUnused(Event):
    """A request goes out without these instructions of the project, to which the user has not agreed."""

    type: ClassVar[str] = "trust.unused"
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrustAnswered(Event):
    """The user agreed, or not, to what these files say."""

    type: ClassVar[str] = "trust.answered"
    paths: tuple[str, ...]
    agreed: bool
