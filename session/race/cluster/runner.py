"""Runs the checks of attempts on a cluster, and here where the cluster cannot judge.

The project as it is, without edits, is judged here. Each check also judges it once on the cluster: where that
says something else, something of the project did not travel or is not installed there, and the check's
attempts are judged here. The user is told each time that the cluster is not used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from session.checks.check import Check
from session.checks.finding import Status, Verdict
from session.checks.runner import CheckRunner
from session.checks.sandbox.command import Edits, SandboxRefused
from session.checks.sandbox.sandbox import Sandboxes
from session.race.cluster.content import Content, ContentReader, TooLarge
from session.race.cluster.dask_link import ClusterError, DaskLink
from session.race.cluster.tools import Tools, programs
from session.race.cluster.worker import Job, installed
from session.setup.user_tables import ClusterSettings

Tell = Callable[[str], None]
"""Tells the user a line."""


class Cluster:
    """The cluster of one session: its link stays open between races."""

    def __init__(self, settings: ClusterSettings, project: Path) -> None:
        self.address = settings.address
        self._settings = settings
        self._reader = ContentReader(project, settings.files)
        self._link: DaskLink | None = None
        self._alone = asyncio.Lock()
        self.odd: dict[str, str] = {}
        """The workers whose tools differ, and in what."""

    async def link(self) -> DaskLink:
        """The link, connected. Raises ClusterError."""
        async with self._alone:
            if self._link is not None and not self._link.open_still:
                await self._link.close()
                self._link = None
            if self._link is None:
                self.odd.clear()
                self._link = await DaskLink.open(self._settings)
            return self._link

    async def content(self) -> Content:
        """The project as it is now. Raises ClusterError."""
        async with self._alone:
            try:
                return await asyncio.to_thread(self._reader.read)
            except (TooLarge, OSError) as problem:
                raise ClusterError(str(problem)) from problem

    async def hold(self) -> None:
        """Keep the link until this is cancelled, then close it."""
        try:
            await asyncio.Event().wait()
        finally:
            if self._link is not None:
                await self._link.close()


class ClusterRunner:
    """Runs the checks of one race. ``slots`` is the number of checks that run here at a time."""

    def __init__(
        self,
        cluster: Cluster,
        here: CheckRunner,
        sandboxes: Sandboxes,
        environ: Mapping[str, str],
        tell: Tell,
        slots: int,
    ) -> None:
        self._cluster = cluster
        self._here = here
        self._sandboxes = sandboxes
        self._environ = environ
        self._tell = tell
        self._slots = asyncio.Semaphore(slots)
        self._content: asyncio.Task[tuple[DaskLink, Content]] | None = None
        self._usable: dict[str, asyncio.Task[Tools | None]] = {}
        """For each check, the tools that a worker needs; None where the cluster cannot judge it."""
        self._told: set[str] = set()

    async def run(
        self, check: Check, changed: Sequence[str] | None = None, *, edits: Edits | None = None
    ) -> Verdict:
        """See :class:`RunsChecks`."""
        if edits is None:
            judged = asyncio.create_task(self._run_here(check, changed, None))
            if check.name not in self._usable:
                usable = self._compare(check, judged)
                self._usable[check.name] = asyncio.create_task(usable, name="comparing")
            try:
                return await asyncio.shield(judged)
            except asyncio.CancelledError:
                judged.cancel()
                raise
        comparing = self._usable.get(check.name)
        tools = await asyncio.shield(comparing) if comparing is not None else None
        if tools is not None:
            try:
                return await self._run_there(check, changed, edits, tools)
            except ClusterError as problem:
                self._say_not_used(str(problem))
        return await self._run_here(check, changed, edits)

    async def close(self) -> None:
        """End what this has begun."""
        tasks = [*self._usable.values(), *([self._content] if self._content else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run_here(self, check: Check, changed: Sequence[str] | None, edits: Edits | None) -> Verdict:
        async with self._slots:
            return await self._here.run(check, changed, edits=edits)

    async def _run_there(
        self, check: Check, changed: Sequence[str] | None, edits: Edits, tools: Tools
    ) -> Verdict:
        """Run a check on a worker that has ``tools``. Raises ClusterError."""
        if self._content is None:
            self._content = asyncio.create_task(self._prepare(), name="reading for the cluster")
        link, content = await asyncio.shield(self._content)
        job = Job("", content.key, check, changed, dict(edits), tools)
        while True:
            answer = await link.judge(job, content, self._cluster.odd)
            if answer.verdict is not None:
                return replace(answer.verdict, check=check, where=answer.worker)
            if answer.worker not in self._cluster.odd:
                self._cluster.odd[answer.worker] = answer.differs
                self._say(f"{answer.worker} does not judge: {answer.differs}")

    async def _prepare(self) -> tuple[DaskLink, Content]:
        """Connect, and read the project as it is when the race begins. Raises ClusterError."""
        content, link = await asyncio.gather(self._cluster.content(), self._cluster.link())
        if content.held_back:
            self._say(f"{content.held_back} files that may hold keys do not go to the cluster")
        return link, content

    async def _compare(self, check: Check, judged: asyncio.Task[Verdict]) -> Tools | None:
        """The tools that ``check`` needs, if the cluster says of the project what was said here."""
        try:
            tools = await installed(self._sandboxes, self._environ, programs(check.command))
            there = await self._run_there(check, None, {}, tools)
        except (ClusterError, SandboxRefused, OSError) as problem:
            self._say_not_used(str(problem))
            return None
        here = await asyncio.shield(judged)
        if here.status is not there.status:
            why = f" ({there.why})" if there.status is Status.UNCLEAR else ""
            self._say(
                f"{check.name} says {there.status}{why} of the project on the cluster, and {here.status} "
                "here: its attempts are judged here"
            )
            return None
        return tools

    def _say_not_used(self, why: str) -> None:
        self._say(f"the cluster {self._cluster.address} is not used: {why}; checks run on this machine")

    def _say(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._tell(text)
