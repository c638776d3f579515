"""Measures a stop in its two steps: run ``python -m tests.bench.stop_bench``.

The real app runs on a pseudo-terminal and streams at 1,000 tokens a second when a stop key is pressed. It
notes when the key's first byte was read, when screen and landing were frozen, and when the socket was cut;
the clock is the system's monotonic one, which both processes share. A second table is about arrow keys
whose ESC comes some milliseconds before the rest: how often they stopped the turn.
"""

from __future__ import annotations

import argparse
import random
import time
from pathlib import Path

from tests.bench.pty_spark import Pty, Stage, stage
from tests.bench.screen_bench import CODE, PROSE

STOPS = (
    ("ESC alone", "\x1b"),
    ("ESC, kitty", "\x1b[27u"),
    ("Ctrl+C", "\x03"),
    ("Ctrl+C, kitty", "\x1b[99;5u"),
)
SPLITS = (0, 5, 10, 15, 20, 30, 45, 60)
"""Milliseconds between the ESC of an arrow key and the rest of it."""
KITTY = "\x1b[?25u"
"""What a terminal with the kitty protocol answers when it is asked what is on."""

INSTRUMENTED = """
import os, time
LOG = os.open({log!r}, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
def note(what):
    os.write(LOG, f"{{what}} {{time.monotonic():.6f}}\\n".encode())
def noted(owner, name, what):
    plain = getattr(owner, name)
    def call(*arguments):
        result = plain(*arguments)
        note(what)
        return result
    setattr(owner, name, call)
import tui.screen.terminal.driver as driver
from session.wire.link.connection import Connection
from tui.screen.terminal.stop_brake import StopBrake
noted(driver, "read_or_hang_up", "read")
noted(StopBrake, "_freeze", "frozen")
noted(Connection, "drop", "cut")
from tui.cli.main import main
main()
"""


def script() -> str:
    """A scenario with an answer that is never read to its end."""
    text = (PROSE + CODE) * 400
    head = "[[scenario]]\nid = 'long'\nprompt = 'long'\nmatch = ['long']\n\n[[scenario.step]]\n"
    return f"{head}say = '''\n{text}'''\n"


class Bench:
    """One app, and the times it noted."""

    def __init__(self, at: Stage, pane: Pty, log: Path) -> None:
        self.pane, self._log, self._at = pane, log, at
        pane.until("ready")

    def stream(self) -> None:
        """Have an answer stream, for a random while."""
        self.pane.forget()
        self.pane.type("long\r")
        self.pane.until("streaming", self.pane.now + 30)
        self._read_for(random.uniform(0.2, 0.5))

    def stop(self, key: str) -> tuple[float, float]:
        """Milliseconds from the read of ``key`` to frozen and to cut."""
        self._log.write_text("")
        self.pane.forget()
        self.pane.type(key)
        self.pane.until("Stopped.", self.pane.now + 30)
        self._read_for(0.3)
        times = self._times()
        return (
            1000 * (times["frozen"][0] - times["read"][0]),
            1000 * (times["cut"][0] - times["read"][0]),
        )

    def split(self, milliseconds: int) -> tuple[bool, bool]:
        """An arrow key with a gap behind its ESC: whether the turn was stopped, and whether it froze."""
        self._log.write_text("")
        self.pane.type("\x1b")
        end = time.monotonic() + milliseconds / 1000
        while (left := end - time.monotonic()) > 0:
            self.pane.read(left)
        self.pane.type("[C")
        self._read_for(0.3)
        times = self._times()
        return bool(times["cut"]), bool(times["frozen"])

    def end_turn(self) -> None:
        """Stop what may still run, and clear the composer."""
        self.pane.type("\x1b[27u\x15")
        self._read_for(0.5)

    def _times(self) -> dict[str, list[float]]:
        times: dict[str, list[float]] = {"read": [], "frozen": [], "cut": []}
        for line in self._log.read_text().splitlines():
            what, at = line.split()
            times[what].append(float(at))
        return times

    def _read_for(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.pane.read(left)


def middle_and_worst(values: list[float]) -> str:
    """The median and the worst, in milliseconds."""
    values = sorted(values)
    return f"{values[len(values) // 2]:>8.2f} {values[-1]:>8.2f}"


def main() -> None:
    """Measure, and print both tables."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--samples", type=int, default=10)
    samples = arguments.parse_args().samples
    with stage("1000", script=script()) as at:
        log = at.folder / "times"
        log.touch()
        with at.spark(INSTRUMENTED.format(log=str(log)), columns=160, rows=48) as pane:
            bench = Bench(at, pane, log)
            print(f"{samples} stops each, from the read of the first byte, ms (median, worst)")
            print(f"{'':<16}{'frozen':>17} {'cut':>17}")
            for name, key in STOPS:
                times = []
                for _ in range(samples):
                    bench.stream()
                    times.append(bench.stop(key))
                frozen, cut = zip(*times, strict=True)
                print(f"{name:<16}{middle_and_worst(list(frozen))} {middle_and_worst(list(cut))}", flush=True)
            for answers, kitty in (("without the kitty protocol", False), ("with the kitty protocol", True)):
                print(f"\narrow keys in two pieces, {answers}: stopped, frozen meanwhile, of {samples}")
                if kitty:
                    pane.type(KITTY)
                for gap in SPLITS:
                    outcomes = []
                    for _ in range(samples):
                        bench.stream()
                        outcomes.append(bench.split(gap))
                        bench.end_turn()
                    stopped, froze = (sum(each) for each in zip(*outcomes, strict=True))
                    print(f"{gap:>4} ms {stopped:>4} {froze:>4}", flush=True)


if __name__ == "__main__":
    main()
