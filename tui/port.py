"""What the screen needs of a session: the commands it gives and the few facts it reads.

``session.session.Session`` fits it; naming it here keeps the screen's half of the contract checked
by the type checker and readable on one page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from session.commands.compaction_commands import CompactionCommands
    from session.commands.context_commands import ContextCommands
    from session.commands.hunk_commands import HunkCommands
    from session.commands.lock_commands import LockCommands
    from session.commands.model_commands import ModelCommands
    from session.events import Event, Usage
    from session.project.open_files import ProjectFiles
    from session.usage.totals import Spent


class Accounted(Protocol):
    """The token and cost accounts of a session."""

    @property
    def turns(self) -> Sequence[Usage]:
        """The turns' figures, oldest first."""
        ...

    @property
    def total(self) -> Spent:
        """All turns of the session."""
        ...

    async def today(self) -> Spent:
        """All turns of the day."""
        ...


class SessionPort(Protocol):
    """One conversation in one folder. Commands return at once; what became of them comes as events."""

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        ...

    @property
    def provider(self) -> str:
        """Who serves it."""
        ...

    @property
    def root(self) -> Path:
        """The project's folder."""
        ...

    @property
    def files(self) -> ProjectFiles:
        """The project's files, to open and to save."""
        ...

    async def open(self) -> None:
        """Begin: connect, scan, watch."""
        ...

    async def close(self) -> None:
        """End, everything written."""
        ...

    def listen(self) -> AsyncIterator[Event]:
        """All events from this call on."""
        ...

    def past(self) -> list[Event]:
        """The events of a session that is resumed."""
        ...

    def submit(self, text: str) -> None:
        """A prompt; a redirect while a turn runs."""
        ...

    def queue(self, text: str) -> None:
        """A prompt for after the running turn."""
        ...

    def unqueue(self) -> list[str]:
        """Take back the prompts that were queued."""
        ...

    def interrupt(self) -> None:
        """Stop the turn, at once."""
        ...

    def answer(self, held: str, *, land: bool, rest: bool = False) -> bool:
        """Land or decline a held hunk, allow or decline a held call."""
        ...

    @property
    def hunks(self) -> HunkCommands:
        """Its landed hunks, to take back and to land again."""
        ...

    @property
    def locks(self) -> LockCommands:
        """What no edit may change."""
        ...

    @property
    def models(self) -> ModelCommands:
        """Who answers: the model, its effort and tier, and those to choose from."""
        ...

    @property
    def usage(self) -> Accounted:
        """What it has taken, and what the day has."""
        ...

    @property
    def context(self) -> ContextCommands:
        """Pins, removals and what the window holds."""
        ...

    @property
    def compaction(self) -> CompactionCommands:
        """The conversation so far, to compact it and to keep lines of it."""
        ...

    def looking_at(self, paths: tuple[str, ...]) -> None:
        """The files the user has open."""
        ...

    def complete(self, prefix: str) -> Sequence[tuple[str, str]]:
        """The likeliest mentions for what stands behind an ``@``, each with what tells it from others."""
        ...

    def typing(self) -> None:
        """A key was pressed in a text."""
        ...

    def wake(self) -> None:
        """The user types: a request is likely soon."""
        ...

    def draft(self) -> str:
        """What was being typed when the session was last closed."""
        ...

    def save_draft(self, text: str) -> None:
        """Keep what is being typed."""
        ...

    def prompts(self) -> list[str]:
        """Earlier prompts of this project, oldest first."""
        ...
