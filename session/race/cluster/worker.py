"""What runs on a worker: a check of one attempt, in a sandbox of the project that travelled there.

A worker keeps the projects that it has unpacked and the tools that it has looked for, so that each further
check costs a sandbox and nothing else. A check ends with the wish for it: when its race is over, or when the
spark that asked is gone.

The projects that a worker has unpacked, ready for sandboxes on top of them.

A new state of a project shares the files that did not change with the states before it, as hard links.
Sandboxes write to layers of their own and never to these folders.

Finds out in a sandbox which versions of a check's tools a machine has.

What travels to a worker for one check of one attempt, and what comes back.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from session.checks.check import Check
from session.checks.finding import Verdict
from session.checks.runner import PLAIN, SHELL, CheckRunner
from session.checks.sandbox.command import Command, Edits
from session.checks.sandbox.sandbox import Sandboxes
from session.checks.sandbox.sandbox_folder import remove_tree, to_the_end
from session.race.cluster.content import Entry, files_of, unpacked
from session.race.cluster.tools import Tools, differences, probe, read
from session.tools.command.environment import allowed_environment

if TYPE_CHECKING:
    from distributed import Worker


@dataclass(frozen=True, slots=True)
class Job:
    """A check of the state ``content`` of a project with ``edits``. ``tools`` are those that a worker must
    have to judge; no environment travels, since workers have their own."""

    name: str
    content: str
    check: Check
    changed: Sequence[str] | None
    edits: Edits = field(repr=False)
    tools: Tools = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of ``worker``: a verdict, or in what its tools differ."""

    worker: str
    verdict: Verdict | None
    differs: str = ""


_SECONDS = 60.0
_MOST_OUTPUT = 1_000_000


async def installed(sandboxes: Sandboxes, environ: Mapping[str, str], names: Sequence[str]) -> Tools:
    """The versions of the programs ``names``, and of spark. Raises OSError and SandboxRefused."""
    output = bytearray()

    def take(piece: bytes) -> bool:
        output.extend(piece)
        return len(output) < _MOST_OUTPUT

    sandbox = await sandboxes.make()
    try:
        await sandbox.run(Command([SHELL, "-c", probe(names)], _SECONDS, {**environ, **PLAIN}), take)
    finally:
        await sandbox.remove()
    return {"spark": version("spark"), **read(output.decode("utf-8", "replace"))}


MOST_BASES = 4
"""The states that are kept; those in use are kept beyond it."""


@dataclass(slots=True)
class Base:
    """One state of a project below ``folder``; ``users`` counts the checks that run on it."""

    folder: Path
    root: Path
    files: Mapping[str, Entry]
    users: int = 0


@dataclass(slots=True)
class Bases:
    """The states of projects that are unpacked below ``folder``. Calls block, and come one at a time."""

    folder: Path
    kept: dict[str, Base] = field(default_factory=dict)

    def unpack(self, key: str, manifest: bytes, packs: Iterable[bytes]) -> Base:
        """The state ``key``, unpacked once. Raises OSError and ValueError; nothing is left of it then."""
        known = self.kept.pop(key, None)
        if known is None:
            known = self._unpack(self.folder / key[:16], manifest, packs)
        self.kept[key] = known  # at the end: the newest
        self._forget()
        return known

    def _unpack(self, folder: Path, manifest: bytes, packs: Iterable[bytes]) -> Base:
        name, files = files_of(manifest)
        root = folder / _plain_name(name)
        for path in files:
            _check(path)
        try:
            root.mkdir(parents=True)
            for parent in sorted({str(PurePosixPath(path).parent) for path in files}):
                (root / parent).mkdir(parents=True, exist_ok=True)
            wanted = {path: entry for path, entry in files.items() if not self._link(root, path, entry)}
            places: dict[str, list[str]] = {}
            for path, (_, digest, _) in wanted.items():
                places.setdefault(digest, []).append(path)
            for digest, content in unpacked_all(packs) if wanted else ():
                for path in places.pop(digest, ()):
                    (root / path).write_bytes(content)
                    (root / path).chmod(wanted[path][2])
            if places:
                raise ValueError(f"{len(places)} files of the project did not come with it")
        except BaseException:  # a cancelled unpacking, too, leaves no folder behind
            with contextlib.suppress(OSError):
                remove_tree(folder)
            raise
        return Base(folder, root, files)

    def _link(self, root: Path, path: str, entry: Entry) -> bool:
        """Make a link, or share the file with a state that has it. False where its bytes must be unpacked."""
        if entry[0] == "link":
            (root / path).symlink_to(entry[1])
            return True
        for base in reversed(self.kept.values()):
            if base.files.get(path) == entry:
                with contextlib.suppress(OSError):
                    os.link(base.root / path, root / path, follow_symlinks=False)
                    return True
        return False

    def _forget(self) -> None:
        """Remove the oldest states that no check uses; the newest is about to be used."""
        spare = [key for key in list(self.kept)[:-1] if not self.kept[key].users]
        for key in spare[: max(0, len(self.kept) - MOST_BASES)]:
            remove_tree(self.kept.pop(key).folder)


def unpacked_all(packs: Iterable[bytes]) -> Iterable[tuple[str, bytes]]:
    """The contents of all ``packs``."""
    for each in packs:
        yield from unpacked(each)


def _check(path: str) -> None:
    """Raises ValueError for a path that leads out of the project."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts or "\0" in path:
        raise ValueError(f"{path!r} is not a path in a project")


def _plain_name(name: str) -> str:
    return name if name and "/" not in name and name not in (".", "..") else "project"


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
