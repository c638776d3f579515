"""Making a sandbox: an overlay where the system allows it, else a copy that says so.

Which one it is shows with its first command, since asking the system beforehand would take as long as a
command does. A sandbox that is refused ends before its command starts, so nothing is run twice.

The overlay stands at the project's own path, in Linux namespaces with walls around it.
"""

from __future__ import annotations

import asyncio
import marshal
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from session.base.storage.folders import cache_folder, config_folder, state_folder
from session.base.tasks import log_fault
from session.checks.sandbox.command import Command, Edits, End, Outcome, SandboxRefused, Walls, write
from session.checks.sandbox.fenced_copy import CopySandbox, TooLarge
from session.checks.sandbox.namespaces import PLAN, REPORT
from session.checks.sandbox.plan import View, plan, view
from session.checks.sandbox.sandbox_folder import Box, remove_leftovers, to_the_end
from session.checks.sandbox.syscall_filter import NoFilterError, namespace_filter
from session.checks.sandbox.written import Written, next_tick, written_in_layer
from session.tools.command.process import run_group

_WALLS = Path(__file__).with_name("namespaces.py")
_PACKAGES = Path(__file__).parents[3]
WRITTEN = Path("project", "upper")
"""The folder of the box that holds what is written to the project (``tree.py``)."""
_GRACE = 5.0
"""Seconds for the kernel to end what is in the sandbox; it takes milliseconds."""
_FILE_TOO_LARGE = 128 + signal.SIGXFSZ


def _filter() -> bytes:
    """The filter of system calls; empty for a machine without a table of them."""
    try:
        return namespace_filter()
    except NoFilterError:
        return b""


class OverlaySandbox:
    """Runs commands on ``project``; what they write lands in ``box``. One command at a time."""

    def __init__(self, project: Path, box: Box, view: View) -> None:
        self.root = project
        self.walls: Walls = "namespaces"
        self.note = ""
        self._box = box
        self._view = view
        self._began = 0
        self._gone: set[str] = set()
        """The files that are deleted in the sandbox, which its first process does before each command."""

    async def put(self, edits: Edits) -> None:
        """See :class:`Sandbox`. The overlay's upper layer is written, which no command has mounted now."""
        written = {path: content for path, content in edits.items() if content is not None}
        await to_the_end(partial(write, written, self._box.path / WRITTEN, self.root))
        self._gone = (self._gone | edits.keys()) - written.keys()

    async def run(self, command: Command, take: Callable[[bytes], bool]) -> Outcome:
        """See :class:`Sandbox`."""
        told = {"filter": _filter()} | plan(
            self._view,
            command.limits,
            project=self.root,
            box=self._box.path,
            network=command.network,
            gone=self._gone,
        )
        if command.keeps:
            self._began = await to_the_end(next_tick)
        plan_file = self._box.path / PLAN
        await to_the_end(partial(plan_file.write_bytes, marshal.dumps(told)))
        line = [sys.executable, "-I", "-S", str(_WALLS), str(_PACKAGES), str(plan_file), *command.line]
        seconds = command.seconds
        began = time.monotonic()
        control, held = os.pipe()
        try:
            with os.fdopen(control, "rb", buffering=0) as stdin:
                ended = await run_group(
                    line,
                    folder=Path("/"),
                    environ=command.environ,
                    seconds=seconds,
                    take=take,
                    stdin=stdin,
                    grace=_GRACE,
                )
        finally:
            os.close(held)
        took = time.monotonic() - began
        if ended.timed_out:
            return Outcome(End.TIME, ended.code, took, f"did not end within {seconds:g} s")
        if ended.cut:
            return Outcome(End.CUT, ended.code, took)
        return self._outcome(ended.code, took)

    async def written(self) -> Written:
        """See :class:`Sandbox`."""
        return await to_the_end(partial(written_in_layer, self._box.path / WRITTEN, self.root, self._began))

    def _outcome(self, code: int, took: float) -> Outcome:
        try:
            end, _, why = (self._box.path / REPORT).read_text("utf-8").partition("\n")
        except (OSError, ValueError) as problem:
            raise SandboxRefused(f"the sandbox ended without a report: {problem}") from problem
        if not end:
            raise SandboxRefused("the sandbox was ended before its command")
        if end == "failed":
            raise SandboxRefused(why)
        if code == _FILE_TOO_LARGE:
            return Outcome(End.DISK, code, took, "wrote a file that is larger than its limit")
        return Outcome(End(end), code, took, why)

    async def remove(self) -> None:
        """See :class:`Sandbox`."""
        await to_the_end(self._box.remove)


class Tried(Protocol):
    """Takes note of what the first command shows."""

    def allowed(self) -> None:
        """Overlays work here."""
        ...

    def refused(self, why: str) -> Awaitable[CopySandbox]:
        """They do not, and ``why``. Gives a copy instead. Raises OSError or SandboxRefused."""
        ...


class UntriedSandbox:
    """See :class:`Sandbox`. One command at a time."""

    def __init__(self, overlay: OverlaySandbox, tried: Tried) -> None:
        self._sandbox: OverlaySandbox | CopySandbox = overlay
        self._tried = tried
        self._untried = True
        self._edits: dict[str, bytes | None] = {}

    @property
    def root(self) -> Path:
        """See :class:`Sandbox`."""
        return self._sandbox.root

    @property
    def walls(self) -> Walls:
        """See :class:`Sandbox`; they stand after the first command."""
        return self._sandbox.walls

    @property
    def note(self) -> str:
        """See :class:`Sandbox`; it stands after the first command."""
        return self._sandbox.note

    async def put(self, edits: Edits) -> None:
        """See :class:`Sandbox`."""
        if self._untried:
            self._edits |= edits
        await self._sandbox.put(edits)

    async def run(self, command: Command, take: Callable[[bytes], bool]) -> Outcome:
        """See :class:`Sandbox`."""
        if not self._untried:
            return await self._sandbox.run(command, take)
        try:
            outcome = await self._sandbox.run(command, take)
        except SandboxRefused as problem:
            copy = await self._tried.refused(str(problem))
            refused, self._sandbox, self._untried = self._sandbox, copy, False
            await refused.remove()
            await copy.put(self._edits)
            return await copy.run(command, take)
        self._tried.allowed()
        self._untried = False
        return outcome

    async def written(self) -> Written:
        """See :class:`Sandbox`."""
        return await self._sandbox.written()

    async def remove(self) -> None:
        """See :class:`Sandbox`."""
        await self._sandbox.remove()


class Sandbox(Protocol):
    """The project as it is, in which commands can write without consequences."""

    @property
    def root(self) -> Path:
        """The folder in which commands see the project."""
        ...

    @property
    def walls(self) -> Walls:
        """The walls around commands. It stands after the first command."""
        ...

    @property
    def note(self) -> str:
        """The walls that this sandbox lacks, in words; empty if it has all of them. It stands after the first
        command."""
        ...

    async def put(self, edits: Edits) -> None:
        """Write files into the sandbox, or delete them there. No command may be running.

        Raises OSError if a file cannot be written.
        """
        ...

    async def run(self, command: Command, take: Callable[[bytes], bool]) -> Outcome:
        """Run ``command`` at the root without input; ``take`` gets its output and returns whether it wants
        more. When this returns or raises, none of the command's processes is left.

        Raises OSError if the command cannot be started, SandboxRefused if its walls cannot be built.
        """
        ...

    async def written(self) -> Written:
        """What commands with ``keeps`` did to the project; none may be running. Raises OSError."""
        ...

    async def remove(self) -> None:
        """Delete the sandbox with all that was written in it."""
        ...


class Sandboxes:
    """Makes sandboxes of ``project``. ``environ`` is the user's environment, and ``agreed`` tells whether the
    user lets commands run where the machine has no walls."""

    def __init__(
        self, project: Path, environ: Mapping[str, str], agreed: Callable[[], bool] = lambda: False
    ) -> None:
        self._project = project.resolve()
        self._environ = environ
        self._agreed = agreed
        self._parent = state_folder(environ) / "sandboxes"
        self._tried = False
        """Whether a command has shown that overlays work here."""
        self._refusal = self._known_refusal()
        self._clearing: asyncio.Future[None] | None = None

    async def make(self) -> Sandbox:
        """A new sandbox of the project as it is now. The first one also removes what killed processes left.

        Raises OSError if its folder cannot be made, SandboxRefused if the project can be neither overlaid
        nor copied.
        """
        if self._clearing is None:
            self._clearing = asyncio.ensure_future(asyncio.to_thread(self._clear))
        if self._refusal:
            return await self._copy()
        overlay = self._overlay(await self._box())
        return overlay if self._tried else UntriedSandbox(overlay, self)

    def allowed(self) -> None:
        """See :class:`Tried`."""
        self._tried = True

    async def refused(self, why: str) -> CopySandbox:
        """See :class:`Tried`."""
        self._refusal = why
        return await self._copy()

    async def _box(self) -> Box:
        return await to_the_end(partial(Box, self._parent), undo=Box.remove)

    async def _copy(self) -> CopySandbox:
        box = await self._box()
        copy = CopySandbox(self._project, box, self._refusal, self._view(), self._agreed)
        try:
            await to_the_end(copy.fill, stop=copy.stop)
        except TooLarge as problem:
            await copy.remove()
            raise SandboxRefused(f"{self._refusal}, and {problem}") from problem
        except BaseException:  # also when it is cancelled: half a copy is of no use
            await copy.remove()
            raise
        return copy

    def _known_refusal(self) -> str:
        """Why an overlay cannot be used here; empty where the first command is to show it."""
        if sys.platform != "linux":
            return "overlays need Linux"
        if self._parent.is_relative_to(self._project):
            return "the project contains spark's own folders"
        return ""

    def _clear(self) -> None:
        try:
            remove_leftovers(self._parent)
        except OSError as problem:
            log_fault("removing the sandboxes of killed processes", problem)

    def _overlay(self, box: Box) -> OverlaySandbox:
        return OverlaySandbox(self._project, box, self._view())

    def _view(self) -> View:
        private = [folder(self._environ) for folder in (config_folder, state_folder, cache_folder)]
        return view(self._project, Path.home(), self._environ, private)
