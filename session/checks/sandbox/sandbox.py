"""Making a sandbox: an overlay where the system allows it, else a copy that says so."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Protocol

from session.base.storage.folders import cache_folder, config_folder, state_folder
from session.base.tasks import log_fault
from session.checks.sandbox.command import Command
from session.checks.sandbox.copy import CopySandbox, TooLarge
from session.checks.sandbox.edits import Edits
from session.checks.sandbox.overlay import OverlaySandbox
from session.checks.sandbox.plan import View, view
from session.checks.sandbox.result import Outcome, SandboxRefused, Walls
from session.checks.sandbox.sandbox_folder import Box, remove_leftovers
from session.checks.sandbox.to_the_end import to_the_end
from session.checks.sandbox.untried import UntriedSandbox


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
