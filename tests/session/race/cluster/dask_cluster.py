"""A real Dask cluster on this machine: a scheduler and workers, each a process of its own."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.checkout import ROOT

START_SECONDS = 60.0
_HOST = ("--host", "127.0.0.1", "--no-dashboard")


@dataclass
class DaskCluster:
    """The processes of a cluster, by their names; ``folder`` holds what they write."""

    folder: Path
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The scheduler's address, once it listens."""
        return self._said("scheduler", "Scheduler at:").split()[-1]

    def start_scheduler(self, *options: str) -> None:
        """Start the scheduler."""
        self._run("scheduler", "dask_scheduler", *_HOST, "--port", "0", *self._found_by, *options)

    def start_worker(self, name: str, environ: Mapping[str, str] | None = None) -> None:
        """Start a worker with one thread, also before the scheduler listens."""
        own = ("--name", name, "--nthreads", "1", "--local-directory", str(self.folder / name))
        self._run(name, "dask_worker", "--no-nanny", *_HOST, *own, *self._found_by, environ=environ)

    def joined(self, *names: str) -> None:
        """Wait until these workers are registered."""
        for name in names:
            self._said(name, "Registered to:")

    def kill(self, name: str) -> None:
        """Kill a process with SIGKILL."""
        self.processes[name].kill()
        self.processes[name].wait()

    def checks(self, name: str) -> int:
        """The number of programs that a worker runs now."""
        return len(psutil.Process(self.processes[name].pid).children(recursive=True))

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
        with (self.folder / f"{name}.log").open("wb") as output:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", *arguments],
                cwd=ROOT,
                env={**os.environ, "XDG_STATE_HOME": str(self.folder / name / "state"), **(environ or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )


@contextlib.contextmanager
def dask_cluster(folder: Path) -> Iterator[DaskCluster]:
    """A cluster whose processes end with the context; nothing of it is started yet."""
    cluster = DaskCluster(folder)
    folder.mkdir()
    try:
        yield cluster
    finally:
        for process in cluster.processes.values():
            process.kill()
            process.wait()
