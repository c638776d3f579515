"""Servers that never end an answer, at full speed over real sockets: it is given up, and asked for once."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from session.wire.link import exchange
from session.wire.link.connection import LinkError, Retries
from session.wire.protocol.events import TextDelta, WireEvent
from session.wire.protocol.items import user_message
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route
from tests.session.held_clock import HeldClock
from tests.session.wire.link.test_hostile import CHAT, MESSAGES, connect

CALL = {"type": "function_call", "id": "c", "call_id": "c", "name": "read", "arguments": ""}
WORDS = "words " * 20
RESPONSES: dict[str, list[dict[str, Any]]] = {
    "text": [{"type": "response.output_text.delta", "delta": WORDS}],
    "reasoning": [{"type": "response.reasoning_summary_text.delta", "delta": WORDS}],
    "arguments": [
        {"type": "response.output_item.added", "output_index": 0, "item": CALL},
        {"type": "response.function_call_arguments.delta", "item_id": "c", "delta": WORDS},
    ],
    "events that nobody knows": [{"type": "response.unknown", "text": WORDS}],
    "items": [{"type": "response.output_item.done", "item": {"type": "reasoning", "sealed": WORDS * 20}}],
    "noise": [{"noise": WORDS}],
}
OTHERS: dict[Route, dict[str, dict[str, Any]]] = {
    CHAT: {
        "text": {"choices": [{"index": 0, "delta": {"content": WORDS}}]},
        "reasoning": {"choices": [{"index": 0, "delta": {"reasoning_content": WORDS}}]},
        "arguments": {
            "choices": [
                {"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"arguments": WORDS}}]}}
            ]
        },
    },
    MESSAGES: {
        "signature": {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": WORDS},
        },
    },
}
ENDLESS = [
    *((route, name) for route in (RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE) for name in RESPONSES),
    *((route, name) for route, names in OTHERS.items() for name in names),
]


def frames(route: Route, name: str) -> Iterator[str]:
    events = [OTHERS[route][name]] if route in OTHERS else RESPONSES[name]
    data = "" if route is RESPONSES_OVER_WEBSOCKET else "data: "
    return (f"{data}{json.dumps(each)}" for each in itertools.chain(events, itertools.repeat(events[-1])))


@asynccontextmanager
async def saying(
    route: Route, frames: Iterable[str], pause: float = 0.0
) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that answers with ``frames``, and its requests. ``pause`` is in seconds after each."""
    asked: list[str] = []

    async def by_websocket(connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            asked.append(str(await connection.recv()))
            for frame in frames:
                await connection.send(frame)
                await asyncio.sleep(pause)

    async def by_http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while (head := await reader.readuntil(b"\r\n\r\n")).startswith(b"HEAD"):
                writer.write(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
            asked.append(head.decode("latin-1"))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            for frame in frames:
                writer.write(frame.encode() + b"\n\n")
                await writer.drain()
                await asyncio.sleep(pause)
        writer.close()

    if route is RESPONSES_OVER_WEBSOCKET:
        async with serve(by_websocket, "127.0.0.1", 0, compression=None, close_timeout=0.1) as server:
            yield f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1", asked
        return
    listening = await asyncio.start_server(by_http, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", asked
    listening.close()


@pytest.mark.parametrize(("route", "name"), ENDLESS, ids=lambda each: str(each))
async def test_an_answer_without_end_is_given_up_and_asked_for_once(
    route: Route, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "MOST_TEXT", 60_000)
    monkeypatch.setattr(exchange, "MOST_BYTES", 300_000)
    async with saying(route, frames(route, name)) as (url, asked):
        connection = connect(url, route, retries=Retries(most=3))
        given: list[WireEvent] = []
        async with asyncio.timeout(60):
            with pytest.raises(LinkError, match="without an end") as caught:
                async for event in connection.respond([user_message("hello")]):
                    given.append(event)
        assert (caught.value.kind, caught.value.code) == ("server", exchange.TOO_LONG)
        assert sum(len(getattr(event, "text", "")) for event in given) <= 60_000
        assert len(asked) == 1
        await connection.close()


async def until(fits: Callable[[], bool]) -> None:
    """Wait in real time, for what goes over real sockets."""
    while not fits():
        await asyncio.sleep(0.005)


SIGNS: dict[Route, tuple[str, ...]] = {
    RESPONSES_OVER_WEBSOCKET: (
        '{"type": "response.unknown"}',
        '{"type": "keepalive"}',
        '{"type": "response.output_text.delta", "delta": ""}',
        '{"type": "response.created", "response": {"id": "r"}}',
        "noise",
    ),
    RESPONSES_OVER_SSE: ('data: {"type": "response.in_progress"}', ": still here", "data: noise"),
    CHAT: (": OPENROUTER PROCESSING", 'data: {"choices": [{"index": 0, "delta": {"content": ""}}]}'),
    MESSAGES: ('event: ping\ndata: {"type": "ping"}',),
}
"""Signs of life that are no part of an answer."""
WORD: dict[Route, str] = {
    RESPONSES_OVER_WEBSOCKET: '{"type": "response.output_text.delta", "delta": "x"}',
    RESPONSES_OVER_SSE: 'data: {"type": "response.output_text.delta", "delta": "x"}',
    CHAT: 'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}',
    MESSAGES: 'data: {"type": "content_block_delta", "index": 0, "delta": '
    '{"type": "text_delta", "text": "x"}}',
}


@pytest.mark.parametrize("route", SIGNS, ids=str)
async def test_signs_of_life_alone_do_not_keep_an_answer_open(
    route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = HeldClock(monkeypatch)
    async with saying(route, itertools.cycle(SIGNS[route]), 0.1) as (url, asked):
        connection = connect(url, route, retries=Retries(most=3), idle_timeout=30.0, empty_timeout=20.0)

        async def read() -> None:
            async for _ in connection.respond([user_message("hello")]):
                pass

        reading = asyncio.create_task(read())
        async with asyncio.timeout(1_000):
            await until(lambda: bool(asked))
            while not reading.done():
                await clock.run(1.0)
        with pytest.raises(LinkError, match="signs of life for 20 s, and nothing of its answer") as caught:
            await reading
        assert (caught.value.kind, caught.value.code) == ("closed", "idle_timeout")
        assert clock.ahead >= 19
        assert len(asked) == 1, "it is not asked for again"
        await connection.close()


@pytest.mark.parametrize("route", SIGNS, ids=str)
async def test_a_word_now_and_then_keeps_an_answer_open(
    route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = HeldClock(monkeypatch)
    words: list[WireEvent] = []
    async with saying(route, itertools.cycle((*SIGNS[route], WORD[route])), 0.1) as (url, _):
        connection = connect(url, route, idle_timeout=30.0, empty_timeout=5.0)

        async def read() -> None:
            async for event in connection.respond([user_message("hello")]):
                words.extend([event] * isinstance(event, TextDelta))

        reading = asyncio.create_task(read())
        async with asyncio.timeout(1_000):
            await until(lambda: bool(words))
            await clock.run(15.0)
        assert not reading.done() and len(words) > 3
        connection.drop()
        await reading
        await connection.close()


def test_a_real_answer_is_far_from_the_bounds() -> None:
    tokens = 400_000
    assert 600 * tokens < exchange.MOST_BYTES
    assert 30 * tokens < exchange.MOST_TEXT
