"""A real terminal for end-to-end tests: tmux on a server of its own, driven by keys, read as text."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 30.0
"""Seconds after which something that never shows is a failure; a slow machine is not."""


class Terminal:
    """One program in one tmux pane."""

    def __init__(self, socket: str) -> None:
        self._socket = socket

    def tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-L", self._socket, *arguments], capture_output=True, text=True, check=True, timeout=20
        )
        return done.stdout

    def keys(self, *keys: str) -> None:
        """Press keys by tmux's names (``Enter``, ``Escape``, ``F9``, ``C-q``)."""
        self.tmux("send-keys", *keys)

    def type(self, text: str) -> None:
        self.tmux("send-keys", "-l", text)

    def screen(self) -> str:
        return self.tmux("capture-pane", "-p")

    def until(self, shows: str | Callable[[str], bool], patience: float = PATIENCE) -> str:
        """Wait until the screen shows a text, or fits a predicate; returns that screen."""
        fits = (lambda screen: shows in screen) if isinstance(shows, str) else shows
        end = time.monotonic() + patience
        screen = self.screen()
        while not fits(screen):
            if time.monotonic() > end:
                raise AssertionError(f"not within {patience:.0f} s: {shows!r}\n{screen}")
            time.sleep(0.03)
            screen = self.screen()
        return screen

    def resize(self, columns: int, rows: int) -> None:
        self.tmux("resize-window", "-x", str(columns), "-y", str(rows))


@contextmanager
def terminal(
    command: list[str], columns: int, rows: int, environment: dict[str, str], folder: Path
) -> Iterator[Terminal]:
    """Run ``command`` in a fresh pane; when it ends, its exit code is shown as ``exit N``."""
    socket = f"spark-test-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    line = f"{shlex.join(command)}; echo exit $?; exec sleep 600"
    arguments = ["new-session", "-d", "-x", str(columns), "-y", str(rows), "-c", str(folder), line]
    full = {**os.environ, **environment, "TERM": "xterm-256color"}
    full.pop("TMUX", None)
    start = ["tmux", "-L", socket, "-f", "/dev/null", *arguments]
    subprocess.run(start, check=True, env=full, capture_output=True, timeout=20)
    pane = Terminal(socket)
    try:
        yield pane
    finally:
        subprocess.run(["tmux", "-L", socket, "kill-server"], capture_output=True, check=False, timeout=20)


def wait_for(fits: Callable[[], bool], what: str, patience: float = PATIENCE) -> None:
    """Wait for something outside the screen, such as a file's content."""
    end = time.monotonic() + patience
    while not fits():
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience:.0f} s: {what}")
        time.sleep(0.03)
