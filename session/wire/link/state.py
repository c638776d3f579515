"""The states of the link to the model server, how each signal changes them (one table), and the effects.

The rules behind the table:

1. Every way to ``ready`` leads through ``connecting``. ``warming`` between them is left out where the
   server knows no warm-up.
2. A loss that may pass (``lost``) makes the link ``offline``; another attempt follows by itself.
3. A refusal that cannot pass (``refused``) makes it ``failed``; another attempt follows only when somebody
   asks for an answer or changes the settings.
4. A link that nobody has used for long (``rest``) is closed, and ``idle`` until it is wanted.
5. Every signal has a meaning in every state. One that comes at an odd time (a connection that opens just
   after the server's end was reported) changes nothing.

``waiting`` is not in the table: it covers the state beneath while an answer waits for its next attempt.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from session.wire.transport.errors import LinkError


class LinkState(StrEnum):
    """Where the link is; the values are those of the ``connection`` event."""

    OFFLINE = "offline"
    CONNECTING = "connecting"
    WARMING = "warming"
    READY = "ready"
    FAILED = "failed"
    IDLE = "idle"
    WAITING = "waiting"


class LinkSignal(StrEnum):
    """What can happen to the link."""

    DIAL = "dial"
    OPENED = "opened"
    WARM = "warm"
    LOST = "lost"
    REFUSED = "refused"
    REST = "rest"
    CLOSE = "close"


_OFFLINE, _CONNECTING, _WARMING = LinkState.OFFLINE, LinkState.CONNECTING, LinkState.WARMING
_READY, _FAILED, _IDLE = LinkState.READY, LinkState.FAILED, LinkState.IDLE

# The columns are the states before, in the order of _COLUMNS.
_COLUMNS = (_OFFLINE, _CONNECTING, _WARMING, _READY, _FAILED, _IDLE)
_ROWS: dict[LinkSignal, tuple[LinkState, ...]] = {
    LinkSignal.DIAL: (_CONNECTING, _CONNECTING, _WARMING, _READY, _CONNECTING, _CONNECTING),
    LinkSignal.OPENED: (_OFFLINE, _WARMING, _WARMING, _READY, _FAILED, _IDLE),
    LinkSignal.WARM: (_OFFLINE, _READY, _READY, _READY, _FAILED, _IDLE),
    LinkSignal.LOST: (_OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE),
    LinkSignal.REFUSED: (_FAILED, _FAILED, _FAILED, _FAILED, _FAILED, _FAILED),
    LinkSignal.REST: (_IDLE, _CONNECTING, _WARMING, _IDLE, _FAILED, _IDLE),
    LinkSignal.CLOSE: (_OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE, _OFFLINE),
}
TABLE: dict[LinkState, dict[LinkSignal, LinkState]] = {
    before: {signal: after[column] for signal, after in _ROWS.items()}
    for column, before in enumerate(_COLUMNS)
}


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The link moved to ``state``; ``message`` is a line for the user where there is one.

    ``seconds`` belongs to ``waiting``: the time from this change to the next attempt.
    """

    state: LinkState
    message: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Dial:
    """Begin an attempt to connect."""


@dataclass(frozen=True, slots=True)
class Cut:
    """End a connection now."""

    number: int


@dataclass(frozen=True, slots=True)
class Close:
    """End a connection politely, in the background."""

    number: int


@dataclass(frozen=True, slots=True)
class Announce:
    """Tell the followers of the link's state."""

    change: LinkChange


@dataclass(frozen=True, slots=True)
class Supply:
    """Give the connection to everyone who waits for one."""

    number: int


@dataclass(frozen=True, slots=True)
class Refuse:
    """Tell everyone who waits for a connection that there is none."""

    problem: LinkError


Effect = Dial | Cut | Close | Announce | Supply | Refuse
