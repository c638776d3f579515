"""Measures what the chat pane costs while an answer streams: run ``python -m tests.bench.screen_bench``.

A child process shows the pane on a real terminal of 160×48 while tokens arrive on an absolute clock
and a key is pressed every 40 ms. Printed for each rate: CPU seconds of the child, milliseconds per
token, terminal bytes per token, how long after the last token it was painted, and how long keys took
from the terminal to their handler.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import os
import pty
import resource
import struct
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from textual.app import App, ComposeResult
from textual.events import Key

from themes.loader import load_theme
from tui.chat.chat import ChatView
from tui.screen.drawing.code import warm
from tui.screen.drawing.palette import Palette
from tui.screen.terminal.driver import SparkDriver

PROSE = (
    "The **store** keeps every task in memory and writes the whole list after each change, which is "
    "simple and quick enough for some thousands of them. `Store.save` goes through a temporary file.\n\n"
    "- first point, with some words\n- second point, with a few words more than the first one has\n\n"
)
CODE = '''```python
class Store:
    """Keeps tasks."""

    def save(self, path: Path, tasks: list[Task]) -> None:
        """Write all of them at once."""
        data = json.dumps([task.to_json() for task in tasks], indent=2)
        path.with_suffix(".new").write_text(data, "utf-8")  # then rename
        os.replace(path.with_suffix(".new"), path)
```

'''


def tokens(count: int) -> Iterator[str]:
    """Return prose and code in turn, in pieces of four characters."""
    text = ""
    while len(text) < 4 * count:
        text += PROSE + CODE
    return (text[at : at + 4] for at in range(0, 4 * count, 4))


class Streaming(App[None], inherit_bindings=False):
    """The pane and its feed; records when each key arrived."""

    CSS = "ChatView { height: 100%; }"

    def __init__(self, count: int, rate: float) -> None:
        super().__init__(driver_class=SparkDriver)
        self.count, self.rate = count, rate
        self.keys: list[float] = []
        self.lag = 0.0
        self.cpu = 0.0

    def compose(self) -> ComposeResult:
        """Show the pane alone."""
        yield ChatView(Palette(load_theme("dark")))

    def on_key(self, event: Key) -> None:
        """Record the time."""
        self.keys.append(time.monotonic())

    def on_mount(self) -> None:
        """Begin to stream."""
        warm()
        self.run_worker(self.stream())

    async def stream(self) -> None:
        """Feed the pane on an absolute clock."""
        view = self.query_one(ChatView)
        await asyncio.sleep(0.3)
        cpu, began = time.process_time(), time.monotonic()
        for number, token in enumerate(tokens(self.count)):
            while (ahead := began + number / self.rate - time.monotonic()) > 0:
                await asyncio.sleep(max(ahead, 0.001))
            view.text(token)
            if number % 16 == 0:
                await asyncio.sleep(0)
        view.close_run()
        view.settle_now()
        await asyncio.sleep(0)
        self.lag = time.monotonic() - began - self.count / self.rate
        self.cpu = time.process_time() - cpu
        self.exit()


def child(count: int, rate: float, said: Path) -> None:
    """Run the application and write its measurements to a file."""
    app = Streaming(count, rate)
    app.run()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    said.write_text(" ".join(map(str, [app.cpu, app.lag, memory, *app.keys])))


def measure(count: int, rate: float) -> str:
    """Do one run, and return the line to print."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 48, 160, 0, 0))
    taken = 0
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "said"
        pid = os.fork()
        if pid == 0:
            os.close(main)
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
            for number in (0, 1, 2):
                os.dup2(terminal, number)
            environ = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
            here = [sys.executable, "-m", "tests.bench.screen_bench", "--child", str(said)]
            os.execve(sys.executable, [*here, "--tokens", str(count), "--rate", str(rate)], environ)
        os.close(terminal)
        pressed: list[float] = []

        def press() -> None:
            while True:
                time.sleep(0.04)
                pressed.append(time.monotonic())
                try:
                    os.write(main, b"x")
                except OSError:
                    return

        threading.Timer(1.5, press).start()
        while True:
            try:
                data = os.read(main, 65536)
            except OSError:
                break
            taken += len(data)
        os.waitpid(pid, 0)
        cpu, lag, memory, *keys = map(float, said.read_text().split())
    took = sorted(1000 * (handled - at) for at, handled in zip(pressed, keys, strict=False))
    middle, worst = took[len(took) // 2], took[int(len(took) * 0.99)]
    return (
        f"{rate:>8.0f}/s {cpu:>7.2f} s {1000 * cpu / count:>7.3f} ms {taken / count:>8.1f} B "
        f"{1000 * lag:>7.0f} ms {middle:>7.1f} ms {worst:>7.1f} ms {memory:>6.0f} MB"
    )


def main() -> None:
    """Measure at the given rates."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tokens", type=int, default=20_000)
    arguments.add_argument("--rate", type=float, action="append")
    arguments.add_argument("--child", type=Path)
    given = arguments.parse_args()
    rates = given.rate or [1000.0, 10_000.0]
    if given.child is not None:
        child(given.tokens, rates[0], given.child)
        return
    print(f"{given.tokens} tokens, 160×48, truecolor")
    print("      rate       CPU  CPU/token bytes/token   lag     key p50    key p99   memory")
    for rate in rates:
        print(measure(given.tokens, rate))


if __name__ == "__main__":
    main()
