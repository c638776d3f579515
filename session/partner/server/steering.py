"""Prompts in the middle of an answer: reads ``response.steer``, and writes what the server says of it.

Source: OpenAI's guide "Mid-turn steering" and the event definitions of its ``openai`` package.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from session.partner.server.requests import Request
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.protocol.items import text_of
from session.wire.protocol.turns import DEVELOPER_OPEN

_FIELDS = {"type", "previous_response_id", "input"}
_MOST_PENDING = 8


@dataclass(frozen=True, slots=True)
class SteerEvent:
    """A ``response.steer``. ``body`` is the frame as it came, ``problem`` what is wrong with it."""

    response_id: str
    body: dict[str, Any]
    items: tuple[dict[str, Any], ...]
    size: int
    problem: str = ""
    id: str = field(default_factory=lambda: f"steer_{secrets.token_hex(16)}")


@dataclass(slots=True)
class Steered:
    """A response that may be steered: its request, and the prompts that wait for its end."""

    request: Request
    queue: list[SteerEvent] = field(default_factory=list)

    @property
    def items(self) -> tuple[dict[str, Any], ...]:
        """The messages of the prompts, in order."""
        return tuple(item for steer in self.queue for item in steer.items)


def read_steer(frame: str | bytes) -> SteerEvent | None:
    """The ``response.steer`` in ``frame``; None where it is something else."""
    try:
        body = parse_object(frame)
    except NotAnObject:
        return None
    if body.get("type") != "response.steer":
        return None
    size = len(frame if isinstance(frame, bytes) else frame.encode("utf-8", "replace"))
    given = body.get("input")
    entries: Any = [{"role": "user", "content": given}] if isinstance(given, str) else given
    problem = ""
    if set(body) != _FIELDS or not isinstance(body["previous_response_id"], str):
        problem = "response.steer takes type, previous_response_id and input, and nothing else."
    elif not isinstance(entries, list) or not entries or not all(_is_users(entry) for entry in entries):
        problem = "input must be text, or messages of the user."
    items = () if problem else tuple(_item(entry) for entry in entries)
    return SteerEvent(str(body.get("previous_response_id")), body, items, size, problem)


def accepted(steer: SteerEvent) -> str:
    """The event that says that a prompt waits."""
    return _event("accepted", steer)


def pending(steer: SteerEvent, owed: Sequence[Mapping[str, Any]]) -> str:
    """The event that says that the outputs of the calls ``owed`` are wanted first."""
    stubs = [{"type": f"{call['type']}_output", "call_id": call["call_id"]} for call in owed]
    return _event("pending", steer, reason="waiting_for_required_input", required_input=stubs)


def failed(steer: SteerEvent, code: str, message: str) -> str:
    """The event that gives a prompt back."""
    error = {"type": "invalid_request_error", "code": code, "message": message}
    known = {"previous_response_id": steer.response_id, "input": steer.body.get("input")}
    return json.dumps({"type": "response.steer.failed", "sequence_number": 0, "steer": known, "error": error})


def refusal(steer: SteerEvent, running: Steered | None, *, offered: bool, ended: bool) -> str:
    """The event for a prompt that cannot wait for the response ``running``; empty for one that can."""
    if not offered:
        return failed(steer, "steering_not_supported", "This model takes no prompt while it answers.")
    if steer.problem:
        return failed(steer, "invalid_input", steer.problem)
    if running is None:
        code = "response_already_completed" if ended else "response_not_found"
        return failed(steer, code, f"Response '{steer.response_id}' does not run on this connection.")
    if len(running.queue) >= _MOST_PENDING:
        return failed(steer, "too_many_pending_steers", "Too many prompts wait for this response.")
    return ""


def _event(kind: str, steer: SteerEvent, **fields: Any) -> str:
    known = {"id": steer.id, "previous_response_id": steer.response_id}
    return json.dumps({"type": f"response.steer.{kind}", "sequence_number": 0, "steer": known, **fields})


def _is_users(entry: Any) -> bool:
    known = isinstance(entry, dict) and set(entry) <= {"type", "role", "content"}
    return known and entry.get("role") == "user" and entry.get("type", "message") == "message"


def _item(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A message of the conversation; text marked as the program's has the developer role."""
    role = "developer" if text_of(entry).startswith(DEVELOPER_OPEN) else "user"
    return {"type": "message", "role": role, "content": entry["content"]}
