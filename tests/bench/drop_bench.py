"""Drops of an ssh line, sixty of them: ``python -m tests.bench.drop_bench [--cuts 60] [--only WORD]``.

spark runs at the other end of a real sshd, with half a thought typed and a turn or a ``!command`` under way.
Then the line goes: the client is killed, which the server notices; or a relay in between stops forwarding
with both sockets open, which it does not; or the shell and the kernel each send a SIGHUP. The moments differ
from cut to cut. The next spark must find what runs, follow it or take it over, and have the end of it, every
hunk that began, the command's output and the thought. Prints a line for each cut and the counts; exits with 1
where anything was lost."""

from __future__ import annotations

import argparse
import os
import selectors
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from tests.e2e.link_cuts import THOUGHT, Remote, cut, far_machine
from tests.e2e.test_exec import FEATURE
from tests.e2e.test_lost_screen import alive
from tests.e2e.tmux import Terminal, wait_for

RATE = "25"
"""Tokens a second: a turn lasts longer than it takes until a silent terminal is told."""
PATIENCE = 180.0
COMMAND = "!for i in $(seq 40); do echo line $i; sleep 1; done; echo done-$((6*7))"
WORKS = ("turn", "command")
DROPS = ("noticed", "unnoticed", "two hang-ups")


class Relay:
    """Forwards one port of loopback to another until it is told to fall silent; then it keeps the sockets
    open and moves nothing, as a router does that forgot the line."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._silent = threading.Event()
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def fall_silent(self) -> None:
        """Move nothing from now on."""
        self._silent.set()

    def close(self) -> None:
        """Let go of the sockets."""
        self._closed.set()
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._forward, args=(near,), daemon=True).start()

    def _forward(self, near: socket.socket) -> None:
        with near, socket.create_connection(("127.0.0.1", self._to)) as far, suppress(OSError):
            both = selectors.DefaultSelector()
            both.register(near, selectors.EVENT_READ, far)
            both.register(far, selectors.EVENT_READ, near)
            while not self._closed.is_set():
                if self._silent.is_set():
                    time.sleep(0.2)
                    continue
                for key, _ in both.select(0.2):
                    taken = key.fileobj.recv(65536)  # type: ignore[union-attr]
                    if not taken or self._silent.is_set():
                        if not taken:
                            return
                        break
                    key.data.sendall(taken)


@contextmanager
def relayed(remote: Remote) -> Iterator[tuple[Remote, Relay]]:
    """The same machine behind a relay."""
    at = remote.ssh.index("-p") + 1
    relay = Relay(int(remote.ssh[at]))
    try:
        yield replace(remote, ssh=[*remote.ssh[:at], str(relay.port), *remote.ssh[at + 1 :]]), relay
    finally:
        relay.close()


def begin(remote: Remote, pane: Terminal, work: str, moment: int) -> None:
    """Begin a turn or a command, wait for a moment of it, and type half a thought."""
    pane.until("ready", PATIENCE)
    pane.type(FEATURE if work == "turn" else COMMAND)
    pane.keys("Enter")
    if work == "turn":
        kind = "hunk.landed" if moment % 3 == 2 else "text.delta"
        count = 1 if moment % 3 == 2 else 1 + moment
        wait_for(lambda: remote.kinds().count(kind) >= count, f"{count} of {kind}", PATIENCE)
    else:
        pane.until(f"line {1 + moment % 4}", PATIENCE)
    pane.type(THOUGHT)
    pane.until(THOUGHT, PATIENCE)


def dropped(remote: Remote, folder: Path, work: str, drop: str, moment: int) -> str:
    """Drop the line once; returns how it went on. Raises AssertionError where anything is lost."""
    with relayed(remote) as (near, relay), near.opened(folder) as (pane, process):
        begin(remote, pane, work, moment)
        if drop == "noticed":
            cut(pane)
        elif drop == "two hang-ups":
            os.kill(process, signal.SIGHUP)
            time.sleep(0.01 * (moment % 5))
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGHUP)
            cut(pane)
        else:
            relay.fall_silent()
            time.sleep(18 + moment % 4)
        assert alive(process) or _turn_is_over(remote), f"the {work} ended with the line"
        return _next(remote, folder, work, drop, process, moment)


def _turn_is_over(remote: Remote) -> bool:
    return "turn.ended" in remote.kinds()


def _next(remote: Remote, folder: Path, work: str, drop: str, process: int, moment: int) -> str:
    """Let the next spark go on, and see that nothing is lost."""
    with remote.opened(folder) as (pane, follower):
        how = "followed" if drop != "unnoticed" else "asked, taken over" if moment % 2 else "asked, followed"
        if _turn_is_over(remote):
            how = "was over"
        elif drop == "unnoticed":
            pane.until("T takes it over", PATIENCE)
            time.sleep(1.0)
            pane.keys("T" if moment % 2 else "Enter")
        if work == "command":
            pane.until("done-42", PATIENCE)
        else:
            wait_for(lambda: _turn_is_over(remote), "the end of the turn", PATIENCE)
        if drop != "unnoticed" or how == "asked, taken over":
            wait_for(lambda: not alive(process), "the end of the first process", PATIENCE)
        pane.until(THOUGHT, PATIENCE)
        assert alive(follower)
    if work == "turn":
        kinds = remote.kinds()
        assert kinds.count("hunk.landed") == kinds.count("hunk.open") > 0, Counter(kinds)
        (end,) = [record for record in remote.records() if record["type"] == "turn.ended"]
        assert end["status"] == "completed", end
    return how


def main() -> int:
    """Drop the line again and again, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=60)
    parser.add_argument("--only", default="", help="of the ways, as in 'unnoticed turn', those that begin so")
    given = parser.parse_args()
    spark_path = Path(sys.executable).with_name("spark")
    ways = [(work, drop) for drop in DROPS for work in WORKS if f"{drop} {work}".startswith(given.only)]
    counts: Counter[str] = Counter()
    for number in range(given.cuts):
        work, drop = ways[number % len(ways)]
        with (
            tempfile.TemporaryDirectory(prefix="spark-drop-", ignore_cleanup_errors=True) as name,
            far_machine(Path(name), spark_path, RATE) as remote,
        ):
            try:
                how = dropped(remote, Path(name), work, drop, number // len(ways))
            except AssertionError as fault:
                traceback.print_exc()
                how = f"LOST: {fault}"
            counts["lost" if how.startswith("LOST") else f"{drop} {work}"] += 1
            print(f"{number + 1} {drop} {work}: {how}", flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())), f"{counts['lost']} lost")
    return 1 if counts["lost"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
