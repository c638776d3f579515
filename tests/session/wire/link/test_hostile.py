"""Tests hostile servers: each case ends in a defined state with one message and without repeated events."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from session.wire.link.connection import Connection, Endpoint, LinkError, Retries, Service
from session.wire.link.exchange import PIECE, SLICE_SECONDS
from session.wire.link.retries import Backoff
from session.wire.protocol.events import Finished, ItemDone, TextDelta
from session.wire.protocol.items import user_message
from session.wire.protocol.output import MOST
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route, Transport
from tests.session.wire.link.hostile import streaming
from tests.session.wire.link.test_connection import PROFILE, ask, failing, said

CHAT = Route(Transport.SSE, "chat")
MESSAGES = Route(Transport.SSE, "messages")
ROUTES = [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE, CHAT, MESSAGES]
CUTS = 40
ANSWER = "All is well."


def connect(url: str, route: Route, **options: Any) -> Connection:
    options.setdefault("retries", Retries(most=0))
    service = options.pop("service", Service(routes=(route,), warm_up=False))
    return Connection(Endpoint(url), PROFILE, service=service, backoff=Backoff(first=0.01), **options)


async def told(connection: Connection) -> tuple[str, str]:
    """Send a request; return the text of the answer and how it ended."""
    text = ""
    try:
        async with asyncio.timeout(10):
            async for event in connection.respond([user_message("hello")]):
                if isinstance(event, TextDelta):
                    text += event.text
                elif isinstance(event, Finished):
                    return text, event.status
    except LinkError as error:
        assert "\n" not in error.message and error.message
        return text, error.kind.value
    return text, "nothing"


def event(**body: Any) -> bytes:
    return b"data: " + json.dumps(body).encode() + b"\n\n"


async def test_a_character_split_across_reads_is_joined() -> None:
    raw = 'data: {"choices":[{"index":0,"delta":{"content":"größer 🚀"},"finish_reason":"stop"}]}\n\n'
    chunks = [bytes([byte]) for byte in raw.encode()]
    async with streaming(*chunks, b"data: [DONE]\n\n") as url:
        connection = connect(url, CHAT)
        assert await told(connection) == ("größer 🚀", "completed")
        await connection.close()


async def test_an_invalid_character_damages_nothing_else() -> None:
    raw = b'data: {"choices":[{"index":0,"delta":{"content":"a\xe2\x82b"},"finish_reason":"stop"}]}\n\n'
    async with streaming(raw) as url:
        connection = connect(url, CHAT)
        assert await told(connection) == ("a�b", "completed")
        await connection.close()


async def test_html_and_noise_between_events_are_counted() -> None:
    noise = b"data: <html>\n\ndata: \xff\xfe\n\n: comment\n\nevent: x\ndata: []\n\n"
    delta = event(choices=[{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}])
    async with streaming(noise, delta, noise, b"data: [DONE]\n\n") as url:
        connection = connect(url, CHAT)
        assert await told(connection) == ("ok", "completed")
        assert connection.garbled == 6
        await connection.close()


async def test_repeated_and_unordered_items_are_reported_once() -> None:
    item = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}],
    }
    done = event(type="response.output_item.done", output_index=0, item=item)
    late = event(type="response.output_text.delta", item_id="m", output_index=0, delta="Hi")
    created = event(type="response.created", response={"id": "r"})
    final = event(type="response.completed", response={"id": "r", "output": [item, item]})
    async with streaming(late, done, done, created, late, created, final, final) as url:
        connection = connect(url, RESPONSES_OVER_SSE)
        events = await ask(connection, [user_message("hello")])
        assert said(events) == "Hi"
        assert sum(isinstance(one, ItemDone) for one in events) <= 2
        assert sum(isinstance(one, Finished) for one in events) == 1
        await connection.close()


async def test_an_event_without_an_end_fails_the_answer() -> None:
    megabyte = b"x" * (1024 * 1024)
    async with streaming(b"data: ", *[megabyte] * 70) as url:
        connection = connect(url, CHAT)
        problem = await failing(connection, "hello")
        assert problem.kind == "closed" and "an event of more than" in problem.message
        await connection.close()


async def test_a_large_event_is_read_in_slices_and_other_tasks_run_between_them() -> None:
    text = "a line of words\n" * 20_000
    delta = event(choices=[{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}])
    async with streaming(delta, b"data: [DONE]\n\n") as url:
        connection = connect(url, CHAT)
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        beside = asyncio.create_task(others())
        pieces: list[str] = []
        seen: list[int] = []
        async for given in connection.respond([user_message("hello")]):
            if isinstance(given, TextDelta):
                pieces.append(given.text)
                seen.append(turns)
                time.sleep(2 * SLICE_SECONDS)  # finding edits in a slice may take this long
        beside.cancel()
        assert "".join(pieces) == text and max(map(len, pieces)) <= PIECE
        assert len(set(seen)) == len(pieces)
        await connection.close()


async def test_an_answer_with_too_many_items_fails() -> None:
    parts = [{"type": "message", "id": f"m{at}", "content": "x"} for at in range(MOST + 1)]
    final = event(type="response.completed", response={"id": "r", "status": "completed", "output": parts})
    async with streaming(final) as url:
        connection = connect(url, RESPONSES_OVER_SSE)
        problem = await failing(connection, "hello")
        assert f"more than {MOST} parts" in problem.message
        await connection.close()


async def test_a_giant_frame_fails_the_answer() -> None:
    async def handle(connection: ServerConnection) -> None:
        await connection.recv()
        connection.transport.write(b"\x81\x7f" + (65 * 1024 * 1024).to_bytes(8, "big") + b"x" * 1000)
        await connection.wait_closed()

    async with serve(handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        connection = connect(f"http://127.0.0.1:{port}/v1", RESPONSES_OVER_WEBSOCKET)
        problem = await failing(connection, "hello")
        assert problem.kind == "closed" and "protocol" in problem.message
        await connection.close()


@pytest.mark.parametrize("hold", [True, False], ids=["stalls", "ends"])
async def test_an_answer_that_stops_is_reported(hold: bool) -> None:
    delta = event(choices=[{"index": 0, "delta": {"content": "half"}}])
    async with streaming(delta, hold=hold) as url:
        connection = connect(url, CHAT, idle_timeout=1.0)
        assert await told(connection) == ("half", "closed")
        await connection.close()


async def test_an_empty_answer_is_an_error() -> None:
    async with streaming() as url:
        connection = connect(url, CHAT)
        problem = await failing(connection, "hello")
        assert problem.kind == "closed" and "before the answer was complete" in problem.message
        await connection.close()


async def test_binary_frames_are_read_as_text() -> None:
    async def handle(connection: ServerConnection) -> None:
        await connection.recv()
        await connection.send(json.dumps({"type": "response.output_text.delta", "delta": "Hi"}).encode())
        await connection.send(json.dumps({"type": "response.completed", "response": {"id": "r"}}).encode())
        await connection.wait_closed()

    async with serve(handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        connection = connect(f"http://127.0.0.1:{port}/v1", RESPONSES_OVER_WEBSOCKET)
        assert await told(connection) == ("Hi", "completed")
        await connection.close()


async def test_a_server_without_tls_is_reported() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 not TLS, but very willing to talk\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection = connect(f"https://127.0.0.1:{port}/v1", CHAT)
    problem = await failing(connection, "hello")
    server.close()
    assert (problem.kind, problem.code) == ("unreachable", "untrusted")
    assert "No TLS connection" in problem.message
    await connection.close()
