"""Measures the wire: ``python -m tests.bench.wire_bench [SECONDS]`` (SECONDS of the sustained run, 60).

Server and client are processes of their own on one machine, with TLS; a proxy of the bench delays every
byte to emulate a line of 50 and of 200 ms round trip. Prints one table: the client's CPU for a token over
WebSocket and over SSE, how fast an interrupt is on the wire, on each line the persistent socket against
fresh HTTPS requests, and what a long run at 10,000 tokens/s takes.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import math
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from session.wire.input_items import answer_items
from session.wire.link.connection import Connection, Endpoint, RequestProfile, Service
from session.wire.link.state import LinkState
from session.wire.protocol.events import Finished, TextDelta
from session.wire.protocol.frames import EventStream, write_body
from session.wire.protocol.items import Item, user_message
from session.wire.protocol.responses import ResponseDecoder, encode_response
from session.wire.transport.http import client_for
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route
from tests.bench.wire_link import certificate, serve, server, slow_line

PROFILE = RequestProfile("bench", "Be a pair programmer. " * 100)
RATE = 10_000.0
TURNS = 20
DROPS = 20
INTERRUPTS = 250
ANSWER_SECONDS = 4.0
"""Tokens of one answer in the sustained run."""
CONTEXT = "a line of a file\n" * 12_000
SOCKET = Service(routes=(RESPONSES_OVER_WEBSOCKET,), spare=True)


async def ready(connection: Connection) -> None:
    connection.start()
    async for change in connection.states():
        if change.state is LinkState.READY:
            return


async def streamed(url: str, route: Route) -> tuple[float, float, int]:
    """Return the client's CPU seconds for a token, the tokens a second, and the tokens."""
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
    """Do one round; return the seconds to its end and to its first token. ``items`` grows as with tools."""
    began = time.perf_counter()
    first = 0.0
    async for event in connection.respond(items):
        if isinstance(event, TextDelta) and not first:
            first = time.perf_counter() - began
        if isinstance(event, Finished):
            items += [*answer_items(event.output), user_message("and again")]
    return time.perf_counter() - began, first


async def persistent(url: str) -> list[tuple[float, float]]:
    connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
    await ready(connection)
    items = [user_message("short, please:\n" + CONTEXT)]
    rounds = [await turn(connection, items) for _ in range(TURNS)]
    await connection.close()
    return rounds[1:]


async def fresh(url: str) -> list[tuple[float, float]]:
    """Do each round as a client without a kept connection does: dial, TLS, one POST of the whole input."""
    items = [user_message("short, please:\n" + CONTEXT)]
    return [await posted(Endpoint(url), items) for _ in range(TURNS)][1:]


async def posted(endpoint: Endpoint, items: list[Item]) -> tuple[float, float]:
    """Do one such round, with the same events and the same growing input as in :func:`turn`."""
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
                        items += [*answer_items(event.output), user_message("and again")]
    return time.perf_counter() - began, first


async def spare_ready(connection: Connection) -> None:
    while not connection.has_spare:
        await asyncio.sleep(0.01)


async def interrupts(url: str) -> tuple[list[float], list[float]]:
    """Seconds from a key's arrival, in the middle of a stream, to the return of the call that has cut it;
    and the CPU seconds of that call, which other work on the machine does not touch.

    The key comes from another thread at any moment, as a terminal's does: the wait for the loop counts.
    """
    connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
    loop = asyncio.get_running_loop()
    took: list[float] = []
    cpu: list[float] = []
    dice = random.Random(1)
    await ready(connection)

    def cut(pressed: float) -> None:
        began = time.thread_time()
        connection.drop()
        cpu.append(time.thread_time() - began)
        took.append(time.perf_counter() - pressed)

    def press(after: float) -> None:
        time.sleep(after)
        loop.call_soon_threadsafe(cut, time.perf_counter())

    for _ in range(INTERRUPTS):
        await spare_ready(connection)
        key: asyncio.Future[None] | None = None
        async for event in connection.respond([user_message("long")]):
            if key is None and isinstance(event, TextDelta):
                key = loop.run_in_executor(None, press, dice.uniform(0.005, 0.03))
        if key is not None:
            await key
    await connection.close()
    return took, cpu


async def redirects(url: str, prompt: str) -> tuple[list[float], int]:
    """Return the seconds from an interrupt to the first token for ``prompt``, and the request's bytes."""
    connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
    back = []
    await ready(connection)
    for _ in range(DROPS):
        await spare_ready(connection)
        count, began = 0, 0.0
        async for event in connection.respond([user_message("long")]):
            count += isinstance(event, TextDelta)
            if count == 50:
                began = time.perf_counter()
                connection.drop()
        async for event in connection.respond([user_message(prompt)]):
            if isinstance(event, TextDelta):
                back.append(time.perf_counter() - began)
                break
        connection.drop()
    sent = connection.last_request_bytes
    await connection.close()
    return back, sent


async def line(url: str, round_trip: float) -> list[tuple[str, str]]:
    """Return the rows for a line of ``round_trip`` seconds; overhead excludes the server's own time."""
    own, own_first = (statistics.median(times) for times in zip(*await persistent(url), strict=True))
    async with slow_line(url, round_trip) as slow:
        kept, anew = await persistent(slow), await fresh(slow)
        back, _ = await redirects(slow, "short")
        full, sent = await redirects(slow, "short, please:\n" + CONTEXT)
    mine, theirs = (statistics.median(took for took, _ in rounds) - own for rounds in (kept, anew))
    first, their_first = (statistics.median(first for _, first in rounds) for rounds in (kept, anew))
    whole = 1e3 * (statistics.median(full) - own_first)
    after, worst = (1e3 * (taken - own_first) for taken in (statistics.median(back), max(back)))
    name = f"{round_trip * 1e3:.0f} ms line"
    return [
        (f"{name}: overhead of a round", compared(mine, theirs)),
        (f"{name}: first token of a following turn", compared(first, their_first)),
        (
            f"{name}: first token after a redirect, beyond the server's own",
            f"{after:.0f} ms ({after / (round_trip * 1e3):.2f} round trips; worst of {DROPS} {worst:.0f} ms)",
        ),
        (
            f"{name}: the same with {sent / 1e3:.0f} KB of conversation to send again",
            f"{whole:.0f} ms ({whole / (round_trip * 1e3):.1f} round trips)",
        ),
    ]


def compared(mine: float, theirs: float) -> str:
    """Compare the persistent socket with a fresh connection, in milliseconds."""
    return f"{mine * 1e3:,.0f} ms against {theirs * 1e3:,.0f} ({1 - mine / theirs:.0%} less)"


async def sustained(url: str, seconds: float) -> list[tuple[str, str]]:
    """Stream answers for this long; return the rate, the share of a core, and the memory held."""
    connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
    await ready(connection)
    async for _ in connection.respond([user_message("long")]):
        pass  # the first answer warms the allocator
    held = [("start", resident())]
    count, cpu, began = 0, time.process_time(), time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        async for event in connection.respond([user_message("long")]):
            count += isinstance(event, TextDelta)
        if passed >= 10.0 and len(held) == 1:
            held.append((f"{passed:.0f} s", resident()))
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    held.append((f"{took:.0f} s", resident()))
    await connection.close()
    return [
        (
            "sustained",
            f"{count / took:,.0f} tokens/s for {took:.0f} s, {cpu / took:.0%} of one core in the client",
        ),
        ("memory of the client", ", ".join(f"{size:.1f} MiB at {when}" for when, size in held)),
    ]


def resident() -> float:
    """Return the MiB that this process holds."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def spread(seconds: list[float]) -> str:
    """Return the median and the worst of some times, in milliseconds."""
    shares = (("median", 0.5), ("p99", 0.99), ("worst", 1.0))
    figures = (f"{name} {percentile(seconds, share) * 1e3:.2f}" for name, share in shares)
    return f"{', '.join(figures)} ms of {len(seconds)}"


def percentile(values: list[float], share: float) -> float:
    """Return the value that ``share`` of ``values`` do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def main(seconds: float) -> None:
    """Measure everything, one server after the other."""
    rows = []
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # the slow line's proxy is cut often
    with tempfile.TemporaryDirectory() as name:
        files = certificate(Path(name))
        os.environ["SSL_CERT_FILE"] = str(files[0])
        with server(math.inf, files=files) as url:
            for _ in range(2):  # the first run warms both
                socket = asyncio.run(streamed(url, RESPONSES_OVER_WEBSOCKET))
                stream = asyncio.run(streamed(url, RESPONSES_OVER_SSE))
        cpu = f"{socket[0] * 1e6:.1f} µs over WebSocket, {stream[0] * 1e6:.1f} over SSE"
        rows.append(("client CPU for a token", f"{cpu} ({1 - socket[0] / stream[0]:.0%} less)"))
        rows.append(("as fast as it goes", f"{socket[1]:,.0f} and {stream[1]:,.0f} tokens/s"))
        with server(RATE, files=files) as url:
            took, own = asyncio.run(interrupts(url))
            rows.append((f"interrupt at {RATE:,.0f} tokens/s, key to wire", spread(took)))
            rows.append(("the same, CPU time of the cut", spread(own)))
            for round_trip in (0.05, 0.2):
                rows += asyncio.run(line(url, round_trip))
        with server(RATE, ANSWER_SECONDS, files) as url:
            rows += asyncio.run(sustained(url, seconds))
    busy = f"{os.getloadavg()[1]:.1f} on {os.cpu_count()} cores"
    rows.append(("load of the machine meanwhile", busy))
    print("| figure | measured |\n| --- | --- |")
    for figure, measured in rows:
        print(f"| {figure} | {measured} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(float(sys.argv[2]), float(sys.argv[3]), tuple(sys.argv[4:]))
    else:
        main(float(sys.argv[1]) if sys.argv[1:] else 60.0)
