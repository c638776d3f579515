"""Tests paced reads of a busy socket: nothing is lost, and a slow reader slows the server down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.server import ServerConnection, serve

from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError
from session.wire.transport.websocket import MOST_WAITING, WebSocketLink

MANY = 20_000


async def received(link: WebSocketLink) -> AsyncIterator[bytes]:
    try:
        while True:
            for frame in await link.receive():
                yield frame
    except LinkError:
        return


async def test_every_frame_of_a_busy_server_arrives_in_order_and_in_batches() -> None:
    async def handle(connection: ServerConnection) -> None:
        for number in range(MANY):
            await connection.send(str(number))
            if number % 7 == 0:
                await asyncio.sleep(0)

    async with serve(handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        link = await WebSocketLink.open(Endpoint(f"http://127.0.0.1:{port}/v1"))
        sizes: list[int] = []
        frames: list[bytes] = []
        with pytest.raises(LinkError):
            while True:
                batch = await link.receive()
                sizes.append(len(batch))
                frames += batch
        assert frames == [str(number).encode() for number in range(MANY)]
        assert len(sizes) < MANY / 4
        await link.close()


async def test_message_fragments_are_joined_with_other_frames_between_them() -> None:
    async def handle(connection: ServerConnection) -> None:
        async def parts() -> AsyncIterator[str]:
            for part in ("a", "", "b", "c"):
                await connection.ping()
                yield part

        await connection.send("before")
        await connection.send(parts())
        await connection.send("after")

    async with serve(handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        link = await WebSocketLink.open(Endpoint(f"http://127.0.0.1:{port}/v1"))
        assert [frame async for frame in received(link)] == [b"before", b"abc", b"after"]
        await link.close()


async def test_a_server_waits_for_a_reader_that_stops_reading() -> None:
    sent = 0
    text = "x" * 64 * 1024

    async def handle(connection: ServerConnection) -> None:
        nonlocal sent
        for _ in range(4 * MOST_WAITING):
            await connection.send(text)
            sent += 1

    async with serve(handle, "127.0.0.1", 0, compression=None, write_limit=1) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        link = await WebSocketLink.open(Endpoint(f"http://127.0.0.1:{port}/v1"))
        before = -1
        while before != sent or sent < MOST_WAITING:
            before = sent
            await asyncio.sleep(0.2)
        assert sent < 3 * MOST_WAITING
        frames = 0
        async for _ in received(link):
            frames += 1
        assert frames == 4 * MOST_WAITING
        await link.close()


async def test_a_thousand_frames_a_second_are_read_in_batches() -> None:
    count = 400

    async def handle(connection: ServerConnection) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in range(count):
            # By the clock, so that a busy machine makes the batches larger, never smaller.
            if (ahead := began + number / 1000 - loop.time()) > 0:
                await asyncio.sleep(ahead)
            await connection.send(str(number))

    async with serve(handle, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        link = await WebSocketLink.open(Endpoint(f"http://127.0.0.1:{port}/v1"))
        sizes: list[int] = []
        with pytest.raises(LinkError):
            while True:
                sizes.append(len(await link.receive()))
        assert sum(sizes) == count
        assert len(sizes) < count / 4
        await link.close()
