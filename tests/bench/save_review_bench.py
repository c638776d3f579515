"""Measures the way from a save to the request of its review: ``python -m tests.bench.save_review_bench``.

A real session saves 200 changed lines of a file, again and again, with the partner on loopback. Printed for
each save: milliseconds from the end of the save until the request is given to the socket, and the processor
time that the whole process took for it. Prints; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from session.base.events import SaveReviewed
from session.wire.transport.websocket import WebSocketLink
from tests.session.talking import Listening, talking

SCRIPT = 'models = ["spark-practice", "spark-practice-text"]\n'
FUNCTION = "def price_{number}(count, rate):\n    return count * rate + {value}\n\n\n"
CHANGED = 200


def text(value: int) -> str:
    """A file of functions, each with one line that has a ``value``."""
    return "".join(FUNCTION.format(number=number, value=value) for number in range(CHANGED))


async def measure(it: Listening, saves: int) -> list[tuple[float, float]]:
    """Seconds, and seconds of processor time, from each save to its request."""
    sent: list[tuple[float, float]] = []
    send = WebSocketLink.send

    async def sending(link: WebSocketLink, frame: str) -> None:
        sent.append((time.perf_counter(), time.process_time()))
        await send(link, frame)

    WebSocketLink.send = sending  # type: ignore[method-assign,assignment]
    took: list[tuple[float, float]] = []
    for number in range(1, saves + 1):
        it.session.typing()
        file = await it.session.files.read("prices.py")
        sent.clear()
        await it.session.files.save(file, text(number))
        began = time.perf_counter(), time.process_time()
        async with asyncio.timeout(60):
            while len(it.all(SaveReviewed)) < number:
                await asyncio.sleep(0.005)
        if sent:
            took.append((sent[0][0] - began[0], sent[0][1] - began[1]))
        await asyncio.sleep(0.5)
    return took


async def run(saves: int) -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory(prefix="spark-saves-") as name:
        root = Path(name) / "project"
        root.mkdir()
        (root / "prices.py").write_text(text(0))
        async with talking(root, SCRIPT, rate=100_000.0) as it:
            while not it.session.context.snapshot.complete:
                await asyncio.sleep(0.01)
            took = await measure(it, saves)
    for title, at in (("from save to request", 0), ("processor time", 1)):
        values = sorted(each[at] * 1e3 for each in took)
        print(f"{title}: median {statistics.median(values):.1f} ms, {values[0]:.1f} to {values[-1]:.1f}")


def main() -> None:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--saves", type=int, default=12)
    asyncio.run(run(parser.parse_args().saves))


if __name__ == "__main__":
    main()
