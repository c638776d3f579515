"""Events of the link to the server and of other processes about the session, and lines for the user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class ConnectionChanged(Event):
    """The state of the link to the server changed.

    It is ``offline``, ``connecting``, ``warming``, ``ready``, ``idle``, ``failed``, or ``waiting`` for
    ``seconds`` before the next attempt.
    """

    type: ClassVar[str] = "connection"
    state: str
    message: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Notice(Event):
    """One line for the user; ``level`` is ``info``, ``warning`` or ``error``."""

    type: ClassVar[str] = "notice"
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class TakeoverAsked(Event):
    """The user wants to go on with this session in the process ``pid``: the front end makes room."""

    type: ClassVar[str] = "session.takeover"
    pid: int


@dataclass(frozen=True, slots=True)
class OwnerGone(Event):
    """The process that had the followed session has given it up or ended: it is free to be taken over."""

    type: ClassVar[str] = "session.free"
