"""What a kept connection saves, and what a WebSocket saves beyond it: ``python -m tests.bench.wire_kept``.

Seconds from a request to the first token of a following turn with 200 KB of conversation, on emulated lines
of 50 and 200 ms (``wire_link.slow_line``, whose windows start anew after a pause as TCP's do), medians of
ten. Beside spark's WebSocket: HTTP/1.1 over one connection that is kept, asked back to back and after two
seconds without use, with the whole input and with a previous response's id; HTTP/2 to a server with a small
and with a large window; and a connection for each request. Each row is printed when it is measured, after ten
to forty seconds. The last rows are the client's CPU for a token: spark's over WebSocket and HTTP, and of a
client that reads an asyncio stream with spark's own decoder and does nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import ssl
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx2

from session.wire.input_items import answer_items
from session.wire.link.connection import Connection, Endpoint
from session.wire.protocol.events import Finished, TextDelta
from session.wire.protocol.frames import EventStream, write_body
from session.wire.protocol.items import Item, user_message
from session.wire.protocol.responses import ResponseDecoder, encode_response
from session.wire.transport.connect import trust
from session.wire.transport.http import client_for
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET
from tests.bench.wire_bench import CONTEXT, PROFILE, RATE, SOCKET, ready, streamed, turn
from tests.bench.wire_h2 import DEFAULT_WINDOW, LARGE_WINDOW, h2_before
from tests.bench.wire_link import certificate, server, slow_line

TURNS = 11
IDLE = 2.0
"""Seconds without use, for the rows that say so."""
Round = Callable[[], Awaitable[float]]


class Posting:
    """A client that posts over one kept connection; with ``chained`` only what is new."""

    def __init__(self, client: Any, url: str, *, chained: bool) -> None:
        self.client = client
        self._url = url
        self._chained = chained
        self._items: list[Item] = [user_message("short, please:\n" + CONTEXT)]
        self._new = list(self._items)
        self._previous = ""

    async def round(self) -> float:
        """Ask once; return the seconds to the first token."""
        began, first = time.perf_counter(), 0.0
        body = encode_response(PROFILE, self._new if self._previous else self._items)
        if self._chained:
            body |= {"store": True}
            body |= {"previous_response_id": self._previous} if self._previous else {}
        async with self.client.stream("POST", self._url, content=write_body(body)) as response:
            stream, decoder = EventStream(), ResponseDecoder()
            async for chunk in response.aiter_bytes():
                for data in stream.feed(chunk):
                    for event in decoder.feed(data):
                        if isinstance(event, TextDelta) and not first:
                            first = time.perf_counter() - began
                        if isinstance(event, Finished):
                            self._new = [user_message("and again")]
                            self._items += [*answer_items(event.output), *self._new]
                            self._previous = event.response_id if self._chained else ""
        return first


async def rounds(ask: Round, pause: float) -> float:
    """The median of the rounds after the first, with a pause before each."""
    taken = []
    for _ in range(TURNS):
        await asyncio.sleep(pause)
        taken.append(await ask())
    return statistics.median(taken[1:])


async def over_socket(url: str, pause: float) -> float:
    """A following turn on spark's own connection."""
    connection = Connection(Endpoint(url), PROFILE, service=SOCKET)
    await ready(connection)
    items = [user_message("short, please:\n" + CONTEXT)]

    async def ask() -> float:
        return (await turn(connection, items))[1]

    taken = await rounds(ask, pause)
    await connection.close()
    return taken


async def kept(url: str, pause: float, *, chained: bool) -> float:
    """A following turn over HTTP/1.1 on one connection."""
    async with await client_for(Endpoint(url), 15.0) as client:
        return await rounds(Posting(client, url + "/responses", chained=chained).round, pause)


async def anew(url: str) -> float:
    """A following turn on a connection of its own."""
    endpoint = Endpoint(url)
    posting = Posting(None, endpoint.http_url("/responses"), chained=False)

    async def ask() -> float:
        began = time.perf_counter()
        async with await client_for(endpoint, 15.0) as client:
            posting.client = client
            opened = time.perf_counter() - began
            return opened + await posting.round()

    return await rounds(ask, 0.0)


async def raw_sse(url: str) -> float:
    """CPU seconds for a token of a client that reads an asyncio stream with spark's decoder."""
    endpoint = Endpoint(url)
    body = write_body(encode_response(PROFILE, [user_message("long")])).encode()
    tls = ssl.create_default_context()
    tls.load_verify_locations(os.environ["SSL_CERT_FILE"])
    host, port = endpoint.address
    reader, writer = await asyncio.open_connection(host, port, ssl=tls, server_hostname="localhost")
    head = f"POST /v1/responses HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    await reader.readuntil(b"\r\n\r\n")
    stream, decoder, count, cpu = EventStream(), ResponseDecoder(), 0, 0.0
    while not decoder.finished:
        size = int(await reader.readline(), 16)
        chunk = await reader.readexactly(size + 2)
        for data in stream.feed(chunk[:-2]):
            for event in decoder.feed(data):
                if isinstance(event, TextDelta):
                    if not count:
                        cpu = time.process_time()
                    count += 1
    cpu = time.process_time() - cpu
    writer.close()
    return cpu / count


async def kept_h2(url: str, files: tuple[Path, ...], window: int, round_trip: float) -> float:
    """A following turn over HTTP/2 on one connection, to a server with this window."""
    async with (
        h2_before(url, files, window) as h2,
        slow_line(h2, round_trip) as slow,
        httpx2.AsyncClient(http2=True, verify=trust(), timeout=None) as client,  # spark has no HTTP/2
    ):
        return await rounds(Posting(client, slow + "/responses", chained=False).round, 0.0)


Row = Callable[[str], Awaitable[float]]
ROWS: dict[str, Row] = {
    "spark's WebSocket, back to back": lambda url: over_socket(url, 0.0),
    "spark's WebSocket, after 2 s without use": lambda url: over_socket(url, IDLE),
    "kept HTTP/1.1, back to back": lambda url: kept(url, 0.0, chained=False),
    "kept HTTP/1.1, after 2 s without use": lambda url: kept(url, IDLE, chained=False),
    "kept HTTP/1.1 with a previous id, back to back": lambda url: kept(url, 0.0, chained=True),
    "kept HTTP/1.1 with a previous id, after 2 s": lambda url: kept(url, IDLE, chained=True),
    "a connection for each request": anew,
}
H2_ROWS = {
    "kept HTTP/2, back to back, server's window 64 KB (the default)": DEFAULT_WINDOW,
    "kept HTTP/2, back to back, server's window 16 MB": LARGE_WINDOW,
}


def on_both_lines(measure: Callable[[float], Awaitable[float]]) -> str:
    """The row's cells: milliseconds on a line of 50 and of 200 ms."""

    async def once(round_trip: float) -> float:
        return await measure(round_trip)

    return " | ".join(f"{asyncio.run(once(round_trip)) * 1e3:,.0f} ms" for round_trip in (0.05, 0.2))


def main() -> None:
    """Measure row by row, and print each as soon as it is there."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as name:
        files = certificate(Path(name))
        os.environ["SSL_CERT_FILE"] = str(files[0])
        print(
            "| first token of a following turn | 50 ms line | 200 ms line |\n| --- | --- | --- |", flush=True
        )
        with server(RATE, files=files) as url:
            for what, row in ROWS.items():

                async def slowly(round_trip: float, row: Row = row) -> float:
                    async with slow_line(url, round_trip) as slow:
                        return await row(slow)

                print(f"| {what} | {on_both_lines(slowly)} |", flush=True)
            for what, window in H2_ROWS.items():
                cells = on_both_lines(partial(kept_h2, url, files, window))
                print(f"| {what} | {cells} |", flush=True)
        with server(math.inf, files=files) as url:
            for what, route in (("WebSocket", RESPONSES_OVER_WEBSOCKET), ("SSE", RESPONSES_OVER_SSE)):
                cpu = [asyncio.run(streamed(url, route))[0] for _ in range(4)][1:]
                took = f"{statistics.median(cpu) * 1e6:.1f} µs"
                print(f"| CPU for a token, spark over {what} | {took} |", flush=True)
            raw = [asyncio.run(raw_sse(url)) for _ in range(4)][1:]
            print(f"| CPU for a token, asyncio and the decoder | {statistics.median(raw) * 1e6:.1f} µs |")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main()
