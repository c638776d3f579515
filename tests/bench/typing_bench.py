"""Measures suggestions while typing: run ``python -m tests.bench.typing_bench``.

The real app runs on a pseudo-terminal, and the partner in a process of its own behind a line of 30 ms there
and back. Keys are typed one by one; the echo of a key is the time until the terminal gets something, with
suggestions on and off in turn. Then a line is typed whose continuation is 40 tokens: how long from the last
key to the request on the wire, from the first token to ghost text on the terminal, and from the last key to
the whole suggestion on it. All clocks are the system's monotonic one. Prints; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from session.partner.script_text import split_tokens
from tests.bench.pty_spark import Pty, Stage, stage

BODY = (
    "    return respond(request, session, status=ACCEPTED, body=render(session, template=MAIN, strict=True),"
    " headers=common_headers(request, cached=False))"
)
INSTRUMENTED = """
import os, time
LOG = os.open({log!r}, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
def note(what):
    os.write(LOG, f"{{what}} {{time.monotonic():.6f}}\\n".encode())
from session.assist.suggest import suggester
from session.wire.transport.websocket import WebSocketLink
from tui.editor.editor import EditorPane
send, edit, read, draw = WebSocketLink.send, EditorPane.edit, suggester.read_insertion, EditorPane.suggest
async def sending(self, frame):
    note("sent")
    await send(self, frame)
def editing(self, change):
    note("key")
    return edit(self, change)
def reading(place, said, *, whole):
    note("whole" if whole else "token")
    return read(place, said, whole=whole)
def drawing(self, ghost):
    draw(self, ghost)
    note(f"drawn{{len(ghost.text) + sum(map(len, ghost.lines))}}")
WebSocketLink.send, EditorPane.edit, EditorPane.suggest = sending, editing, drawing
suggester.read_insertion = reading
from tui.cli.main import main
main()
"""


def source() -> str:
    """A file with many lines that continue in one way."""
    parts = [f"def handle_{name}(request, session):\n{BODY}\n" for name in ("order", "user", "cart", "item")]
    return "\n\n".join(["from web import *\n", *parts, ""])


class SlowLine:
    """Forwards connections to ``port`` of this machine, each piece ``seconds`` later."""

    def __init__(self, port: int, seconds: float) -> None:
        self._port, self._seconds = port, seconds
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(asyncio.start_server(self._forward, "127.0.0.1", 0))
        self.port = int(self._server.sockets[0].getsockname()[1])
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._carry(reader, back), self._carry(there, writer))

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65536):
                self._loop.call_later(self._seconds, writer.write, data)
            self._loop.call_later(self._seconds, writer.close)

    def close(self) -> None:
        """Stop forwarding."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()


@contextlib.contextmanager
def slow(at: Stage, seconds: float) -> Iterator[Stage]:
    """The same stage behind a slow line."""
    head, _, rest = at.url.removeprefix("http://").partition("/")
    line = SlowLine(int(head.rpartition(":")[2]), seconds / 2)
    try:
        yield Stage(at.folder, f"http://127.0.0.1:{line.port}/{rest}")
    finally:
        line.close()


def quiet(pane: Pty, seconds: float) -> None:
    """Read until nothing was written for so long."""
    while pane.read(seconds):
        pass


def echo(pane: Pty, key: str, pause: float) -> float:
    """Type a key, and return the seconds until the terminal got something."""
    began = time.monotonic()
    pane.type(key)
    pane.read(1.0)
    took = time.monotonic() - began
    until = began + pause
    while (left := until - time.monotonic()) > 0:
        pane.read(left)
    return took


def notes(log: Path) -> list[tuple[str, float]]:
    """What the app noted so far."""
    return [(what, float(at)) for what, at in (line.split() for line in log.read_text().splitlines())]


def figures(name: str, seconds: list[float]) -> None:
    """Print the median and the 99th percentile in milliseconds."""
    if not seconds:
        print(f"{name:52} nothing measured")
        return
    ordered = sorted(seconds)
    high = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    middle = statistics.median(ordered)
    print(f"{name:48} median {middle * 1e3:6.1f} ms   p99 {high * 1e3:6.1f} ms   n {len(ordered)}")


def open_file(pane: Pty) -> None:
    """Open the file, and go to its end."""
    pane.until(lambda text: "●" in text or "◦" in text)
    pane.type("\x10")
    quiet(pane, 0.3)
    pane.type("handlers.py")
    quiet(pane, 0.5)
    pane.type("\r")
    quiet(pane, 0.5)
    pane.type("\x1b[1;5F")
    quiet(pane, 0.5)


def typed_words(rng: random.Random, count: int) -> str:
    """Code to type, as nobody has it in the file."""
    names = ("value", "request", "render", "session", "status", "total", "cached", "find", "keys")
    text = ""
    while len(text) < count:
        text += f"{rng.choice(names)} = {rng.choice(names)}({rng.choice(names)}, {rng.randrange(99)})\r"
    return text[:count]


def measure_echo(pane: Pty, blocks: int, length: int) -> None:
    """Type blocks of keys, with suggestions on and off in turn."""
    rng = random.Random(4)
    took: dict[bool, list[float]] = {True: [], False: []}
    on = True
    for _ in range(blocks):
        for key in typed_words(rng, length):
            took[on].append(echo(pane, key, 0.07))
        quiet(pane, 0.3)
        pane.type("\x1bs")
        quiet(pane, 0.3)
        on = not on
    figures("echo of a key, suggestions on", took[True])
    figures("echo of a key, suggestions off", took[False])


def measure_pauses(pane: Pty, log: Path, count: int) -> None:
    """Type lines that have a continuation, and wait for it."""
    wire: list[float] = []
    paint: list[float] = []
    whole: list[float] = []
    for number in range(count):
        for key in f"def handle_{number}(request, session):":
            echo(pane, key, 0.05)
        pane.type("\r")
        quiet(pane, 0.5)
        pane.type("\x1b")  # what is known already is not what is measured
        quiet(pane, 4.0)  # what may be asked for has come up again
        seen = len(notes(log))
        pane.type("r")
        arrivals: list[float] = []
        until = time.monotonic() + 1.0
        while (left := until - time.monotonic()) > 0:
            if pane.read(left):
                arrivals.append(time.monotonic())
        came = notes(log)[seen:]
        full = f"drawn{len(BODY) - 5}"

        def first(what: str, came: list[tuple[str, float]] = came) -> float | None:
            return next((at for name, at in came if name.startswith(what)), None)

        key_at, sent, token, drawn = first("key"), first("sent"), first("token"), first(full)
        shown = next((at for name, at in came if name.startswith("drawn") and name != "drawn0"), None)
        if key_at is not None and sent is not None:
            wire.append(sent - key_at)
        if token is not None and shown is not None:
            painted = next((at for at in arrivals if at > shown), None)
            paint += [painted - token] if painted is not None else []
        if key_at is not None and drawn is not None:
            painted = next((at for at in arrivals if at > drawn), None)
            whole += [painted - key_at] if painted is not None else []
        pane.type("\x1b")
        quiet(pane, 0.2)
        pane.type("\x7f\r")
        quiet(pane, 0.3)
    figures("pause to request on the wire", wire)
    figures("first token to ghost text on the terminal", paint)
    tokens = len(list(split_tokens(BODY.strip())))
    figures(f"pause to {tokens} tokens on the terminal", whole)


def main() -> None:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--blocks", type=int, default=8, help="blocks of keys, half of them with suggestions")
    parser.add_argument("--length", type=int, default=100, help="keys of a block")
    parser.add_argument("--pauses", type=int, default=12)
    parser.add_argument("--rate", default="1000", help="tokens a second")
    parser.add_argument("--link", type=float, default=30.0, help="milliseconds to the server and back")
    given = parser.parse_args()
    with stage(given.rate) as near, slow(near, given.link / 1000) as at:
        (at.project / "handlers.py").write_text(source(), "utf-8")
        log = at.folder / "notes"
        with at.spark(INSTRUMENTED.format(log=str(log))) as pane:
            open_file(pane)
            measure_pauses(pane, log, given.pauses)
            measure_echo(pane, given.blocks, given.length)


if __name__ == "__main__":
    main()
