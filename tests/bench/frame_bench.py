"""Measures an answer's way to the screen in the real app: ``python3 -m tests.bench.frame_bench``.

``--peer codex=PATH`` measures the Codex CLI at PATH beside it, in turn with spark.

The app runs on a pseudo-terminal of 160×48 in truecolor and talks to the partner, in a process of its own,
through a relay that notes when bytes pass. A prompt is sent, and the answer streams. Printed for code, for
prose and for 10,000 tokens a second, as medians of the runs:

- Enter until the first token is on the terminal, the CPU time that this took, and from the wire to the
  terminal;
- the last token from the wire to the terminal;
- CPU time and terminal bytes for each token, from Enter to half a second after the end;
- the memory of the app and its processes (proportional set size) at the end;
- for code, keys that are typed while another answer streams: until they are on the terminal, 99th percentile.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import shutil
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from session.partner.script_text import split_tokens
from tests.bench.frame_peers import PEERS, SPARK, Program
from tests.bench.pty_spark import Pty, Stage, stage
from tests.bench.screen_bench import CODE, PROSE

FIRST, LAST = "Qzqzqz", "Xkxkxk"
"""The first and the last word of the answer: one token each, which nothing else on the screen holds."""
SETTLED = 0.5
"""Seconds after the last token that still count."""
KEYS = [chr(code) for code in (*range(0x430, 0x450), *range(0x410, 0x430), *range(0x3B1, 0x3C2))]
"""Letters that nothing else on the screen holds."""
KEY_GAP = 0.03
LONGEST_START = 20.0
IDLE = 0.02
"""CPU seconds in half a second below which a program has nothing to do."""
WAIT = 60.0


class MissedError(Exception):
    """An answer did not come to the screen."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What one answer took: milliseconds, bytes and megabytes."""

    enter_to_token: float
    cpu_to_token: float
    first_on_wire: float
    last_on_wire: float
    cpu: float
    bytes: float
    memory: float
    keys: float = math.nan


def answer(text: str, count: int) -> str:
    """``text`` over and over, as an answer of ``count`` tokens."""
    copies = 1 + count // len(split_tokens(text))
    body = "".join(split_tokens(text * copies)[: count - 4])
    fence = "\n```\n" if body.count("```") % 2 else ""
    return f"{FIRST} \n{body}{fence}\n{LAST} \n"


class Relay:
    """Passes bytes between a client and a server, and notes when marks come from the server."""

    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.seen: dict[str, float] = {}
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._server))
            except OSError:  # it has ended, and the program dials anew
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._pass, args=(client, server, ()), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, (FIRST, LAST)), daemon=True).start()

    def _pass(self, source: socket.socket, to: socket.socket, marks: tuple[str, ...]) -> None:
        with contextlib.suppress(OSError):
            before = b""
            while data := source.recv(65536):
                now = time.monotonic()
                to.sendall(data)
                text = before + data
                for mark in marks:
                    # The answer is sent once more as a whole at its end: the first time counts.
                    if mark.encode() in text:
                        self.seen.setdefault(mark, now)
                before = data[-16:]
        for end in (source, to):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Accept no more."""
        self._listener.close()


R = TypeVar("R", bound=Relay)


def processes(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from processes(int(child))


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process and of all below it."""
    spent = 0
    for each in processes(pid):
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{each}/task").iterdir():
                spent += int((task / "schedstat").read_text().split()[0])
    return spent / 1e9


def memory(pid: int) -> float:
    """The proportional set size of a process and of all below it, in megabytes."""
    size = 0
    for each in processes(pid):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{each}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    size += int(line.split()[1])
    return size / 1024


def measure(pane: Pty, relay: Relay, count: int, prompt: str) -> Figures:
    """Send the prompt, and watch the answer."""
    pane.type(prompt)
    until(pane, lambda: False, 0.5)
    pane.forget()
    relay.seen.clear()
    before = cpu_seconds(pane.pid)
    pressed = time.monotonic()
    pane.type("\r")
    shown: dict[str, float] = {}
    spent: list[float] = []

    def ended() -> bool:
        for mark in (FIRST, LAST):
            if mark not in shown and mark in pane.raw:
                shown[mark] = time.monotonic()
                spent.append(cpu_seconds(pane.pid) - before)
        return LAST in shown

    until(pane, ended, WAIT)
    until(pane, lambda: False, SETTLED)
    if len(shown) < 2 or len(relay.seen) < 2:
        seen = f"screen {sorted(shown)}, wire {sorted(relay.seen)}"
        raise MissedError(f"the answer was not seen whole within {WAIT:.0f} s: {seen}")
    return Figures(
        enter_to_token=1000 * (shown[FIRST] - pressed),
        cpu_to_token=1000 * spent[0],
        first_on_wire=1000 * (shown[FIRST] - relay.seen[FIRST]),
        last_on_wire=1000 * (shown[LAST] - relay.seen[LAST]),
        cpu=1000 * (cpu_seconds(pane.pid) - before) / count,
        bytes=len(pane.raw.encode()) / count,
        memory=memory(pane.pid),
    )


def key_delay(pane: Pty, relay: Relay, prompt: str) -> float:
    """Type while an answer to the prompt streams; the 99th percentile of the time until a key is shown, in
    milliseconds."""
    pane.type(prompt)
    until(pane, lambda: False, 0.5)
    pane.forget()
    relay.seen.clear()
    pane.type("\r")
    until(pane, lambda: FIRST in relay.seen, WAIT)
    delays: list[float] = []
    for key in KEYS:
        pressed = time.monotonic()
        pane.type(key)
        until(pane, lambda key=key: key in pane.raw, 5.0)  # type: ignore[misc]
        delays.append(1000 * (time.monotonic() - pressed))
        if LAST in relay.seen:
            break
        until(pane, lambda: False, KEY_GAP)
    return statistics.quantiles(delays, n=100)[98] if len(delays) > 1 else math.nan


def settle(pane: Pty) -> None:
    """Wait until the program has nothing left to do from its start, for at most :data:`LONGEST_START`."""
    end = time.monotonic() + LONGEST_START
    while time.monotonic() < end:
        before = cpu_seconds(pane.pid)
        until(pane, lambda: False, 0.5)
        if cpu_seconds(pane.pid) - before < IDLE:
            return


def until(pane: Pty, fits: Callable[[], bool], seconds: float) -> None:
    """Read until something fits, for at most some seconds."""
    end = time.monotonic() + seconds
    while not fits() and (left := end - time.monotonic()) > 0:
        pane.read(left)


def script(text: str) -> str:
    """A scenario that answers any prompt with ``text``."""
    return f"[[scenario]]\nid = 'all'\nmatch = ['*']\n[[scenario.step]]\nsay = {json.dumps(text)}\n"


@contextlib.contextmanager
def relayed(at: Stage, kind: Callable[[int], R]) -> Iterator[tuple[Stage, R]]:
    """The stage with a relay before its server."""
    address = urlsplit(at.url)
    relay = kind(int(address.port or 0))
    at.url = address._replace(netloc=f"127.0.0.1:{relay.port}").geturl()
    try:
        yield at, relay
    finally:
        relay.close()


def run(program: Program, text: str, count: int, rate: str, runs: int, *, keys: bool) -> list[Figures]:
    """Measure one kind of answer; with ``keys`` also how long a key takes while one streams."""
    rows: list[Figures] = []
    for _ in range(runs):
        with (
            stage(rate, script=script(answer(text, count))) as plain,
            relayed(plain, Relay) as (at, relay),
            program.start(at) as pane,
        ):
            settle(pane)
            figures = measure(pane, relay, count, "go on")
            rows.append(replace(figures, keys=key_delay(pane, relay, "go on")) if keys else figures)
    return rows


def show(name: str, rows: list[Figures]) -> None:
    """Print a row of medians."""
    figures = [statistics.median(getattr(row, each.name) for row in rows) for each in fields(Figures)]
    shown = ("" if math.isnan(figure) else f"{figure:.2f}" for figure in figures)
    print(f"{name:<24}" + "".join(f"{figure:>10}" for figure in shown), flush=True)


def peer(told: str) -> Program:
    """The program that an argument ``NAME=PATH`` names."""
    name, _, path = told.partition("=")
    if name not in PEERS or not path:
        raise argparse.ArgumentTypeError(f"{told!r} is not NAME=PATH with a NAME of: {', '.join(PEERS)}")
    if (found := shutil.which(path)) is None:
        raise argparse.ArgumentTypeError(f"{path} cannot be run")
    return PEERS[name](Path(found).absolute())


def main() -> None:
    """Measure, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--peer", type=peer, action="append", default=[], metavar="NAME=PATH")
    given = arguments.parse_args()
    programs: list[Program] = [SPARK, *given.peer]
    heads = ("Enter→1st", "CPU→1st", "wire→1st", "last→pty", "CPU/tok", "bytes/tok", "PSS MB", "key p99")
    print(f"medians of {given.runs}; ms unless said\n{'':<24}" + "".join(f"{head:>10}" for head in heads))
    for name, text, count, rate in (
        ("code, 1,000/s", CODE, 4_000, "1000"),
        ("prose, 1,000/s", PROSE, 4_000, "1000"),
        ("both, 10,000/s", PROSE + CODE, 20_000, "10000"),
    ):
        for program in programs:
            label = f"{program.name}: {name}" if given.peer else name
            try:
                rows = run(program, text, count, rate, given.runs, keys=text is CODE)
            except MissedError as problem:
                print(f"{label:<24}{problem}", flush=True)
            else:
                show(label, rows)


if __name__ == "__main__":
    main()
