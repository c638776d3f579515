"""The partner over plain HTTP: Responses, Chat Completions and Messages as event streams, and the models.

A small HTTP/1.1 server of its own on the WebSocket server's port: a WebSocket library answers no POST.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from websockets.asyncio.server import ServerConnection

from session.partner.script.script import Close, Fail, Stall, Step
from session.partner.script.story import Reply
from session.partner.server.answer import Answer, Asked, Frame
from session.partner.server.dialects import DIALECTS, HttpDialect, Writer, nested_error
from session.partner.server.pace import Pace
from session.partner.server.playing import steps_for
from session.partner.server.requests import BadRequest, Request, check_calls
from session.protocol.frames import NotAnObject, parse_object

if TYPE_CHECKING:
    from session.partner.server.server import Partner

_MOST_HEAD_BYTES = 64 * 1024
_MOST_BODY_BYTES = 64 * 1024 * 1024
_FRAMES_BETWEEN_YIELDS = 64
_LOOK_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Asking:
    """A request's head and body as received; header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Sniffer(ServerConnection):
    """A connection that becomes a WebSocket's only if its first request asks for one."""

    plain: Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]
    _head = b""
    _decided = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request before deciding whose connection this is."""
        self._waiting = transport

    def data_received(self, data: bytes) -> None:
        """Gather the first head; then everything goes to whom it is for."""
        if self._decided:
            super().data_received(data)
            return
        self._head += data
        if b"\r\n\r\n" not in self._head and len(self._head) < _MOST_HEAD_BYTES:
            return
        self._decided = True
        head = self._head.partition(b"\r\n\r\n")[0].lower()
        if b"upgrade: websocket" in head:
            super().connection_made(self._waiting)
            super().data_received(self._head)
            return
        reader = asyncio.StreamReader(limit=_MOST_HEAD_BYTES)
        protocol = asyncio.StreamReaderProtocol(reader, self.plain)
        assert isinstance(self._waiting, asyncio.Transport)
        self._waiting.set_protocol(protocol)
        protocol.connection_made(self._waiting)
        protocol.data_received(self._head)

    def connection_lost(self, exc: Exception | None) -> None:
        """Only a WebSocket's end is the library's business."""
        if self._decided:
            super().connection_lost(exc)

    def eof_received(self) -> None:
        """The same."""
        if self._decided:
            super().eof_received()


class HttpClient:
    """One plain HTTP connection: its requests one after the other, kept alive between them."""

    def __init__(self, partner: Partner, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._partner = partner
        self._reader = reader
        self._writer = writer

    async def run(self) -> None:
        """Serve until the client goes, or a fault of the script's ends the connection."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            while (asking := await self._read()) is not None and await self._serve(asking):
                pass
        self._writer.close()
        with contextlib.suppress(ConnectionError, OSError):
            await self._writer.wait_closed()

    async def _read(self) -> Asking | None:
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
        return Asking(words[0], words[1].partition("?")[0].rstrip("/"), headers, body)

    async def _chunked(self) -> bytes:
        body = b""
        while True:
            size = int((await self._reader.readuntil(b"\r\n")).partition(b";")[0], 16)
            body += (await self._reader.readexactly(size + 2))[:-2]
            if size == 0 or len(body) > _MOST_BODY_BYTES:
                return body

    async def _serve(self, asking: Asking) -> bool:
        """Answer one request; false when the connection ends with it."""
        partner, dialect = self._partner, DIALECTS.get(asking.path)
        refused = partner.refusal(asking.path, asking.headers)
        if refused is not None:
            return await self._json(*refused, asking)
        if asking.path == "/v1/models":
            return await self._json(200, partner.model_list(), asking)
        if asking.path.startswith("/v1/models/"):
            name = unquote(asking.path.removeprefix("/v1/models/"))
            return await self._json(*partner.model_entry(name), asking)
        if dialect is None or dialect.name not in partner.script.dialects:
            error = nested_error("not_found", f"Nothing is served at {asking.path or '/'}.", 404)
            return await self._json(404, error, asking)
        if asking.method != "POST":
            error = nested_error("upgrade_required", "Ask with POST, or over WebSocket.", 426)
            return await self._json(426 if dialect.name == "responses" else 405, error, asking)
        refusal = partner.script.http
        if refusal is not None:
            return await self._body(refusal.status, refusal.body.encode("utf-8"), refusal.content_type)
        try:
            request = dialect.read(parse_object(asking.body), len(asking.body))
            partner.requests.append(request)
            partner.check_model(request)
            check_calls(request.items)
        except NotAnObject as problem:
            message = f"The body could not be read: {problem}."
            return await self._json(400, dialect.error("invalid_json", message, 400), asking)
        except BadRequest as wrong:
            body = dialect.error(wrong.code, wrong.message, wrong.status)
            return await self._json(wrong.status, body, asking)
        steps, told = steps_for(
            partner, request.items, rounds=request.offers_patch_tool, tools=request.offers_functions
        )
        first = steps[0] if steps else None
        if isinstance(first, Fail) and first.shape != "response":  # it never came to a stream
            body = dialect.error(first.code, first.message, first.status)
            flat = {"code": first.code, "message": first.message}
            return await self._json(first.status, flat if first.shape == "flat" else body, asking)
        return await self._answer(request, dialect, steps, told)

    async def _answer(
        self, request: Request, dialect: HttpDialect, steps: tuple[Step, ...], told: Reply | None
    ) -> bool:
        answer = Answer(
            Asked(
                response_id=f"resp_{secrets.token_hex(12)}",
                model=request.model,
                created_at=int(time.time()),
                input_tokens=request.standing_tokens() + request.own_tokens(),
                patch_tool=request.patch_tool,
                bare=self._partner.script.bare,
            )
        )
        scenario = told.scenario if told is not None else None
        write = dialect.writer(answer.asked.response_id, request.model)
        streaming = asyncio.create_task(self._stream(answer.play(steps, scenario), write))
        while not streaming.done() and not self._reader.at_eof():
            await asyncio.wait({streaming}, timeout=_LOOK_SECONDS)
        if streaming.done() and streaming.exception() is None:
            return streaming.result()
        self._partner.cut += 1
        streaming.cancel()
        await asyncio.wait({streaming})
        return False

    async def _stream(self, frames: Iterator[Frame | Stall | Close], write: Writer) -> bool:
        """The response as an event stream; false when the script cut it."""
        writer = self._writer
        clock = asyncio.get_running_loop().time
        pace, at_once = Pace(self._partner.rate, clock()), 0
        writer.write(_head(200, "text/event-stream", "Transfer-Encoding: chunked"))
        for what in frames:
            if isinstance(what, Frame):
                wait = pace.wait(what.tokens, clock()) if what.tokens else 0.0
                at_once = 0 if wait else at_once + 1
                if wait or at_once % _FRAMES_BETWEEN_YIELDS == 0:
                    await asyncio.sleep(wait)
                text = write(what.data)
                if text:
                    writer.write(b"%x\r\n%b\r\n" % (len(text), text))
                    await writer.drain()
            elif isinstance(what, Stall):
                pace.hold(what.seconds)
                await asyncio.sleep(what.seconds)
            else:
                writer.transport.abort()
                return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _json(self, status: int, body: Mapping[str, object], asking: Asking) -> bool:
        text = json.dumps(body).encode("utf-8")
        return await self._body(status, text, "application/json", head_only=asking.method == "HEAD")

    async def _body(self, status: int, text: bytes, kind: str, *, head_only: bool = False) -> bool:
        location = f"\r\nLocation: {text.decode('latin-1')}" if 300 <= status < 400 else ""
        self._writer.write(_head(status, kind, f"Content-Length: {len(text)}{location}"))
        if not head_only:
            self._writer.write(text)
        await self._writer.drain()
        return True


def _head(status: int, kind: str, length: str) -> bytes:
    return f"HTTP/1.1 {status} \r\nContent-Type: {kind}\r\n{length}\r\n\r\n".encode("ascii")
