"""Figures of the wire: ``python -m tests.bench.wire_bench [SECONDS]`` (SECONDS of the memory run, 5).

Server and client are processes of their own on one machine, with TLS; a proxy of the bench delays every
byte to emulate a line of 50 and of 200 ms round trip. Prints the rates kept, the client's CPU for a
token over WebSocket and over SSE, and on each line the persistent socket against fresh HTTPS requests.
"""

from __future__ import annotations

import asyncio
import gc
import math
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from session.connection import Connection, Endpoint, RequestProfile, Service
from session.link import LinkState
from session.protocol.dialects import write_body
from session.protocol.events import Finished, TextDelta
from session.protocol.request import Item, user_message
from session.protocol.responses import ResponseDecoder, encode_response
from session.protocol.sse import EventStream
from session.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route
from session.transport.http import client_for
from tests.bench.wire_link import certificate, serve, server, slow_line

PROFILE = RequestProfile("bench", "Be a pair programmer. " * 100)
TURNS = 20
DROPS = 20
CONTEXT = "a line of a file\n" * 12_000
SOCKET = Service(routes=(RESPONSES_OVER_WEBSOCKET,), spare=True)


async def ready(connection: Connection) -> None:
    connection.start()
    async for change in connection.states():
        if change.state is LinkState.READY:
            return


async def streamed(url: str, route: Route) -> tuple[float, float, int]:
    """CPU seconds of the client for a token, tokens a second, tokens."""
    connection = Connection(Endpoint(url), PROFILE, service=Service(routes=(route,)))
    await ready(connection)
    count, cpu, began = 0, 0.0, 0.0
    async for event in connection.respond([user_message("long")]):
        if isinstance(event, TextDelta):
            if not count:
                cpu, began = time.process_time(), time.perf_counter()
            count += 1
    cpu, took = time.process_time() - cpu, time.perf_counter() - began
    await connection.close()
    return cpu / count, count / took, count


async def turn(connection: Connection, items: list[Item]) -> tuple[float, float]:
    """One round: seconds to its end and to its first token. ``items`` grows as a round of tools makes it."""
    began = time.perf_counter()
    first = 0.0
    async for event in connection.respond(items):
        if isinstance(event, TextDelta) and not first:
            first = time.perf_counter() - began
        if isinstance(event, Finished):
            items += [*event.output, user_message("and again")]
    return time.perf_counter() - began, first


async def persistent(url: str) -> list[tuple[float, float]]:
    connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
    await ready(connection)
    items = [user_message("short, please:\n" + CONTEXT)]
    rounds = [await turn(connection, items) for _ in range(TURNS)]
    await connection.close()
    return rounds[1:]


async def fresh(url: str) -> list[tuple[float, float]]:
    """Each round as a client without a kept connection makes it: dial, TLS, one POST of the whole input."""
    items = [user_message("short, please:\n" + CONTEXT)]
    return [await posted(Endpoint(url), items) for _ in range(TURNS)][1:]


async def posted(endpoint: Endpoint, items: list[Item]) -> tuple[float, float]:
    """One such round; the same events and the same growing input as :func:`turn` has."""
    began, first = time.perf_counter(), 0.0
    body = write_body(encode_response(PROFILE, items))
    async with (
        await client_for(endpoint, 15.0) as client,
        client.stream("POST", endpoint.http_url("/responses"), content=body) as response,
    ):
        stream, decoder = EventStream(), ResponseDecoder()
        async for chunk in response.aiter_bytes():
            for data in stream.feed(chunk):
                for event in decoder.feed(data):
                    if isinstance(event, TextDelta) and not first:
                        first = time.perf_counter() - began
                    if isinstance(event, Finished):
                        items += [*event.output, user_message("and again")]
    return time.perf_counter() - began, first


async def redirects(url: str) -> tuple[list[float], list[float]]:
    """Seconds from an interrupt to the return of the call, and to the redirect's first token."""
    connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
    cut, back = [], []
    await ready(connection)
    for _ in range(DROPS):
        while not connection.has_spare:
            await asyncio.sleep(0.01)
        count = 0
        async for event in connection.respond([user_message("long")]):
            count += isinstance(event, TextDelta)
            if count == 50:
                began = time.perf_counter()
                connection.drop()
                cut.append(time.perf_counter() - began)
                count += 1
        async for event in connection.respond([user_message("short")]):
            if isinstance(event, TextDelta):
                back.append(time.perf_counter() - began)
                break
        connection.drop()
    await connection.close()
    return cut, back


async def line(url: str, round_trip: float) -> None:
    """The row for a line of ``round_trip`` seconds; overhead goes beyond the server's own time."""
    own, own_first = (statistics.median(times) for times in zip(*await persistent(url), strict=True))
    async with slow_line(url, round_trip) as slow:
        kept, anew = await persistent(slow), await fresh(slow)
        _, back = await redirects(slow)
    mine, theirs = (statistics.median(took for took, _ in rounds) - own for rounds in (kept, anew))
    first, their_first = (statistics.median(first for _, first in rounds) for rounds in (kept, anew))
    after = statistics.median(back) - own_first
    print(
        f"{round_trip * 1e3:>5.0f} ms line | overhead {mine * 1e3:>6.0f} ms against {theirs * 1e3:>6.0f} "
        f"({1 - mine / theirs:.0%} less) | first token {first * 1e3:>6.0f} against {their_first * 1e3:>6.0f} "
        f"({1 - first / their_first:.0%} less) | first token after a redirect {after * 1e3:.0f} ms beyond "
        f"the server's own (worst {(max(back) - own_first) * 1e3:.0f})"
    )


async def memory(url: str) -> None:
    """Answer after answer at 10,000 tokens/s: what the process holds after each."""
    connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
    await ready(connection)
    held = []
    for _ in range(3):
        count, began = 0, time.perf_counter()
        async for event in connection.respond([user_message("long")]):
            count += isinstance(event, TextDelta)
        rate = count / (time.perf_counter() - began)
        gc.collect()
        held.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20)
    sizes = ", ".join(f"{size:.1f}" for size in held)
    print(f"sustained {rate:,.0f} tokens/s; memory after each answer: {sizes} MiB")
    await connection.close()


def main(seconds: float) -> None:
    """Everything, one server after the other."""
    with tempfile.TemporaryDirectory() as name:
        files = certificate(Path(name))
        os.environ["SSL_CERT_FILE"] = str(files[0])
        with server(math.inf, files=files) as url:
            for _ in range(2):  # the first run warms both
                socket = asyncio.run(streamed(url, RESPONSES_OVER_WEBSOCKET))
                stream = asyncio.run(streamed(url, RESPONSES_OVER_SSE))
        print(
            f"client CPU a token: {socket[0] * 1e6:.1f} µs over WebSocket, {stream[0] * 1e6:.1f} over SSE "
            f"({1 - socket[0] / stream[0]:.0%} less); at most {socket[1]:,.0f} and {stream[1]:,.0f} tokens/s"
        )
        with server(10_000.0, files=files) as url:
            cut, _ = asyncio.run(redirects(url))
            print(
                f"interrupt to wire at 10,000 tokens/s: median {statistics.median(cut) * 1e3:.3f} ms, "
                f"worst of {DROPS} {max(cut) * 1e3:.3f} ms"
            )
            for round_trip in (0.05, 0.2):
                asyncio.run(line(url, round_trip))
        with server(10_000.0, seconds / 3, files) as url:
            asyncio.run(memory(url))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(float(sys.argv[2]), float(sys.argv[3]), tuple(sys.argv[4:]))
    else:
        main(float(sys.argv[1]) if sys.argv[1:] else 5.0)
