"""A recorded answer, given again on every connection, and cut off after as many bytes as a test likes."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import hashlib
import itertools
import json
import socket
import struct
from typing import Any

from session.wire.transport.service import Route, Transport

PATCH = "*** Begin Patch\n*** Update File: maß.py\n@@\n-größe = 1\n+größe = 2\n*** End Patch\n"
BLOCK = "maß.py\n<<<<<<< SEARCH\ngröße = 1\n=======\ngröße = 2\n>>>>>>> REPLACE\n"
CUT = 23
"""The place at which the edit is split into two deltas."""
_CALL = {"type": "custom_tool_call", "id": "c", "call_id": "k", "name": "apply_patch", "input": PATCH}
_DELTA = "response.custom_tool_call_input.delta"
RESPONSES: tuple[dict[str, Any], ...] = (
    {"type": "response.created", "response": {"id": "r"}},
    {"type": _DELTA, "item_id": "c", "delta": PATCH[:CUT]},
    {"type": _DELTA, "item_id": "c", "delta": PATCH[CUT:]},
    {"type": "response.output_item.done", "item": _CALL},
    {"type": "response.completed", "response": {"id": "r"}},
)
CHAT: tuple[dict[str, Any], ...] = (
    {"choices": [{"index": 0, "delta": {"content": BLOCK[:CUT]}}]},
    {"choices": [{"index": 0, "delta": {"content": BLOCK[CUT:]}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
)
_STOP = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}
MESSAGES: tuple[dict[str, Any], ...] = (
    {"type": "message_start", "message": {"id": "m"}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": BLOCK[:CUT]}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": BLOCK[CUT:]}},
    {"type": "content_block_stop", "index": 0},
    _STOP,
    {"type": "message_stop"},
)
_NOT_FOUND = b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class Replay:
    """Serves the recorded answer for ``route``; of each connection's bytes only ``limit`` (None: all).

    ``total`` is what a whole connection is: the handshake, or the refusal of ``HEAD /models``, and the
    answer. With ``reset`` the connection is reset where it is cut, and not closed.
    """

    def __init__(self, route: Route) -> None:
        self.limit: int | None = None
        self.reset = False
        self.once = False
        """Whether only one connection is cut."""
        self.total = len(_accept(b"")) if route.transport is Transport.WEBSOCKET else len(_NOT_FOUND)
        self.url = ""
        events = {"responses": RESPONSES, "chat": CHAT, "messages": MESSAGES}[route.dialect]
        texts = [json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() for event in events]
        if route.transport is Transport.WEBSOCKET:
            frames = [_frame(text) for text in texts]
        else:
            texts += [b"[DONE]"] if route.dialect == "chat" else []
            chunks = (b"data: " + text + b"\n\n" for text in texts)
            frames = [_STREAM, *(b"%x\r\n%b\r\n" % (len(each), each) for each in chunks), b"0\r\n\r\n"]
        self._answer = b"".join(frames)
        begun = self.total
        self.edges = [0, *itertools.accumulate(map(len, frames), initial=begun)]
        """Where each part of all bytes begins (handshake, head, frames), and the end of all."""
        self.first = self.total + self._answer.index(b"***" if route.dialect == "responses" else b"ma")
        """The place of the first word of the edit."""
        self.total += len(self._answer)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Replay:
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await asyncio.gather(*self._tasks)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        left = self.total if self.limit is None else self.limit
        self.limit = None if self.once else self.limit
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while left > 0:
                head = await reader.readuntil(b"\r\n\r\n")
                upgrades = b"upgrade: websocket" in head.lower()
                if upgrades:
                    writer.write(_accept(head)[:left])
                    left -= len(_accept(head))
                    if left > 0:
                        await _masked(reader)
                elif head.startswith(b"HEAD"):
                    writer.write(_NOT_FOUND[:left])
                    left -= len(_NOT_FOUND)
                    continue
                else:
                    await reader.readexactly(_length(head))
                if left > 0:
                    writer.write(self._answer[:left])
                if left < len(self._answer):
                    break
                await writer.drain()
                if upgrades:  # until the client says that it closes
                    await reader.read(1000)
                    break
        await self._end(writer)

    async def _end(self, writer: asyncio.StreamWriter) -> None:
        if self.reset:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        with contextlib.suppress(ConnectionError):
            writer.close()
            await writer.wait_closed()


def _accept(head: bytes) -> bytes:
    lines = (line.partition(b":") for line in head.split(b"\r\n"))
    key = next((value.strip() for name, _, value in lines if name.lower() == b"sec-websocket-key"), b"")
    digest = hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11", usedforsecurity=False).digest()
    return (
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: " + base64.b64encode(digest) + b"\r\n\r\n"
    )


def _frame(text: bytes) -> bytes:
    size = bytes([len(text)]) if len(text) < 126 else b"\x7e" + len(text).to_bytes(2, "big")
    return b"\x81" + size + text


async def _masked(reader: asyncio.StreamReader) -> None:
    """Read a client's frames up to its first text frame: a ping is no request."""
    while True:
        opcode, size = await reader.readexactly(2)
        size &= 0x7F
        if size > 125:
            size = int.from_bytes(await reader.readexactly(2 if size == 126 else 8), "big")
        await reader.readexactly(4 + size)
        if opcode & 0x0F == 1:
            return


def _length(head: bytes) -> int:
    lines = (line.partition(b":") for line in head.lower().split(b"\r\n"))
    return next(int(value) for name, _, value in lines if name == b"content-length")
