"""Measures the screen over a slow line: ``python3 -m tests.bench.slow_link_bench``.

The real app on a pseudo-terminal of 160×48, behind an emulated line of 50 KB a second with 100 ms each way,
and buffers that take everything at once, as ssh's do. An answer of numbered words streams at 2,000 tokens a
second while keys are pressed. Printed with and without questions to the terminal (``SSH_CONNECTION`` set or
not):

- the age of the picture: how long ago the newest word that is shown had come from the server, sampled with
  each piece that the far end takes (median and worst);
- how long after the last word's coming it was shown;
- from a key until it is shown at the far end (median and worst; 200 ms are the line's own), and the most
  bytes that were on the way.

With ``--sshd`` the app runs behind a real sshd on loopback, and the line is between it and a real ssh.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import re
import shlex
import socket
import statistics
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from tests.bench.frame_bench import Relay, relayed
from tests.bench.pty_spark import Pty, Stage, stage
from tests.bench.slow_tcp import SlowTcp
from tests.e2e.link_cuts import sshd
from tests.emulator import Emulator
from tui.screen.terminal.frame_answers import ANSWER, ASK

WORDS = 3000
WORD = re.compile(r"w(\d{4})q")
SIZE = len("w0000q ")
DELTA = re.compile(rb'"delta": ?"([^"]*)"')
KEYS = "ßðæøþ"
"""Typed in turn: nothing else on the screen has them."""
GAP = 0.4
PIECE = 512
ENVIRONMENT = (
    *(f"XDG_{name}_HOME" for name in ("CONFIG", "STATE", "CACHE")),
    *("HOME", "PYTHONPATH", "PYTHONPYCACHEPREFIX", "TERM", "COLORTERM"),
)
"""What spark needs of the environment at the other end."""


class Wire(Relay):
    """Notes when how much of the answer came from the server."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.sizes: list[int] = []
        self.times: list[float] = []

    def came(self, word: int) -> float:
        """When a word had come whole."""
        at = bisect_left(self.sizes, SIZE * word + SIZE - 1)
        return self.times[at] if at < len(self.times) else time.monotonic()

    def _pass(self, source: socket.socket, to: socket.socket, marks: tuple[str, ...]) -> None:
        rest, size = b"", 0
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                now = time.monotonic()
                to.sendall(data)
                if not marks or size > SIZE * WORDS:
                    continue
                rest += data
                last = 0
                for found in DELTA.finditer(rest):
                    size += len(found[1])
                    last = found.end()
                    self.sizes.append(size)
                    self.times.append(now)
                rest = rest[last:]


class FarEnd:
    """The line to a terminal: a rate, a delay, and no limit to what waits."""

    def __init__(self, pane: Pty, rate: float, delay: float) -> None:
        self.pane, self.rate, self.delay = pane, rate, delay
        self.shown = ""
        self.screen = Emulator(160, 48)
        self.most = 0
        self._waiting: deque[tuple[float, str]] = deque()
        self._free = 0.0
        self._back: deque[tuple[float, str]] = deque()
        self._size = 0

    def press(self, key: str) -> None:
        """Press a key at the far end."""
        self._back.append((time.monotonic() + self.delay, key))

    def step(self) -> str:
        """Let a few milliseconds pass; returns what reached the terminal."""
        pane = self.pane
        before = len(pane.raw)
        pane.read(0.004)
        now = time.monotonic()
        if new := pane.raw[before:]:
            for at in range(0, len(new), PIECE):
                piece = new[at : at + PIECE]
                self._free = max(self._free, now) + len(piece.encode()) / self.rate
                self._waiting.append((self._free + self.delay, piece))
                self._size += len(piece)
        self.most = max(self.most, self._size)
        taken = ""
        while self._waiting and self._waiting[0][0] <= now:
            taken += self._waiting.popleft()[1]
        self._size -= len(taken)
        seen = self.shown[-len(ASK) + 1 :]
        for _ in range((seen + taken).count(ASK)):
            self._back.append((now + self.delay, ANSWER))
        while self._back and self._back[0][0] <= now:
            pane.type(self._back.popleft()[1])
        self.shown += taken
        self.screen.feed(taken)
        return seen + taken


Start = Callable[[Stage, bool], AbstractContextManager[FarEnd]]


def emulated(rate: float, delay: float) -> Start:
    """Starts the app behind an emulated line; asked or not."""

    @contextlib.contextmanager
    def start(at: Stage, asks: bool) -> Iterator[FarEnd]:
        at.environ.pop("SSH_TTY", None)
        at.environ["SSH_CONNECTION"] = "192.0.2.1 50000 192.0.2.2 22" if asks else ""
        with at.spark(columns=160, rows=48) as pane:
            yield FarEnd(pane, rate, delay)

    return start


def behind_sshd(rate: float, delay: float) -> Start:
    """Starts the app behind a real ssh and sshd, with a line of that rate and delay between them."""

    @contextlib.contextmanager
    def start(at: Stage, asks: bool) -> Iterator[FarEnd]:
        keys = at.folder / f"keys-{asks}"
        keys.mkdir(mode=0o700)
        kept = {name: at.environ[name] for name in ENVIRONMENT if name in at.environ}
        there = [] if asks else ["-u", "SSH_CONNECTION", "-u", "SSH_TTY", "-u", "SSH_CLIENT"]
        told = shlex.join(
            ["env", *there, *(f"{name}={value}" for name, value in kept.items()), *at.command()]
        )
        with sshd(keys) as ssh:
            line = SlowTcp(int(ssh[ssh.index("-p") + 1]), rate, delay)
            ssh[ssh.index("-p") + 1] = str(line.port)
            command = [*ssh, f"cd {shlex.quote(str(at.project))} && exec {told}"]
            pane = Pty(command, at.project, at.environ, 160, 48)
            try:
                yield FarEnd(pane, math.inf, 0.0)
            finally:
                pane.end()
                line.close()

    return start


def measure(ssh: bool, start: Start) -> None:
    """Measure one way, and print a row."""
    say = " ".join(f"w{number:04d}q" for number in range(WORDS)) + " The end."
    script = f"[[scenario]]\nid = 'all'\nmatch = ['*']\n[[scenario.step]]\nsay = {json.dumps(say)}\n"
    with stage("2000", script=script) as plain, relayed(plain, Wire) as (at, wire), start(at, ssh) as far:
        while "ready" not in far.shown:
            far.step()
        end = time.monotonic() + 2.0
        while time.monotonic() < end:
            far.step()
        far.most = 0
        far.press("go on\r")
        ages, keys, newest = [], [], -1
        pressed = time.monotonic()
        key, due = "", pressed + 1.0
        last = 0.0
        while newest < WORDS - 1:
            taken = far.step()
            now = time.monotonic()
            words = [int(found) for found in WORD.findall("\n".join(far.screen.rows))] if taken else []
            if words and max(words) > newest:
                newest = max(words)
                ages.append(now - wire.came(newest))
                last = now - wire.came(WORDS - 1)
            if key and key in taken:
                keys.append(now - pressed)
                key, due = "", now + GAP
            elif not key and now >= due:
                key, pressed = KEYS[len(keys) % len(KEYS)], now
                far.press(key)
            if now > pressed + 90:
                raise SystemExit("the end was never shown")
    figures = (statistics.median(ages), max(ages), last, statistics.median(keys or [0]), max(keys or [0]))
    name = "asked" if ssh else "not asked"
    print(
        f"{name:<12}" + "".join(f"{1000 * each:>10.0f}" for each in figures) + f"{far.most:>10}", flush=True
    )


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--rate", type=float, default=50_000, help="bytes a second")
    arguments.add_argument("--delay", type=float, default=0.1, help="seconds each way")
    arguments.add_argument("--sshd", action="store_true", help="behind a real sshd")
    given = arguments.parse_args()
    start = (behind_sshd if given.sshd else emulated)(given.rate, given.delay)
    heads = ("age", "worst", "last word", "key", "worst", "bytes")
    print(f"{given.rate:,.0f} bytes/s, {given.delay:g} s each way; ms")
    print(f"{'':<12}" + "".join(f"{head:>10}" for head in heads))
    for ssh in (False, True):
        measure(ssh, start)


if __name__ == "__main__":
    main()
