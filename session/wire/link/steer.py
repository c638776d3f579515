"""Steering: a prompt for an answer that still runs, on the same connection. Without I/O.

Source: OpenAI's guide "Mid-turn steering" and the event definitions of its ``openai`` package. The rules
behind the table:

1. ``response.steer.accepted`` says that the server has the prompt. It counts from the successor's
   ``response.created`` on (``follow``), which comes after the end of the item that is being written.
2. A steer that came too late is declined: the answer has ended, and a usual request continues it
   (``free``). That needs no acknowledgement of the end: either may come first.
3. An answer that ended with calls of ours waits for their outputs (``owing``); the prompt stays queued.
4. Whatever else goes wrong leads to ``lost``: the connection is cut, so that it no longer matters what became
   of the steer, and the prompt goes out as after an interrupt.
5. Every signal has a meaning in every stage. One that comes at an odd time changes nothing.

The documents do not say how long an item may go on after a steer, whether a response that was cut between two
calls ends as ``completed``, and in which order the end and a refusal come; either works here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from session.wire.input_items import developer_message
from session.wire.instructions import STEERED
from session.wire.protocol.errors import read_error
from session.wire.protocol.events import Finished, ReasoningDelta, ServerError, TextDelta, ToolInputDelta
from session.wire.protocol.frames import NotAnObject, parse_object, write_body
from session.wire.protocol.items import Item, ServerItem, text_of, tool_output, user_message
from session.wire.protocol.responses import ResponseDecoder
from session.wire.protocol.turns import marked

UNREAD = "Not read: the developer redirected you before this call was whole."
"""The output of a call that came after the prompt."""


class Stage(StrEnum):
    """How far a steer is."""

    RUNNING = "running"
    """The answer runs, and no prompt has gone out."""
    SENT = "sent"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    """The server takes no steer any more; the answer's end is still to come."""
    CROSSED = "crossed"
    """The answer has ended, and it is not known yet what became of the steer."""
    DUE = "due"
    """The answer has ended, and its successor follows."""
    OWING = "owing"
    """The successor follows once the outputs of the answer's calls are there."""
    FREE = "free"
    """The answer has ended, and the server has no prompt: a usual request continues it."""
    FOLLOWED = "followed"
    """The successor has begun."""
    LOST = "lost"


class Signal(StrEnum):
    """What can happen to a steer."""

    SEND = "send"
    ACCEPT = "accept"
    DECLINE = "decline"
    REFUSE = "refuse"
    PEND = "pend"
    END = "end"
    FOLLOW = "follow"
    BREAK = "break"


_RUNNING, _SENT, _ACCEPTED, _DECLINED = Stage.RUNNING, Stage.SENT, Stage.ACCEPTED, Stage.DECLINED
_CROSSED, _DUE, _OWING, _FREE = Stage.CROSSED, Stage.DUE, Stage.OWING, Stage.FREE
_FOLLOWED, _LOST = Stage.FOLLOWED, Stage.LOST

# The columns are the stages before, in this order; the last two stages never change.
_COLUMNS = (_RUNNING, _SENT, _ACCEPTED, _DECLINED, _CROSSED, _DUE, _OWING, _FREE)
_ROWS: dict[Signal, tuple[Stage, ...]] = {
    Signal.SEND: (_SENT, _SENT, _ACCEPTED, _DECLINED, _CROSSED, _DUE, _OWING, _FREE),
    Signal.ACCEPT: (_RUNNING, _ACCEPTED, _ACCEPTED, _DECLINED, _DUE, _DUE, _OWING, _FREE),
    Signal.DECLINE: (_RUNNING, _DECLINED, _DECLINED, _DECLINED, _FREE, _FREE, _LOST, _FREE),
    Signal.REFUSE: (_RUNNING, _LOST, _LOST, _LOST, _FREE, _FREE, _LOST, _FREE),
    Signal.PEND: (_RUNNING, _SENT, _ACCEPTED, _DECLINED, _OWING, _OWING, _OWING, _FREE),
    Signal.END: (_FREE, _CROSSED, _DUE, _FREE, _CROSSED, _DUE, _OWING, _FREE),
    Signal.FOLLOW: (_LOST, _FOLLOWED, _FOLLOWED, _LOST, _FOLLOWED, _FOLLOWED, _FOLLOWED, _LOST),
    Signal.BREAK: (_LOST,) * len(_COLUMNS),
}
TABLE: dict[Stage, dict[Signal, Stage]] = {
    before: {signal: after[column] for signal, after in _ROWS.items()}
    for column, before in enumerate(_COLUMNS)
} | {last: dict.fromkeys(Signal, last) for last in (_FOLLOWED, _LOST)}

_LATE = frozenset({"response_already_completed", "response_not_active", "successor_creation_failed"})
"""The codes of a steer whose answer may be continued by a usual request."""
NOT_OFFERED = "steering_not_supported"


@dataclass(frozen=True, slots=True)
class Words:
    """What a prompt adds to the conversation of the answer that it steers."""

    messages: tuple[Item, ...]
    outputs: Mapping[str, Item]
    """The outputs of the answer's calls, by call id."""

    def steer(self, response_id: str) -> str:
        """The ``response.steer`` frame; it takes messages of the user alone."""
        items = [_as_user(item) for item in self.messages]
        return write_body({"type": "response.steer", "previous_response_id": response_id, "input": items})

    def owed(self, calls: Sequence[ServerItem]) -> list[Item]:
        """An output for each call among ``calls``, or for each stub of an output."""
        found: list[Item] = []
        for call in calls:
            call_id, kind = call.get("call_id"), str(call.get("type"))
            if isinstance(call_id, str) and kind.startswith(("function_call", "custom_tool_call")):
                custom = kind.startswith("custom")
                found.append(self.outputs.get(call_id) or tool_output(call_id, UNREAD, custom=custom))
        return found


def words(before: Sequence[Item], now: Sequence[Item]) -> Words | None:
    """What ``now``, a full input, adds to ``before``; None where it does not continue that, or adds no word
    of the user's. What it has of the answer is left out: the server has all of it."""
    if tuple(now[: len(before)]) != tuple(before):
        return None
    messages: list[Item] = []
    outputs: dict[str, Item] = {}
    for item in now[len(before) :]:
        if item["type"] in ("function_call_output", "custom_tool_call_output"):
            outputs[item["call_id"]] = item
        elif item["type"] == "message" and item["role"] != "assistant":
            messages.append(item)
    if not any(text_of(item) for item in messages):
        return None
    return Words((developer_message(STEERED), *messages), outputs)


class Steer:
    """Follows one steer by the frames that come: :meth:`read` each of them, and look at ``stage``."""

    def __init__(self, decoder: ResponseDecoder) -> None:
        """``decoder`` has read the answer so far."""
        self.stage = Stage.RUNNING
        self.response_id = decoder.response_id
        self.stubs: list[ServerItem] = []
        """The outputs that the server waits for, once it is ``owing``."""
        self.refused_as = ""
        """The code of a steer that the server refused; ``error`` where it does not know the event."""
        self.unread = 0
        """Characters of the answer that nobody was shown."""
        self.output: tuple[ServerItem, ...] = ()
        """The items of the answer, once it has ended."""
        self._decoder = decoder

    def send(self) -> None:
        """The steer goes out."""
        self._signal(Signal.SEND)

    def lose(self) -> None:
        """The connection is gone, or took too long."""
        self._signal(Signal.BREAK)

    def read(self, frame: bytes) -> None:
        """Take a frame. The successor's ``response.created`` is only noted: it is for its own decoder."""
        try:
            body = parse_object(frame)
        except NotAnObject:
            return
        match body.get("type"):
            case "response.steer.accepted":
                self._signal(Signal.ACCEPT)
            case "response.steer.pending":
                stubs: Any = body.get("required_input")
                if isinstance(stubs, list):
                    self.stubs = [stub for stub in stubs if isinstance(stub, dict)]
                self._signal(Signal.PEND)
            case "response.steer.failed":
                self._failed(body)
            case "response.created" | "response.queued" if _identity(body) not in ("", self.response_id):
                self._signal(Signal.FOLLOW)
            case "error":
                self._broken(read_error(body))
            case _:
                self._answer(frame)

    def _failed(self, body: Mapping[str, Any]) -> None:
        error = body.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        if code in _LATE:
            self._signal(Signal.DECLINE)
        else:
            self.refused_as = str(code)
            self._signal(Signal.REFUSE)

    def _answer(self, frame: bytes) -> None:
        """Read on in the answer that is steered."""
        for event in self._decoder.feed(frame):
            if isinstance(event, TextDelta | ReasoningDelta | ToolInputDelta):
                self.unread += len(event.text)
            elif isinstance(event, ServerError):
                self._broken(event)
            elif isinstance(event, Finished):
                self.output = event.output
                whole = event.status == "completed" or event.reason == "steered"
                self._signal(Signal.END if whole else Signal.BREAK)

    def _broken(self, error: ServerError) -> None:
        """Take an error; a server that knows no such event answers the steer with one."""
        waits = self.stage in (Stage.SENT, Stage.CROSSED)
        if waits and error.status in (None, 400, 404, 422):
            self.refused_as = error.code or "error"
        self._signal(Signal.BREAK)

    def _signal(self, signal: Signal) -> None:
        self.stage = TABLE[self.stage][signal]


def _identity(body: Mapping[str, Any]) -> str:
    response = body.get("response")
    identity = response.get("id") if isinstance(response, dict) else None
    return identity if isinstance(identity, str) else ""


def _as_user(item: Item) -> Item:
    """A message as the user's."""
    is_own = item["type"] == "message" and item["role"] == "developer"
    return user_message(marked(text_of(item))) if is_own else item
