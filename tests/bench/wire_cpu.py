"""Prints the two figures of the wire that code can make worse: ``python -m tests.bench.wire_cpu [ROUNDS]``.

Both are medians with the interval that holds the true median in 95 % of all cases: the client's CPU for a
token, over WebSocket and over SSE, as fast as the server sends and at 10,000 tokens/s; and the time from an
interrupt's key to the wire. Takes under a minute. To compare two commits, run them by turns.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import sys
import tempfile
from pathlib import Path

from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET
from tests.bench import wire_bench
from tests.bench.wire_bench import RATE, interrupts, percentile, streamed
from tests.bench.wire_link import certificate, server

ROUTES = {"WebSocket": RESPONSES_OVER_WEBSOCKET, "SSE": RESPONSES_OVER_SSE}
KEYS = 60
SECONDS = 0.5
"""Length of an answer at 10,000 tokens/s."""


def median(values: list[float]) -> str:
    """Return the median and the interval that holds the true one in 95 % of all cases (by order)."""
    reach = 0.98 * math.sqrt(len(values)) / len(values)
    low, high = (percentile(values, min(1.0, max(0.001, 0.5 + sign * reach))) for sign in (-1, 1))
    return f"{percentile(values, 0.5):6.2f}  ({low:.2f} to {high:.2f})"


def main(rounds: int) -> None:
    """Measure both, the routes by turns."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    wire_bench.INTERRUPTS = KEYS
    with tempfile.TemporaryDirectory() as name:
        files = certificate(Path(name))
        os.environ["SSL_CERT_FILE"] = str(files[0])
        for said, rate in (("as fast as it goes", math.inf), (f"at {RATE:,.0f} tokens/s", RATE)):
            taken: dict[str, list[float]] = {route: [] for route in ROUTES}
            with server(rate, SECONDS, files) as url:
                for at in range(rounds + 1):  # the first round warms server and client
                    for route, values in taken.items():
                        cpu, _, _ = asyncio.run(streamed(url, ROUTES[route]))
                        values += [cpu * 1e6] if at else []
            for route, values in taken.items():
                print(f"{median(values)} µs  client CPU per token, {route}, {said}", flush=True)
        with server(RATE, files=files) as url:
            took, own = asyncio.run(interrupts(url))
        print(f"{median([1e3 * each for each in took])} ms  interrupt key to wire")
        print(f"{median([1e3 * each for each in own])} ms  CPU time of that interrupt")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 7)
