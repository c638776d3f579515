"""Events of a session that several processes are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class TakeoverAsked(Event):
    """The user wants to go on with this session in the process ``pid``: the front end makes room."""

    type: ClassVar[str] = "session.takeover"
    pid: int


@dataclass(frozen=True, slots=True)
class OwnerGone(Event):
    """The process that had the followed session has given it up or ended: it is free to be taken over."""

    type: ClassVar[str] = "session.free"
