"""Forks the processes in which spark reads files, of a process that has imported what they need.

To start one takes a tenth of a second of a processor, and hundreds of tests have one. The fixture
``real_readers`` gives a test those that spark itself starts.
"""

from __future__ import annotations

import os
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from context.disk.programs import plain_environment
from context.index import outliner, worker_pool
from tests.warm_spark import Fork, Warm, serve_alone

START = outliner.start_python
READERS_OF = (outliner, worker_pool)
"""The modules that start readers."""
CODE = "from {module} import main; main()"


class Reader:
    """What spark uses of a Popen, for a fork."""

    def __init__(self, fork: Fork, given: int, said: int) -> None:
        self._fork = fork
        self._waiting = threading.Lock()
        self.pid = fork.pid
        self.stdin = os.fdopen(given, "wb")
        self.stdout = os.fdopen(said, "rb")

    def poll(self) -> int | None:
        """Its exit code; None as long as it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        with self._waiting:
            return self._fork.wait(timeout)

    def kill(self) -> None:
        """Kill it."""
        if self.poll() is None:
            self._fork.kill()


def use_forks(folder: Path) -> Warm:
    """Have this process fork its readers, of the one process that all have who are given the folder."""
    warm = Warm(folder, "tests.warm_readers")

    def start(module: str, *arguments: str) -> Any:
        (their_in, our_in), (our_out, their_out) = os.pipe(), os.pipe()
        theirs = [their_in, their_out, os.open(os.devnull, os.O_WRONLY)]
        try:
            code, words = CODE.format(module=module), ["-c", *arguments]
            return Reader(warm.fork(code, words, Path("/"), plain_environment(), theirs), our_in, our_out)
        finally:
            for each in theirs:
                os.close(each)

    for module in READERS_OF:
        module.start_python = start  # type: ignore[attr-defined]
    return warm


def import_all() -> None:
    """Import what readers need, and compile the query that most of them use."""
    from context.code.languages import load, named_language
    from context.index import outline_process, worker  # noqa: F401

    python = named_language("python")
    assert python is not None
    load(python)


if __name__ == "__main__":
    serve_alone(import_all)
