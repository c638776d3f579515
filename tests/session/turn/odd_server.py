"""A strict server of Chat Completions whose answers are odd in ways that can be put together.

It takes no request that real ones refuse: a message of text is a string, a call's arguments are JSON and its
name is a name, and each call has one answer behind it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Literal

TEXT = ("string", "list of parts", "message", "one body", "as JSON")
ENDS = ("stop", "length", "content_filter", "unheard_of", "none", "silence", "cut", "error", "null choices")
CALLS = ("none", "bad arguments", "object", "no such tool", "impossible name", "no id", "same index", "null")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Odd:
    """One answer: ``edit`` is in its text, thought about or not, of which ``share`` of a hundred is sent."""

    text: Literal["string", "list of parts", "message", "one body", "as JSON"] = "string"
    end: str = "stop"
    calls: str = "none"
    thought: Literal["", "opened", "not opened", "not closed"] = ""
    share: int = 100
    piece: int = 7

    def said(self, edit: str) -> str:
        """The text as far as it is sent."""
        whole = {
            "": f"I change it.\n\n{edit}\nDone.\n",
            "opened": f"<think>Perhaps:\n\n{edit}\n</think>\n\nNothing is to be done.\n",
            "not opened": f"Perhaps:\n\n{edit}\n</think>\n\nNothing is to be done.\n",
            "not closed": f"<think>Perhaps:\n\n{edit}\n",
        }[self.thought]
        return whole[: len(whole) * self.share // 100]

    @property
    def clean(self) -> bool:
        """Whether the answer ends as one that is whole does."""
        one = self.text == "one body" and self.end in ("silence", "cut", "null choices")
        return self.end == "stop" or one


class OddServer:
    """Gives the answers of ``plan``, then plain ones; keeps what it refused in ``refused``."""

    def __init__(self) -> None:
        self.plan: deque[tuple[Odd, str]] = deque()
        """What is answered next, each with the edit that it holds."""
        self.asked: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.url = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                found = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                body = await reader.readexactly(int(found[1])) if found else b""
                if head.startswith(b"HEAD"):
                    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
                elif head.startswith(b"GET /v1/models"):
                    _respond(writer, 200, {"object": "list", "data": [{"id": "odd", "object": "model"}]})
                elif not body:
                    _respond(writer, 404, {"error": {"message": "there is nothing here"}})
                elif not await self._answer(json.loads(body), writer):
                    break
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, body: dict[str, Any], writer: asyncio.StreamWriter) -> bool:
        """Answer a request; false where the connection is cut."""
        self.asked.append(body)
        if problem := next(complaints(body["messages"]), ""):
            self.refused.append(problem)
            _respond(writer, 400, {"error": {"message": problem, "type": "invalid_request_error"}})
            return True
        odd, edit = self.plan.popleft() if self.plan else (Odd(), "")
        said = odd.said(edit) if edit else "Done.\n"
        if odd.text == "one body":
            _respond(writer, 200, _body(odd, said))
            return True
        kind = "application/json" if odd.text == "as JSON" else "text/event-stream"
        writer.write(
            f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
        )
        frames = [f"data: {json.dumps(frame)}\n\n" for frame in _frames(odd, said)]
        if odd.end not in ("silence", "cut"):
            frames.append("data: [DONE]\n\n")
        for frame in frames:
            data = frame.encode()
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        if odd.end == "cut":
            await writer.drain()
            writer.transport.abort()
            return False
        writer.write(b"0\r\n\r\n")
        return True


def complaints(messages: list[dict[str, Any]]) -> Iterator[str]:
    """What a strict server says of a conversation."""
    owed: list[str] = []
    for at, message in enumerate(messages):
        role, content, calls = message["role"], message.get("content"), message.get("tool_calls") or []
        if role == "tool":
            if message["tool_call_id"] not in owed:
                yield f"messages.{at}: an answer to no call"
            owed = [each for each in owed if each != message["tool_call_id"]]
        elif owed:
            yield f"messages.{at}: calls without answers: {owed}"
        if not isinstance(content, str) and not (role == "assistant" and content is None and calls):
            yield f"messages.{at}.content must be a string"
        if role == "assistant" and not content and not calls:
            yield f"messages.{at}: an empty message"
        for call in calls:
            function = call["function"]
            if not NAME.fullmatch(function["name"]) or not isinstance(function["arguments"], str):
                yield f"messages.{at}: an impossible call"
            elif not isinstance(json.loads(function["arguments"]), dict):
                yield f"messages.{at}: arguments that are no object"
            owed.append(call["id"])
    if owed:
        yield f"calls without answers: {owed}"


def _calls(odd: Odd) -> list[dict[str, Any]]:
    def call(name: str, arguments: Any, **more: Any) -> dict[str, Any]:
        return {
            "index": 0,
            "id": "c",
            "type": "function",
            "function": {"name": name, "arguments": arguments},
        } | more

    match odd.calls:
        case "bad arguments":
            return [call("read", '{"path": ')]
        case "object":
            return [call("read", {"path": "counter.py"})]
        case "no such tool":
            return [call("open_the_door", "{}")]
        case "impossible name":
            return [call("functions.read<|channel|>json", '{"path": "counter.py"}')]
        case "no id":
            return [call("read", '{"path": "counter.py"}', id=None)]
        case "same index":
            return [call("read", '{"path": "counter.py"}'), call("list", "{}", id="d")]
        case "null":
            return [call("read", "null")]
        case _:
            return []


def _frames(odd: Odd, said: str) -> Iterator[dict[str, Any]]:
    for start in range(0, len(said), odd.piece):
        piece: Any = said[start : start + odd.piece]
        if odd.text == "list of parts":
            piece = [{"type": "text", "text": piece}]
        yield {"choices": [{"index": 0, "message" if odd.text == "message" else "delta": {"content": piece}}]}
    if calls := _calls(odd):
        yield {"choices": [{"index": 0, "delta": {"tool_calls": calls}}]}
    if odd.end == "error":
        yield {"error": {"message": "the engine is lost", "code": 500}}
    elif odd.end == "null choices":
        yield {"choices": None}
    elif odd.end not in ("silence", "cut"):
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": _reason(odd)}]}


def _reason(odd: Odd) -> str | None:
    reason = None if odd.end == "none" else odd.end
    return "tool_calls" if odd.calls != "none" and odd.end == "stop" else reason


def _body(odd: Odd, said: str) -> dict[str, Any]:
    if odd.end == "error":
        return {"error": {"message": "the engine is lost", "code": 500}}
    message = {"role": "assistant", "content": said, "tool_calls": _calls(odd) or None}
    reason = "stop" if odd.end in ("silence", "cut", "null choices") else _reason(odd)
    return {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}


def _respond(writer: asyncio.StreamWriter, status: int, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    writer.write(head.encode() + data)


@asynccontextmanager
async def odd_server() -> AsyncIterator[OddServer]:
    """A server on loopback."""
    made = OddServer()
    listening = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    async with listening:
        yield made
