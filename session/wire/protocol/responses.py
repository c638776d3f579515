"""The Responses dialect: writes ``response.create`` and reads server events (WebSocket frames or SSE data).

Source: OpenAI's public Responses reference and the behaviour of the servers listed in docs/wire.md.
One :class:`ResponseDecoder` reads one response. It relies only on what all servers do: setup events
may be missing, ids may change between events, ``output_index``, ``content_index`` and
``sequence_number`` may be absent, and done events fill in text that no delta carried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from session.wire.protocol.errors import read_error
from session.wire.protocol.events import (
    Created,
    FinalStatus,
    Finished,
    Garbled,
    ItemDone,
    ReasoningDelta,
    TextDelta,
    TokenUsage,
    ToolInputDelta,
    WireEvent,
)
from session.wire.protocol.frames import NotAnObject, parse_object, write_body
from session.wire.protocol.items import Sent
from session.wire.protocol.output import MOST, OutputItem, OutputItems, TooManyItems
from session.wire.protocol.parts import count
from session.wire.protocol.request import NO_QUIRKS, Quirks, RequestProfile


def encode_create(
    profile: RequestProfile,
    items: Sequence[Sent],
    *,
    previous_response_id: str | None = None,
    generate: bool = True,
    quirks: Quirks = NO_QUIRKS,
) -> str:
    """The ``response.create`` frame that asks for an answer to ``items``.

    A request that continues another one does not repeat its standing items. ``generate=False`` makes it a
    warm-up: the server reads the request and answers with an id only. Raises ValueError when a field cannot
    be written as JSON.
    """
    standing = profile.standing_items() if previous_response_id is None else []
    fields = {**profile.fields(standing_items=True), **profile.responses_extra}
    body: dict[str, Any] = {"type": "response.create", **fields, "input": [*standing, *items]}
    if previous_response_id is not None:
        body["previous_response_id"] = previous_response_id
    if not generate:
        body["generate"] = False
    return write_body(quirks.apply(body))


def encode_response(profile: RequestProfile, items: Sequence[Sent]) -> dict[str, Any]:
    """The body of ``POST /responses`` that asks for a streamed answer to ``items``, the full input."""
    apart = profile.tools_as_item and not profile.tool_field
    standing = profile.standing_items() if apart else []
    fields = {**profile.fields(standing_items=apart), **profile.responses_extra}
    return {**fields, "input": [*standing, *items], "stream": True}


class ResponseDecoder:
    """Reads the frames of one response: ``feed(frame) -> events``. It raises for nothing a server sends.

    After a :class:`Finished` or a ``ServerError``, ``finished`` is true and later frames return no events.
    """

    def __init__(self, origin: str = "") -> None:
        """``origin`` marks the answer's reasoning."""
        self._origin = origin
        self.finished = False
        self.garbled = 0
        """Number of frames that were not events of this dialect."""
        self.response_id = ""
        self._items = OutputItems()
        self._created = False

    def feed(self, frame: str | bytes | bytearray) -> list[WireEvent]:
        """The events in ``frame``, one complete server event; none for an unknown type."""
        if self.finished:
            return []
        try:
            body = parse_object(frame)
        except NotAnObject as problem:
            self.garbled += 1
            return [Garbled(str(problem))]
        try:
            return self._read(body)
        except TooManyItems:
            self.finished = True
            return [read_error({"message": f"the answer has more than {MOST} parts, so reading it stopped"})]

    def _read(self, body: dict[str, Any]) -> list[WireEvent]:
        kind = body.get("type")
        if kind == "response.output_text.delta":  # the fast path: up to a thousand a second
            return self._delta(body, "message")
        if kind is None and "error" in body:
            kind = "error"
        if kind is None and body.get("object") == "response":  # the whole answer in one body: not streamed
            ended = body.get("status") in (None, "completed", "failed")
            return (
                self._any_final({"response": body})
                if ended
                else self._final({"response": body}, "incomplete")
            )
        if not isinstance(kind, str):
            self.garbled += 1
            return [Garbled("an event without a type")]
        handler = _HANDLERS.get(kind)
        return handler(self, body) if handler is not None else []

    def end(self) -> list[WireEvent]:
        """Returns nothing: in this dialect an event always ends the answer before the stream ends."""
        return []

    def _created_event(self, body: dict[str, Any]) -> list[WireEvent]:
        response = body.get("response")
        identity = response.get("id") if isinstance(response, dict) else None
        if self._created or not isinstance(identity, str) or not identity:
            return []
        self._created = True
        self.response_id = identity
        return [Created(identity)]

    def _item_added(self, body: dict[str, Any]) -> list[WireEvent]:
        item = body.get("item")
        if isinstance(item, dict):
            self._items.add(item, _index(body))
        return []

    def _item_done(self, body: dict[str, Any]) -> list[WireEvent]:
        item = body.get("item")
        if not isinstance(item, dict):
            return []
        return self._finish_item(self._items.for_done(item, _index(body)), item)

    def _finish_item(self, open_item: OutputItem, item: dict[str, Any]) -> list[WireEvent]:
        if open_item.done:
            return []
        if item.get("type") == "reasoning":
            # Marks of our own and of other dialects: nothing that a server writes there may go back.
            for name in ("origin", "thinking", "reasoning_content"):
                item.pop(name, None)
            if self._origin:
                item["origin"] = self._origin
        events = self._pieces(open_item, open_item.finish(item))
        return [*events, ItemDone(item, self._items.key_of(open_item))]

    def _delta(self, body: dict[str, Any], kind: str) -> list[WireEvent]:
        text = body.get("delta")
        if not isinstance(text, str) or not text:
            return []
        item = self._items.for_delta(kind, body.get("item_id"), _index(body))
        if item.done:
            return []
        text = item.delta(text, body.get("summary_index"))
        return [TextDelta(text)] if item.kind == "message" else self._pieces(item, text)

    def _part_done(self, body: dict[str, Any], kind: str, field: str) -> list[WireEvent]:
        text = body.get(field)
        if not isinstance(text, str):
            return []
        item = self._items.for_delta(kind, body.get("item_id"), _index(body))
        return [] if item.done else self._pieces(item, item.part_done(text))

    def _pieces(self, item: OutputItem, text: str) -> list[WireEvent]:
        if not text:
            return []
        if item.kind == "message":
            return [TextDelta(text)]
        if item.kind == "reasoning":
            return [ReasoningDelta(text)]
        custom = item.kind == "custom_tool_call"
        return [ToolInputDelta(self._items.key_of(item), item.call_id, item.name, text, custom)]

    def _final(self, body: dict[str, Any], status: FinalStatus) -> list[WireEvent]:
        response = body.get("response")
        if not isinstance(response, dict):
            response = {}
        events = self._created_event(body)
        output = response.get("output")
        listed: set[str] = set()
        for index, item in enumerate(output if isinstance(output, list) else []):
            if isinstance(item, dict) and not _listed_before(item, listed):
                events += self._finish_item(self._items.for_final(item, index), item)
        if status == "completed":
            for open_item in self._items.unfinished():
                whole = open_item.as_streamed()
                if whole is not None:
                    events += self._finish_item(open_item, whole)
        self.finished = True
        reason = _reason(response)
        error = response.get("error")
        if status == "failed":
            events.append(read_error({"error": error} if error else {"message": reason or ""}))
        identity = response.get("id")
        if isinstance(identity, str) and identity:
            self.response_id = identity
        usage = _usage(response.get("usage"))
        events.append(Finished(status, self.response_id, self._items.output(), usage, reason))
        return events

    def _any_final(self, body: dict[str, Any]) -> list[WireEvent]:
        """Reads ``response.done`` or ``response.completed``, which some servers send for every ending."""
        response = body.get("response")
        status = response.get("status") if isinstance(response, dict) else None
        if status == "failed":
            return self._final(body, "failed")
        return self._final(body, "incomplete" if status in ("incomplete", "cancelled") else "completed")

    def _error(self, body: dict[str, Any]) -> list[WireEvent]:
        self.finished = True
        return [read_error(body)]


_Handler = Callable[[ResponseDecoder, dict[str, Any]], list[WireEvent]]

# Maps an event's type to its handler. Types that are not listed are ignored.
_HANDLERS: dict[str, _Handler] = {
    "response.created": ResponseDecoder._created_event,
    "response.queued": ResponseDecoder._created_event,
    "response.in_progress": ResponseDecoder._created_event,
    "response.output_item.added": ResponseDecoder._item_added,
    "response.output_item.done": ResponseDecoder._item_done,
    "response.output_text.done": lambda d, b: d._part_done(b, "message", "text"),
    "response.refusal.delta": lambda d, b: d._delta(b, "message"),
    "response.refusal.done": lambda d, b: d._part_done(b, "message", "refusal"),
    "response.reasoning_summary_text.delta": lambda d, b: d._delta(b, "reasoning"),
    "response.reasoning_text.delta": lambda d, b: d._delta(b, "reasoning"),
    "response.custom_tool_call_input.delta": lambda d, b: d._delta(b, "custom_tool_call"),
    "response.custom_tool_call_input.done": lambda d, b: d._part_done(b, "custom_tool_call", "input"),
    "response.function_call_arguments.delta": lambda d, b: d._delta(b, "function_call"),
    "response.function_call_arguments.done": lambda d, b: d._part_done(b, "function_call", "arguments"),
    "response.completed": ResponseDecoder._any_final,
    "response.incomplete": lambda d, b: d._final(b, "incomplete"),
    "response.failed": lambda d, b: d._final(b, "failed"),
    "response.done": ResponseDecoder._any_final,
    "error": ResponseDecoder._error,
}


def _listed_before(item: dict[str, Any], listed: set[str]) -> bool:
    """Whether the final response listed an item with this id before."""
    identity = item.get("id")
    if not isinstance(identity, str) or not identity:
        return False
    before = identity in listed
    listed.add(identity)
    return before


def _index(body: dict[str, Any]) -> int | None:
    value = body.get("output_index")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _reason(response: dict[str, Any]) -> str | None:
    details = response.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    if isinstance(reason, str):
        return reason
    status = response.get("status")
    return status if isinstance(status, str) and status not in ("completed", "incomplete") else None


def _usage(value: Any) -> TokenUsage | None:
    if not (count(value, "input_tokens") or count(value, "output_tokens")):
        return None  # all zero or missing: the caller then estimates
    return TokenUsage(
        count(value, "input_tokens"),
        count(value, "input_tokens_details", "cached_tokens"),
        count(value, "output_tokens"),
        count(value, "output_tokens_details", "reasoning_tokens"),
        count(value, "input_tokens_details", "cache_write_tokens"),
    )
