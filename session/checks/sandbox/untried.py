"""A sandbox whose kind shows with its first command: an overlay, or a copy where the system refuses one.

Asking the system beforehand would take as long as a command does. A sandbox that is refused ends before its
command starts, so nothing is run twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from session.checks.sandbox.command import Command
from session.checks.sandbox.copy import CopySandbox
from session.checks.sandbox.edits import Edits
from session.checks.sandbox.overlay import OverlaySandbox
from session.checks.sandbox.result import Outcome, SandboxRefused, Walls


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

    async def remove(self) -> None:
        """See :class:`Sandbox`."""
        await self._sandbox.remove()
