"""What a process that has a session and one that follows it say to each other: JSON objects, one a line.

Sans-I/O: bytes in, messages out. Both ends belong to one user, and still neither trusts the other's bytes: a
line has a bounded length, every field its type, and anything else is a MessageError.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any

from session.base.events import Event, from_dict, to_dict

VERSION = 3
LONGEST_LINE = 4 << 20
"""Most bytes of a line."""


class MessageError(Exception):
    """The other end sent what is no message."""


@dataclass(frozen=True, slots=True)
class Hello:
    """The follower's first message; ``pid`` is its process."""

    version: int
    pid: int


@dataclass(frozen=True, slots=True)
class Submit:
    """Send a prompt, as a redirect if a turn runs. ``typed`` is what the user typed, if that is not all."""

    text: str
    typed: str | None = None


@dataclass(frozen=True, slots=True)
class Queue:
    """Send a prompt after the running turn."""

    text: str


@dataclass(frozen=True, slots=True)
class AfterHunk:
    """Redirect once the hunk that is being typed has ended."""

    text: str


@dataclass(frozen=True, slots=True)
class Unqueue:
    """Take back the queued prompts, or the one with this number."""

    number: int | None


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Stop the running turn."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Apply or decline what is held; ``why``, ``new`` and ``scope`` as in ``Session.answer``."""

    held: str
    land: bool
    rest: bool
    why: str
    new: tuple[str, ...] | None
    scope: str


@dataclass(frozen=True, slots=True)
class TakeOver:
    """Give the session to the follower: as soon as its turn is over, at once where nobody watches that."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """The owner's first message: where the session stands.

    Its journal up to the first ``journal`` bytes of the part ``part`` has all that happened so far but what
    the next ``caught_up`` messages tell. ``turn`` is the running turn, or empty; ``runs`` is ``a turn`` or
    ``a command`` where one runs, and ``since`` when that began (Unix time, whole seconds). ``presence`` says
    who is there: see :class:`session.record.sharing.host.Presence`. ``silent`` counts the seconds since the
    terminal should have answered a question; -1 where that is not known.
    """

    version: int
    pid: int
    session: str
    presence: str
    silent: int
    turn: str
    runs: str
    since: int
    part: int
    journal: int
    caught_up: int
    model: str
    effort: str
    fast: bool


@dataclass(frozen=True, slots=True)
class Told:
    """Something happened in the session."""

    event: Event


@dataclass(frozen=True, slots=True)
class Refused:
    """What was asked for is not possible; ``why`` is a line for the user."""

    why: str


Message = (
    Hello | Submit | Queue | AfterHunk | Unqueue | Interrupt | Answer | TakeOver | Welcome | Told | Refused
)
_KINDS: dict[str, Any] = {
    kind.__name__.lower(): kind
    for kind in (Hello, Submit, Queue, AfterHunk, Unqueue, Interrupt, Answer, TakeOver, Welcome, Refused)
}


def encode(message: Message) -> bytes:
    """``message`` as a line."""
    if isinstance(message, Told):
        values: dict[str, Any] = {"event": to_dict(message.event)}
    else:
        values = {field.name: getattr(message, field.name) for field in fields(message)}
    record = {"kind": type(message).__name__.lower(), **values}
    return json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> Message | None:
    """The message in ``line``; None for an event of a kind that this version does not know.

    Raises MessageError.
    """
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise MessageError("a line is not JSON") from problem
    if not isinstance(record, dict):
        raise MessageError("a line is not an object")
    if record.get("kind") == "told":
        return _told(record.get("event"))
    name = record.get("kind")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if kind is None:
        raise MessageError("a message is of no known kind")
    values = {}
    for field in fields(kind):
        value = record.get(field.name)
        if isinstance(value, list) and all(isinstance(each, str) for each in value):
            value = tuple(value)
        if not _fits(value, str(field.type)):
            raise MessageError(f"{name}.{field.name} must be {field.type}")
        values[field.name] = value
    message: Message = kind(**values)
    return message


def _fits(value: Any, kind: str) -> bool:
    if value is None:
        return kind.endswith(" | None")
    if kind == "tuple[str, ...] | None":
        return isinstance(value, tuple)
    return type(value).__name__ == kind.removesuffix(" | None")


def _told(record: Any) -> Told | None:
    if not isinstance(record, dict):
        raise MessageError("an event is not an object")
    try:
        event = from_dict(record)
    except TypeError as problem:
        raise MessageError(str(problem)) from problem
    return Told(event) if event is not None else None


class Lines:
    """Cuts a stream of bytes into lines."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that ``data`` completes, without their ends. Raises MessageError for one too long."""
        looked_at = len(self._rest)
        self._rest += data
        lines = []
        while (end := self._rest.find(b"\n", looked_at)) >= 0:
            lines.append(bytes(self._rest[:end]))
            del self._rest[: end + 1]
            looked_at = 0
        if len(self._rest) > self._longest or any(len(line) > self._longest for line in lines):
            raise MessageError("a line is too long")
        return lines
