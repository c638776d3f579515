"""Measures what attempts on a cluster cost: bytes and seconds of a project, of an edit and of an attempt.

    python3 -m tests.bench.cluster_bench PROJECT [ATTEMPTS]

PROJECT is copied first, since a file of it is changed. The cluster is a scheduler and two workers on this
machine, each a process of its own. The check does nothing, so that what is measured is the way there and
back.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import sys
import tempfile
import time
from pathlib import Path

from session.checks.check import Check, Kind
from session.checks.runner import CheckRunner
from session.checks.sandbox.sandbox import Sandboxes
from session.race.cluster.content import ContentReader
from session.race.cluster.runner import Cluster, ClusterRunner
from session.race.cluster.worker import Bases, Job, installed
from session.setup.user_tables import ClusterSettings
from session.tools.command.environment import allowed_environment
from tests.session.race.cluster.dask_cluster import dask_cluster

CHECK = Check("nothing", f"{sys.executable} -c pass", Kind.TESTS)
EDIT: dict[str, bytes | None] = {"edited.py": b"x = 1\n" * 500}


def said(what: str, seconds: float, size: int = 0) -> None:
    """Print one figure."""
    print(f"{what:44} {seconds:9.3f} s" + (f" {size / 1e6:10.3f} MB" if size else ""))


def measure_content(project: Path, folder: Path) -> None:
    """The project's content: read, read again, changed, unpacked."""
    reader, bases = ContentReader(project), Bases(folder)
    began = time.perf_counter()
    content = reader.read()
    said("project read and packed", time.perf_counter() - began, content.size)
    began = time.perf_counter()
    bases.unpack(content.key, content.manifest, content.packs.values())
    said("unpacked by a worker", time.perf_counter() - began)
    (project / "edited.py").write_text("changed\n")
    began = time.perf_counter()
    changed = reader.read()
    size = len(changed.manifest) + sum(
        len(changed.packs[key]) for key in changed.packs.keys() - content.packs
    )
    said("read again after one file changed", time.perf_counter() - began, size)
    began = time.perf_counter()
    bases.unpack(changed.key, changed.manifest, changed.packs.values())
    said("unpacked again, the rest shared", time.perf_counter() - began)


async def measure_checks(project: Path, address: str, attempts: int) -> None:
    """Checks on the cluster: the first, which brings the project there, then many at once."""
    environ = allowed_environment(os.environ)
    sandboxes = Sandboxes(project, os.environ)
    cluster = Cluster(ClusterSettings(address), project)
    holding = asyncio.create_task(cluster.hold())
    runner = ClusterRunner(
        cluster, CheckRunner(project, sandboxes, environ, list), sandboxes, environ, print, 1
    )
    await runner.run(CHECK)
    began = time.perf_counter()
    await runner.run(CHECK, ["edited.py"], edits=EDIT)
    said("first verdict, with the project", time.perf_counter() - began)
    began = time.perf_counter()
    for _ in range(5):
        verdict = await runner.run(CHECK, ["edited.py"], edits=EDIT)
    said("verdict on a warm worker", (time.perf_counter() - began) / 5)
    tools = await installed(sandboxes, environ, (sys.executable,))
    job = Job("spark-check-0123456789abcdef", "0" * 64, CHECK, ["edited.py"], EDIT, tools)
    said("its check with the sandbox", verdict.seconds, len(pickle.dumps(job)))
    began = time.perf_counter()
    await asyncio.gather(*(runner.run(CHECK, ["edited.py"], edits=EDIT) for _ in range(attempts)))
    took = time.perf_counter() - began
    said(f"{attempts} attempts at once", took)
    link = await cluster.link()
    print(f"{attempts / took:.1f} verdicts a second; {link.sent / 1e6:.3f} MB of content went out")
    await runner.close()
    holding.cancel()
    await asyncio.wait({holding})


def main() -> None:
    """Copy, start, measure, print."""
    attempts = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        project = folder / "project"
        shutil.copytree(sys.argv[1], project, symlinks=True)
        measure_content(project, folder / "worker")
        with dask_cluster(folder / "dask") as dask:
            dask.start_scheduler()
            for worker in ("a", "b"):
                dask.start_worker(worker)
            dask.joined("a", "b")
            asyncio.run(measure_checks(project, dask.address, attempts))


if __name__ == "__main__":
    main()
