"""The set-up of the wire bench: a server with TLS in a process of its own, and a slow line to it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import os
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from session.partner.load_script import parse
from session.partner.server.server import Partner

SECONDS = 3.0
FIRST_WINDOW = 10 * 1460


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for ``localhost`` and its key with the ``openssl`` command."""
    chain, key = folder / "certificate.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    extension = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    files = ("-keyout", str(key), "-out", str(chain))
    subprocess.run((*command.split(), *extension, *files), check=True, capture_output=True)
    return chain, key


def serve(rate: float, seconds: float, files: tuple[str, ...]) -> None:
    """Run the server's process: print its address, then answer until standard input ends."""
    logging.getLogger("asyncio").setLevel(logging.ERROR)  # it warns of each write to a client that cut us
    words = "word " * (60_000 if math.isinf(rate) else int(rate * seconds))
    script = parse(
        f'[[scenario]]\nmatch = ["long"]\n[[scenario.step]]\nsay = {json.dumps(words)}\n'
        '[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\nsay = "Short."\n'
    )
    tls = None
    if files:
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*files)

    async def main() -> None:
        partner = Partner(rate=rate, scripts=script)
        await partner.serve(tls=tls)
        print(partner.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await partner.close()

    asyncio.run(main())


@contextlib.contextmanager
def server(rate: float, seconds: float = SECONDS, files: tuple[Path, ...] = ()) -> Iterator[str]:
    """Run a server for the block, and give its base URL."""
    command = (
        sys.executable,
        "-m",
        "tests.bench.wire_bench",
        "serve",
        str(rate),
        str(seconds),
        *map(str, files),
    )
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


class SlowStart:
    """Tells when a sender's bytes may leave, as TCP allows: ten segments in the first round trip of a
    connection, twice as many in each that follows, and from the start again after a second of silence."""

    def __init__(self, round_trip: float) -> None:
        self._round_trip = round_trip
        self._window = self._left = FIRST_WINDOW
        self._round = -math.inf

    def leave(self, size: int, now: float) -> float:
        """Return the time at which ``size`` more bytes have left."""
        if now - self._round > max(1.0, 2 * self._round_trip):
            self._window = self._left = FIRST_WINDOW
            self._round = now
        while now >= self._round + self._round_trip:
            self._next()
        while size > self._left:
            size -= self._left
            self._left = 0
            self._next()
        self._left -= size
        return max(now, self._round)

    def _next(self) -> None:
        self._round += self._round_trip
        if self._left < self._window / 2:  # only a window that was mostly used grows, as in Linux
            self._window *= 2
        self._left = self._window


@contextlib.asynccontextmanager
async def slow_line(url: str, round_trip: float) -> AsyncIterator[str]:
    """Give the base URL of a proxy that holds every byte for half of ``round_trip`` seconds each way, takes a
    round trip to accept a connection, and starts as slowly as TCP does."""
    target = int(url.rpartition(":")[2].partition("/")[0])
    tasks: set[asyncio.Task[None]] = set()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        start = SlowStart(round_trip)

        async def deliver() -> None:
            while not writer.is_closing():
                due, data = await queue.get()
                await asyncio.sleep(due - loop.time())
                if not data:
                    break
                writer.write(data)
            writer.close()

        delivering = loop.create_task(deliver())
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(16_384):
                queue.put_nowait((start.leave(len(data), loop.time()) + round_trip / 2, data))
        queue.put_nowait((loop.time() + round_trip / 2, b""))
        await delivering

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(round_trip)
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", target)
        for pair in ((reader, up_writer), (up_reader, writer)):
            task = asyncio.get_running_loop().create_task(pass_on(*pair))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(handle(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    proxy = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield url.replace(f":{target}/", f":{proxy.sockets[0].getsockname()[1]}/")
    finally:
        proxy.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
