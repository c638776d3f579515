"""Makes the frames that a Responses server sends for one response. Sans-I/O: steps in, frames out.

The sequence is complete: created, in_progress, for each item its added, part, delta and done events, and
completed with the whole response and its usage.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from session.partner.script import Calls, Close, Fail, Garbage, Patch, Say, Scenario, Stall, Step, Think
from session.partner.script_text import search_replace, split_tokens, v4a

_BARE_DROPS = (
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part",
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame to send, and the number of tokens it counts as."""

    data: str | bytes
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class ResponseSpec:
    """What a response is made for: its names, the model, and the tokens of its input."""

    response_id: str
    model: str
    created_at: int
    input_tokens: int
    cached_tokens: int = 0
    previous_response_id: str | None = None
    stream_id: str | None = None
    patch_tool: str | None = None
    """The custom tool that takes patches; with None they are SEARCH/REPLACE blocks in the text."""
    patch_shell: str | None = None
    """The shell tool that takes them instead, as a call of ``apply_patch``."""
    bare: bool = False


class Answer:
    """The frames of one response. ``output`` holds its items so far; ``done`` is set by its last frame."""

    def __init__(self, spec: ResponseSpec) -> None:
        self.spec = spec
        self.output: list[dict[str, Any]] = []
        self.output_tokens = 0
        self.done = False
        self._reasoning_tokens = 0
        self._sequence = 0
        self._open: _Item | None = None

    def play(self, steps: Sequence[Step], scenario: Scenario | None) -> Iterator[Frame | Stall | Close]:
        """Everything to send for ``steps``, in order; the caller does the stalls and closes."""
        yield from self.begin()
        for step in steps:
            if isinstance(step, Stall | Close):
                yield step
            elif isinstance(step, Garbage):
                yield from (Frame(data) for data in step.frames)
            elif isinstance(step, Fail):
                yield self.fail(step)
                return
            elif isinstance(step, Calls):
                for call in step.calls:
                    yield from self._open_item("function_call", fresh=True, tool=call.tool, call_id=call.id)
                    yield from self._deltas(call.arguments, step.limit)
            elif isinstance(step, Think | Say | Patch):
                yield from self._stream(step, scenario)
        yield from self._end_item()
        yield self.complete()

    def begin(self) -> Iterator[Frame]:
        """The events before any output."""
        for kind in ("response.created", "response.in_progress"):
            yield from self._event(kind, response=self.response("in_progress"))

    def steered(self) -> Frame:
        """The final event of a response that ends early for a new prompt."""
        self.done = True
        response = {**self.response("incomplete"), "incomplete_details": {"reason": "steered"}}
        return next(self._event("response.incomplete", response=response))

    @property
    def between_items(self) -> bool:
        """Whether an item has just ended, and more follow."""
        return self._open is None and bool(self.output) and not self.done

    def complete(self) -> Frame:
        """The final event."""
        self.done = True
        return next(self._event("response.completed", response=self.response("completed")))

    def fail(self, step: Fail) -> Frame:
        """The final event of a failed response, in the shape that the script asks for."""
        self.done = True
        kind = "invalid_request_error" if step.status < 500 else "server_error"
        error: dict[str, Any] = {"type": kind, "param": None}
        error |= {"code": step.code, "message": step.message}
        if step.retry_after is not None:
            error["headers"] = {"retry-after": f"{step.retry_after:g}"}
        if step.shape == "nested":
            return next(self._event("error", status=step.status, error=error))
        if step.shape == "flat":
            return next(self._event("error", **{**error, "type": "error"}))
        response = {**self.response("failed"), "error": {"code": step.code, "message": step.message}}
        return next(self._event("response.failed", response=response))

    def response(self, status: str) -> dict[str, Any]:
        """The response object in its present state."""
        spec = self.spec
        usage = {
            "input_tokens": spec.input_tokens,
            "input_tokens_details": {"cached_tokens": spec.cached_tokens},
            "output_tokens": self.output_tokens,
            "output_tokens_details": {"reasoning_tokens": self._reasoning_tokens},
            "total_tokens": spec.input_tokens + self.output_tokens,
        }
        return {
            "id": spec.response_id,
            "object": "response",
            "created_at": spec.created_at,
            "status": status,
            "error": None,
            "incomplete_details": None,
            "model": spec.model,
            "output": list(self.output),
            "parallel_tool_calls": False,
            "previous_response_id": spec.previous_response_id,
            "store": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": None if status == "in_progress" else usage,
        }

    def _stream(self, step: Think | Say | Patch, scenario: Scenario | None) -> Iterator[Frame]:
        if isinstance(step, Patch):
            hunks = [] if scenario is None else [scenario.hunks[name] for name in step.hunks]
            if self.spec.patch_tool is not None:
                yield from self._open_item("custom_tool_call", fresh=True)
                yield from self._deltas(v4a(hunks), step.limit)
                return
            if self.spec.patch_shell is not None:
                yield from self._open_item("function_call", fresh=True, tool=self.spec.patch_shell)
                yield from self._deltas(_shell_call(self.spec.patch_shell, v4a(hunks)), step.limit)
                return
            kind, text = "message", search_replace(hunks)
        elif isinstance(step, Think):
            kind, text = "reasoning", step.text
        else:
            kind, text = "message", step.text
        if self._open is not None and self._open.kind == kind and not self._open.text.endswith("\n"):
            text = "\n\n" + text
        yield from self._open_item(kind)
        yield from self._deltas(text, step.limit)

    def _open_item(
        self, kind: str, *, fresh: bool = False, tool: str | None = None, call_id: str = ""
    ) -> Iterator[Frame]:
        if self._open is not None and self._open.kind == kind and not fresh:
            return
        yield from self._end_item()
        item = self._open = _Item(kind, len(self.output), self.spec, tool, call_id)
        yield from self._event("response.output_item.added", item=item.as_json("in_progress"), **item.place)
        if item.part_event is not None:
            name, place, empty = item.part_event
            yield from self._event(f"response.{name}.added", part=empty, **item.names, **place)

    def _deltas(self, text: str, limit: int | None) -> Iterator[Frame]:
        item = self._open
        if item is None:
            return
        head, tail = self._around_delta(item)
        for piece in split_tokens(text)[:limit]:
            item.text += piece
            self.output_tokens += 1
            self._reasoning_tokens += item.kind == "reasoning"
            self._sequence += 1
            number = "" if self.spec.bare else f',"sequence_number":{self._sequence}'
            yield Frame(f"{head}{json.dumps(piece)}{number}{tail}", 1)

    def _around_delta(self, item: _Item) -> tuple[str, str]:
        """A delta event's JSON before and after the part that differs; made once, since deltas are many."""
        event = {"type": f"response.{item.delta_event}.delta", **item.names, **item.delta_place}
        body = json.dumps(self._trim(event), separators=(",", ":"))
        lane = "" if self.spec.stream_id is None else f',"stream_id":{json.dumps(self.spec.stream_id)}'
        return body[:-1] + ',"delta":', lane + "}"

    def _end_item(self) -> Iterator[Frame]:
        item, self._open = self._open, None
        if item is None:
            return
        done = {item.text_field: item.text}
        yield from self._event(f"response.{item.delta_event}.done", **done, **item.names, **item.delta_place)
        if item.part_event is not None:
            name, place, _ = item.part_event
            yield from self._event(f"response.{name}.done", part=item.part(), **item.names, **place)
        whole = item.as_json("completed")
        self.output.append(whole)
        yield from self._event("response.output_item.done", item=whole, **item.place)

    def _event(self, kind: str, **fields: Any) -> Iterator[Frame]:
        self._sequence += 1
        if self.spec.bare and kind.startswith(_BARE_DROPS):
            return
        event = {"type": kind, **fields, "sequence_number": self._sequence}
        if self.spec.stream_id is not None:
            event["stream_id"] = self.spec.stream_id
        yield Frame(json.dumps(self._trim(event), separators=(",", ":")))

    def _trim(self, event: dict[str, Any]) -> dict[str, Any]:
        if self.spec.bare:
            for name in ("output_index", "content_index", "summary_index", "sequence_number"):
                event.pop(name, None)
        return event


def _shell_call(tool: str, patch: str) -> str:
    """The arguments with which the shell ``tool`` applies ``patch``."""
    line = f"apply_patch <<'PATCH'\n{patch.rstrip()}\nPATCH\n"
    return json.dumps({"cmd" if tool == "exec_command" else "command": line})


class _Item:
    """An output item that is being streamed."""

    def __init__(self, kind: str, index: int, spec: ResponseSpec, tool: str | None, call_id: str) -> None:
        self.kind = kind
        self.text = ""
        self._tool = tool or spec.patch_tool
        suffix = f"{spec.response_id.removeprefix('resp_')}_{index}"
        prefix = {"message": "msg", "reasoning": "rs", "function_call": "fc"}.get(kind, "ctc")
        self.id = f"{prefix}_{suffix}"
        self._call_id = call_id or f"call_{suffix}"
        self.place: dict[str, Any] = {"output_index": index}
        self.names: dict[str, Any] = {"item_id": self.id, "output_index": index}
        self.delta_place: dict[str, Any] = {}
        self.part_event: tuple[str, dict[str, Any], dict[str, Any]] | None = None
        self.text_field = "text"
        if kind == "message":
            self.delta_event = "output_text"
            self.delta_place = {"content_index": 0, "logprobs": []}
            self.part_event = ("content_part", {"content_index": 0}, self.part())
        elif kind == "reasoning":
            self.delta_event = "reasoning_summary_text"
            self.delta_place = {"summary_index": 0}
            self.part_event = ("reasoning_summary_part", {"summary_index": 0}, self.part())
        elif kind == "function_call":
            self.delta_event, self.text_field = "function_call_arguments", "arguments"
        else:
            self.delta_event, self.text_field = "custom_tool_call_input", "input"

    def part(self) -> dict[str, Any]:
        if self.kind == "reasoning":
            return {"type": "summary_text", "text": self.text}
        return {"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}

    def as_json(self, status: str) -> dict[str, Any]:
        """The whole item; without content before its end."""
        item: dict[str, Any] = {"id": self.id, "type": self.kind, "status": status}
        if self.kind in ("custom_tool_call", "function_call"):
            return {**item, "call_id": self._call_id, "name": self._tool, self.text_field: self.text}
        parts = [self.part()] if status == "completed" else []
        if self.kind == "reasoning":
            return {**item, "summary": parts}
        return {**item, "role": "assistant", "content": parts}
