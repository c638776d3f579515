"""A real Dask cluster on this machine: a scheduler and workers, each a process of its own.

The processes are forks of one Python (``nursery.py``): to import Dask takes longer than to start any of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.checkout import ROOT

START_SECONDS = 60.0
_HOST = ("--host", "127.0.0.1", "--no-dashboard")
_UNWATCHED = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false"}
"""No worker looks a hundred times a second at what it does."""


class Nursery:
    """Starts processes for any number of clusters; all of them end with it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.session.race.cluster.nursery"],
            cwd=ROOT,
            env={**os.environ, **_UNWATCHED},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, program: str, arguments: Sequence[str], environ: Mapping[str, str], log: Path) -> int:
        """Start the ``scheduler`` or a ``worker``, and return the number of its process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"program": program, "arguments": arguments, "environ": dict(environ), "log": str(log)}
        self._process.stdin.write(f"{json.dumps(asked)}\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End it, and all that it started."""
        self._process.communicate()


@dataclass
class DaskCluster:
    """The processes of a cluster, by their names; ``folder`` holds what they write."""

    folder: Path
    nursery: Nursery
    processes: dict[str, int] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The scheduler's address, once it listens."""
        return self._said("scheduler", "Scheduler at:").split()[-1]

    def start_scheduler(self, *options: str) -> None:
        """Start the scheduler."""
        self._run("scheduler", "scheduler", *_HOST, "--port", "0", *self._found_by, *options)

    def start_worker(self, name: str, environ: Mapping[str, str] | None = None) -> None:
        """Start a worker with one thread, also before the scheduler listens."""
        own = ("--name", name, "--nthreads", "1", "--local-directory", str(self.folder / name))
        self._run(name, "worker", "--no-nanny", *_HOST, *own, *self._found_by, environ=environ)

    def joined(self, *names: str) -> None:
        """Wait until these workers are registered."""
        for name in names:
            self._said(name, "Registered to:")

    def kill(self, name: str) -> None:
        """Kill a process with SIGKILL."""
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.processes[name])
            process.kill()
            process.wait()

    def checks(self, name: str) -> int:
        """The number of programs that a worker runs now."""
        return len(psutil.Process(self.processes[name]).children(recursive=True))

    @property
    def _found_by(self) -> tuple[str, str]:
        return "--scheduler-file", str(self.folder / "scheduler.json")

    def _said(self, name: str, wanted: str) -> str:
        """The first line of a process's log with ``wanted`` in it, once it is there."""
        log = self.folder / f"{name}.log"
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            for line in log.read_text("utf-8", "replace").splitlines():
                if wanted in line:
                    return line
            time.sleep(0.02)
        raise AssertionError(f"{name} never said {wanted!r}:\n{log.read_text('utf-8', 'replace')}")

    def _run(
        self, name: str, program: str, *arguments: str, environ: Mapping[str, str] | None = None
    ) -> None:
        log = self.folder / f"{name}.log"
        log.touch()
        own = {**os.environ, "XDG_STATE_HOME": str(self.folder / name / "state"), **(environ or {})}
        self.processes[name] = self.nursery.start(program, arguments, own, log)


@contextlib.contextmanager
def dask_cluster(folder: Path, nursery: Nursery | None = None) -> Iterator[DaskCluster]:
    """A cluster whose processes end with the context; nothing of it is started yet."""
    own = nursery or Nursery()
    cluster = DaskCluster(folder, own)
    folder.mkdir()
    try:
        yield cluster
    finally:
        for name in cluster.processes:
            cluster.kill(name)
        if nursery is None:
            own.close()
