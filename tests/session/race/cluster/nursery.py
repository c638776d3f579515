"""Starts schedulers and workers of Dask: one Python imports all that they need, and forks for each of them.

A line of its input is a dictionary in JSON: the ``program``, its ``arguments``, the whole ``environ``, and
the ``log`` for its output. The process's number is the answer. All of them end with the input.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from typing import Any


def run(program: str, arguments: list[str], environ: dict[str, str], log: str) -> None:
    """Become the program; called in a process of its own."""
    from distributed.cli import dask_scheduler, dask_worker

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for descriptor, of in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
        os.dup2(descriptor, of)
    os.environ.clear()
    os.environ.update(environ)
    commands: dict[str, Any] = {"scheduler": dask_scheduler.main, "worker": dask_worker.main}
    commands[program](args=arguments, prog_name=program)


def serve() -> None:
    """Start what is asked for until the input ends."""
    # What Dask loads, and what checks need, is loaded before there is a second process.
    from distributed.cli import dask_scheduler, dask_worker  # noqa: F401

    from tests.session.race.cluster import lies  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # none of them stays as a zombie
    started: list[int] = []
    for line in sys.stdin:
        asked = json.loads(line)
        process = os.fork()
        if not process:
            run(**asked)
            os._exit(0)
        started.append(process)
        print(process, flush=True)
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


if __name__ == "__main__":
    serve()
