"""What runs on a worker: a check of one attempt, in a sandbox of the project that travelled there.

A worker keeps the projects that it has unpacked and the tools that it has looked for, so that each further
check costs a sandbox and nothing else. A check ends with the wish for it: when its race is over, or when the
spark that asked is gone.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from session.checks.runner import CheckRunner
from session.checks.sandbox.sandbox import Sandboxes
from session.checks.sandbox.to_the_end import to_the_end
from session.race.cluster.base import Base, Bases
from session.race.cluster.job import Answer, Job
from session.race.cluster.probing import installed
from session.race.cluster.tools import Tools, differences
from session.tools.command.environment import allowed_environment

if TYPE_CHECKING:
    from distributed import Worker

LOOK_SECONDS = 0.2
"""Seconds between two looks at whether a check is still wanted."""
_RUNNING = ("executing", "long-running")


@dataclass(slots=True)
class Kept:
    """What one worker keeps between checks."""

    bases: Bases
    unpacking: asyncio.Lock = field(default_factory=asyncio.Lock)
    sandboxes: dict[Path, Sandboxes] = field(default_factory=dict)
    tools: dict[tuple[str, ...], Tools] = field(default_factory=dict)

    @asynccontextmanager
    async def base(self, key: str, manifest: bytes, packs: Sequence[bytes]) -> AsyncIterator[Base]:
        """The state ``key`` of a project, kept while it is used. Raises OSError and ValueError."""
        async with self.unpacking:
            # Where it is cancelled its thread goes on, and the next one must not meet it.
            base = await to_the_end(partial(self.bases.unpack, key, manifest, packs))
            base.users += 1
        try:
            yield base
        finally:
            base.users -= 1


_KEPT: dict[str, Kept] = {}
"""By the id of a worker; tests run several in one process."""


async def judge(job: Job, manifest: bytes, *packs: bytes) -> Answer:
    """Run the check of ``job`` on the project in ``manifest`` and ``packs``."""
    from distributed import get_worker

    worker = get_worker()
    kept = _KEPT.setdefault(worker.id, Kept(Bases(Path(worker.local_directory) / "spark")))
    work = asyncio.create_task(_judge(worker.address, kept, job, manifest, packs))
    unwanted = asyncio.create_task(_unwanted(worker, job.name))
    try:
        await asyncio.wait({work, unwanted}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (work, unwanted):
            task.cancel()
        await asyncio.wait({work, unwanted})
    return work.result()


async def _unwanted(worker: Worker, name: str) -> None:
    """Wait until nobody wants the result of the task ``name`` any more."""
    while True:
        task = worker.state.tasks.get(name)
        if task is None or task.state not in _RUNNING:
            return
        await asyncio.sleep(LOOK_SECONDS)


async def _judge(address: str, kept: Kept, job: Job, manifest: bytes, packs: Sequence[bytes]) -> Answer:
    async with kept.base(job.content, manifest, packs) as base:
        return await _judge_on(base, address, kept, job)


async def _judge_on(base: Base, address: str, kept: Kept, job: Job) -> Answer:
    environ = allowed_environment(os.environ)
    sandboxes = kept.sandboxes.setdefault(base.root, Sandboxes(base.root, os.environ))
    names = tuple(name for name in job.tools if name != "spark" and not name.endswith(" (Python)"))
    if names not in kept.tools:
        kept.tools[names] = await installed(sandboxes, environ, names)
    if differs := differences(job.tools, kept.tools[names]):
        return Answer(address, None, differs)
    runner = CheckRunner(base.root, sandboxes, environ, lambda: base.files)
    return Answer(address, await runner.run(job.check, job.changed, edits=job.edits))
