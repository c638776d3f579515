"""One plain HTTP/1.1 connection to the partner: the dialects as event streams, and the list of models.

Answers that are not streamed: a finished response as one body in each HTTP dialect.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import unquote

from session.partner.script import Close, Fail, Scenario, Stall, Step
from session.partner.server.answer import Answer, Frame, ResponseSpec
from session.partner.server.dialects import DIALECTS, HttpDialect, Writer, nested_error, nothing_at
from session.partner.server.requests import BadRequest, Request, check_calls
from session.partner.server.schedule import paced
from session.partner.server.scripted_model import ScriptedModel
from session.wire.protocol.frames import NotAnObject, parse_object


def whole_answer(dialect: str, response: dict[str, Any]) -> dict[str, Any]:
    """The body in ``dialect`` for a finished Responses object."""
    if dialect == "chat":
        return _chat(response)
    return _messages(response) if dialect == "messages" else response


def _chat(response: dict[str, Any]) -> dict[str, Any]:
    texts, thoughts, calls = _parts(response)
    message: dict[str, Any] = {"role": "assistant", "content": texts or None}
    if thoughts:
        message["reasoning_content"] = thoughts
    if calls:
        message["tool_calls"] = [
            {
                "id": call["call_id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in calls
        ]
    usage = response["usage"]
    return {
        "id": response["id"].replace("resp_", "chatcmpl-"),
        "object": "chat.completion",
        "created": response["created_at"],
        "model": response["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if calls else "stop",
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": usage["input_tokens"],
            "completion_tokens": usage["output_tokens"],
            "total_tokens": usage["total_tokens"],
        },
    }


def _messages(response: dict[str, Any]) -> dict[str, Any]:
    texts, thoughts, calls = _parts(response)
    content: list[dict[str, Any]] = []
    if thoughts:
        content.append({"type": "thinking", "thinking": thoughts, "signature": "signed-1"})
    if texts:
        content.append({"type": "text", "text": texts})
    content += [
        {"type": "tool_use", "id": call["call_id"], "name": call["name"], "input": _arguments(call)}
        for call in calls
    ]
    usage = response["usage"]
    return {
        "id": response["id"].replace("resp_", "msg_"),
        "type": "message",
        "role": "assistant",
        "model": response["model"],
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn" if content else "max_tokens",
        "stop_sequence": None,
        "usage": {"input_tokens": usage["input_tokens"], "output_tokens": usage["output_tokens"]},
    }


def _parts(response: dict[str, Any]) -> tuple[str, str, list[dict[str, Any]]]:
    """The text, the reasoning and the function calls of a response."""
    texts = [part["text"] for item in response["output"] for part in item.get("content", ())]
    thoughts = [part["text"] for item in response["output"] for part in item.get("summary", ())]
    calls = [item for item in response["output"] if item["type"] == "function_call"]
    return "".join(texts), "\n\n".join(thoughts), calls


def _arguments(call: dict[str, Any]) -> dict[str, Any]:
    try:
        return parse_object(call["arguments"])
    except NotAnObject:
        return {"input": call["arguments"]}


def count_tokens(dialect: str, tokens: int) -> dict[str, Any]:
    """The body that says how many tokens a request's input has."""
    return (
        {"input_tokens": tokens}
        if dialect == "messages"
        else {
            "object": "response.input_tokens",
            "input_tokens": tokens,
        }
    )


def failed_answer(frame: str | bytes) -> dict[str, Any] | None:
    """The error in a frame that ends an answer; None if it is no such frame."""
    try:
        body = parse_object(frame)
    except NotAnObject:
        return None
    if body.get("type") == "response.failed":
        return {"status": 500, **body["response"]["error"]}
    if body.get("type") == "error":
        return {"status": body.get("status", 500), **(body.get("error") or body)}
    return None


_MOST_BODY_BYTES = 64 * 1024 * 1024
_LOOK_SECONDS = 0.05
_COUNTED = {"/v1/messages/count_tokens": "/v1/messages", "/v1/responses/input_tokens": "/v1/responses"}
"""The paths that count a request's tokens, with the dialect's own path."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request's head and body as received, with header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class HttpConnection:
    """Answers the requests of one connection in order, and keeps it open between them."""

    def __init__(
        self, model: ScriptedModel, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._model = model
        self._reader = reader
        self._writer = writer

    async def run(self) -> None:
        """Serve until the client closes the connection, or a fault in the script does."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while (request := await self._read()) is not None and await self._serve(request):
                pass
        self._writer.close()
        with contextlib.suppress(ConnectionError, OSError):
            await self._writer.wait_closed()

    async def _read(self) -> HttpRequest | None:
        head = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        words = first.split(" ")
        if len(words) != 3:
            return None
        pairs = (line.partition(":") for line in lines if ":" in line)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        if headers.get("expect", "").lower() == "100-continue":
            self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if headers.get("transfer-encoding", "").lower() == "chunked":
            body = await self._chunked()
        else:
            size = int(headers["content-length"]) if headers.get("content-length", "").isdigit() else 0
            if size > _MOST_BODY_BYTES:
                return None
            body = await self._reader.readexactly(size)
        if headers.get("content-encoding", "").lower() == "gzip":
            try:
                body = zlib.decompressobj(wbits=31).decompress(body, _MOST_BODY_BYTES)
            except zlib.error:
                body = b""  # no JSON: the client is told so
        return HttpRequest(words[0], words[1].partition("?")[0].rstrip("/"), headers, body)

    async def _chunked(self) -> bytes:
        body = b""
        while True:
            size = int((await self._reader.readuntil(b"\r\n")).partition(b";")[0], 16)
            body += (await self._reader.readexactly(size + 2))[:-2]
            if size == 0 or len(body) > _MOST_BODY_BYTES:
                return body

    async def _serve(self, http: HttpRequest) -> bool:
        """Answer one request; false when the connection ends with it."""
        model, dialect = self._model, DIALECTS.get(http.path)
        refused = model.refusal(http.headers)
        if refused is not None:
            return await self._json(*refused, http)
        if http.path == "/v1/models":
            return await self._json(200, model.model_list(), http)
        if http.path.startswith("/v1/models/"):
            name = unquote(http.path.removeprefix("/v1/models/"))
            return await self._json(*model.model_entry(name), http)
        counted = _COUNTED.get(http.path)
        if counted is not None and http.method == "POST":
            return await self._count(DIALECTS[counted], http)
        if http.path.startswith("/v1/responses/"):
            return await self._stored(http)
        if dialect is None or dialect.name not in model.script.dialects:
            return await self._json(404, nothing_at(http.path), http)
        if http.method != "POST":
            error = nested_error("upgrade_required", "Ask with POST, or over WebSocket.", 426)
            return await self._json(426 if dialect.name == "responses" else 405, error, http)
        refusal = model.script.http
        if refusal is not None:
            return await self._body(refusal.status, refusal.body.encode("utf-8"), refusal.content_type)
        try:
            given = parse_object(http.body)
            before = model.stored_before(given) if dialect.name == "responses" else ()
            request = dialect.read(given, len(http.body)).after(before)
            request = replace(request, items=(*before, *request.items))
            model.requests.append(request)
            model.check_model(request)
            check_calls(request.items)
            if not request.generate and model.script.warm_up == "unsupported":
                raise BadRequest("invalid_request_error", "max_tokens: must be at least 1")
        except NotAnObject as problem:
            message = f"The body could not be read: {problem}."
            return await self._json(400, dialect.error("invalid_json", message, 400), http)
        except BadRequest as wrong:
            body = dialect.error(wrong.code, wrong.message, wrong.status)
            return await self._json(wrong.status, body, http)
        steps, scenario = model.answer(request, request.items) if request.generate else ((), None)
        first = steps[0] if steps else None
        if isinstance(first, Fail) and first.shape != "response":  # the stream never began
            body = dialect.error(first.code, first.message, first.status)
            flat = {"code": first.code, "message": first.message}
            wait = "" if first.retry_after is None else f"{first.retry_after:g}"
            return await self._json(first.status, flat if first.shape == "flat" else body, http, wait)
        return await self._answer(request, dialect, steps, scenario)

    async def _count(self, dialect: HttpDialect, http: HttpRequest) -> bool:
        """Answer how many tokens a request's input has."""
        try:
            request = dialect.read({"max_tokens": 1, **parse_object(http.body)}, len(http.body))
        except (NotAnObject, BadRequest) as wrong:
            return await self._json(400, dialect.error("invalid_request_error", str(wrong), 400), http)
        tokens = request.standing_tokens() + request.own_tokens()
        return await self._json(200, count_tokens(dialect.name, tokens), http)

    async def _stored(self, http: HttpRequest) -> bool:
        """Retrieve, cancel or delete a response."""
        name, _, action = http.path.removeprefix("/v1/responses/").partition("/")
        known = (http.method, action) in (("GET", ""), ("POST", "cancel"), ("DELETE", ""))
        response = self._model.stored_response(unquote(name)) if known else None
        if response is None:
            error = nested_error("not_found", f"Response with id '{name}' not found.", 404)
            return await self._json(404, error, http)
        if http.method == "DELETE":
            self._model.stored.pop(response["id"])
            return await self._json(200, {"id": response["id"], "object": "response", "deleted": True}, http)
        if action == "cancel":
            response = await self._model.cancel(response)
        return await self._json(200, response, http)

    async def _answer(
        self, request: Request, dialect: HttpDialect, steps: tuple[Step, ...], scenario: Scenario | None
    ) -> bool:
        answer = Answer(
            ResponseSpec(
                response_id=f"resp_{secrets.token_hex(12)}",
                model=request.model,
                created_at=int(time.time()),
                input_tokens=request.standing_tokens() + request.own_tokens(),
                patch_tool=request.patch_tool,
                patch_shell=request.patch_shell,
                bare=self._model.script.bare,
            )
        )
        self._model.began(answer, request)
        frames = answer.play(steps, scenario)
        if request.body.get("stream") is True:
            write = dialect.writer(answer.spec.response_id, request.model)
            streaming = asyncio.create_task(self._stream(frames, write))
        else:
            streaming = asyncio.create_task(self._whole(frames, answer, dialect))
        self._model.running[answer.spec.response_id] = streaming
        streaming.add_done_callback(lambda _: self._model.running.pop(answer.spec.response_id, None))
        while not streaming.done() and not self._reader.at_eof():
            await asyncio.wait({streaming}, timeout=_LOOK_SECONDS)
        if streaming.done() and not streaming.cancelled() and streaming.exception() is None:
            return streaming.result()
        self._model.cut += 1
        streaming.cancel()
        await asyncio.wait({streaming})
        return False

    async def _whole(
        self, frames: Iterator[Frame | Stall | Close], answer: Answer, dialect: HttpDialect
    ) -> bool:
        """Send the response as one body once it is finished; false when the script cut it."""
        last: str | bytes = ""
        async for frame in paced(frames, self._model.rate, self._model.going):
            if isinstance(frame, Close):
                self._writer.transport.abort()
                return False
            last = frame.data
        failure = failed_answer(last)
        if failure is not None:
            status = int(failure["status"])
            body = dialect.error(str(failure["code"]), str(failure["message"]), status)
        else:
            status, body = 200, whole_answer(dialect.name, answer.response("completed"))
        return await self._body(status, json.dumps(body).encode("utf-8"), "application/json")

    async def _stream(self, frames: Iterator[Frame | Stall | Close], write: Writer) -> bool:
        """Send the response as an event stream; false when the script cut it."""
        writer = self._writer
        writer.write(_head(200, "text/event-stream", "Transfer-Encoding: chunked"))
        async for frame in paced(frames, self._model.rate, self._model.going):
            if isinstance(frame, Close):
                writer.transport.abort()
                return False
            if text := write(frame.data):
                writer.write(b"%x\r\n%b\r\n" % (len(text), text))
                await writer.drain()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _json(
        self, status: int, body: Mapping[str, object], http: HttpRequest, retry_after: str = ""
    ) -> bool:
        text, head_only = json.dumps(body).encode("utf-8"), http.method == "HEAD"
        more = f"\r\nRetry-After: {retry_after}" if retry_after else ""
        return await self._body(status, text, "application/json", head_only=head_only, more=more)

    async def _body(
        self, status: int, text: bytes, kind: str, *, head_only: bool = False, more: str = ""
    ) -> bool:
        if 300 <= status < 400:
            more += f"\r\nLocation: {text.decode('latin-1')}"
        self._writer.write(_head(status, kind, f"Content-Length: {len(text)}{more}"))
        if not head_only:
            self._writer.write(text)
        await self._writer.drain()
        return True


def _head(status: int, kind: str, length: str) -> bytes:
    return f"HTTP/1.1 {status} \r\nContent-Type: {kind}\r\n{length}\r\n\r\n".encode("ascii")
