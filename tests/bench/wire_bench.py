"""Figures of the wire, over loopback: ``python -m tests.bench.wire_bench``.

The partner runs in a process of its own, as a server does. Prints the rate it keeps, the client's CPU
for each token, the time from an interrupt to its socket's end, and what a second turn sends.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import statistics
import subprocess
import sys
import time
from itertools import pairwise

from session.connection import Connection, Endpoint, RequestProfile
from session.link import LinkState
from session.partner.load import parse
from session.partner.server import Partner
from session.protocol.events import Finished, TextDelta
from session.protocol.request import user_message

PROFILE = RequestProfile("bench", "Be a pair programmer. " * 100)
SECONDS = 3.0
DROPS = 20


def serve(rate: float) -> None:
    """The server's process: its address on standard output, then answers until standard input ends."""
    words = "word " * (60_000 if math.isinf(rate) else int(rate * SECONDS))
    steps = json.dumps(words)
    script = parse(
        f'[[scenario]]\nmatch = ["long"]\n[[scenario.step]]\nsay = {steps}\n'
        '[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "Short."\n'
    )

    async def main() -> None:
        async with Partner(rate=rate, scripts=script) as partner:
            print(partner.url, flush=True)
            await asyncio.to_thread(sys.stdin.read)

    asyncio.run(main())


async def ready(connection: Connection) -> None:
    connection.start()
    async for change in connection.states():
        if change.state is LinkState.READY:
            return


async def streamed(url: str, rate: float) -> None:
    connection = Connection(Endpoint(url), PROFILE)
    await ready(connection)
    times: list[float] = []
    cpu = 0.0
    async for event in connection.respond([user_message("long")]):
        if isinstance(event, TextDelta):
            if not times:
                cpu = time.process_time()
            times.append(time.perf_counter())
    cpu = time.process_time() - cpu
    gaps = sorted(after - before for before, after in pairwise(times))
    achieved = (len(times) - 1) / (times[-1] - times[0])
    print(
        f"rate {rate:>8,.0f} tokens/s: {achieved:>9,.1f} achieved over {len(times):,} tokens; "
        f"client CPU {cpu / len(times) * 1e6:.1f} µs a token; "
        f"gaps p50 {gaps[len(gaps) // 2] * 1e3:.2f} ms, p99 {gaps[len(gaps) * 99 // 100] * 1e3:.2f} ms"
    )
    await connection.close()


async def turns(url: str) -> None:
    connection = Connection(Endpoint(url), PROFILE)
    await ready(connection)
    items = [user_message("short, please:\n" + "a line of a file\n" * 20_000)]
    sizes, firsts = [], []
    for _ in range(2):
        async for event in connection.respond(items):
            if isinstance(event, Finished):
                items += [*event.output, user_message("and again")]
        sizes.append(connection.last_request_bytes)
        firsts.append(connection.first_token_seconds or 0.0)
    print(f"request bytes: first turn {sizes[0]:,}, second {sizes[1]:,} ({sizes[1] / sizes[0]:.2%})")
    print(f"first token: first turn {firsts[0] * 1e3:.2f} ms, second {firsts[1] * 1e3:.2f} ms")
    await connection.close()


async def drops(url: str) -> None:
    connection = Connection(Endpoint(url), PROFILE)
    cut, back = [], []
    for _ in range(DROPS):
        await ready(connection)
        count = 0
        async for event in connection.respond([user_message("long")]):
            count += isinstance(event, TextDelta)
            if count == 50:
                began = time.perf_counter()
                connection.drop()
                cut.append(time.perf_counter() - began)
        async for event in connection.respond([user_message("short")]):
            if isinstance(event, TextDelta):
                back.append(time.perf_counter() - began)
                break
    await connection.close()
    print(
        f"interrupt: socket ended in {statistics.median(cut) * 1e3:.3f} ms (worst {max(cut) * 1e3:.3f}); "
        f"redirect's first token after {statistics.median(back) * 1e3:.2f} ms (worst {max(back) * 1e3:.2f})"
    )


def main() -> None:
    """Everything, one server after the other."""
    for rate in (1_000.0, 10_000.0, math.inf):
        command = (sys.executable, "-m", "tests.bench.wire_bench", "serve", str(rate))
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
        ) as server:
            assert server.stdin is not None and server.stdout is not None
            url = server.stdout.readline().strip()
            asyncio.run(streamed(url, rate))
            if rate == 10_000.0:
                asyncio.run(turns(url))
                asyncio.run(drops(url))
            server.stdin.close()


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(float(sys.argv[2]))
    else:
        main()
