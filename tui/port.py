"""What the screen needs of a session: the commands it gives and the few facts it reads.

``session.session.Session`` fits it; naming it here keeps the screen's half of the contract checked
by the type checker and readable on one page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from session.commands.compaction_commands import Dialogue
    from session.commands.hunk_commands import LandedHunk
    from session.commands.window_commands import ContextCommands
    from session.events import Event, HunkRedone, HunkRefused, HunkUndone, Usage
    from session.journal.undoable_hunks import HunkNames
    from session.model_choice.served_models import ServedModels
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
    def model(self) -> str:
        """The model that answers."""
        ...

    @property
    def provider(self) -> str:
        """Who serves it."""
        ...

    @property
    def effort(self) -> str:
        """How long it may think."""
        ...

    @property
    def efforts(self) -> tuple[str, ...]:
        """What can be chosen as effort."""
        ...

    @property
    def served(self) -> ServedModels:
        """The models that can be chosen."""
        ...

    @property
    def window_tokens(self) -> int:
        """The model's context length, in tokens; 0 when unknown."""
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

    async def undo(self, hunk: str | None = None) -> HunkUndone | HunkRefused:
        """Take a hunk back, the last one by default."""
        ...

    async def redo(self, hunk: str | None = None) -> HunkRedone | HunkRefused:
        """Land an undone hunk again."""
        ...

    async def landed(self) -> Sequence[LandedHunk]:
        """Where the session's landed hunks stand now."""
        ...

    async def undo_turn(self) -> Sequence[HunkUndone | HunkRefused]:
        """Take back all hunks of the last turn."""
        ...

    def answer(self, held: str, *, land: bool, rest: bool = False) -> bool:
        """Land or decline a held hunk, allow or decline a held call."""
        ...

    def lock(self, target: str) -> str:
        """Lock a path or lines."""
        ...

    def unlock(self, target: str) -> str:
        """Take a lock away."""
        ...

    def locks(self) -> Sequence[str]:
        """What is locked."""
        ...

    @property
    def hunks(self) -> HunkNames:
        """Its hunks that can be taken back, and landed again."""
        ...

    @property
    def usage(self) -> Accounted:
        """What it has taken, and what the day has."""
        ...

    @property
    def prices(self) -> str:
        """What its costs are reckoned by, in a line."""
        ...

    @property
    def fast(self) -> bool:
        """Whether the faster tier is used."""
        ...

    @property
    def context(self) -> ContextCommands:
        """Pins, removals and what the window holds."""
        ...

    async def choose_model(self, name: str) -> str:
        """Another model from the next turn on."""
        ...

    def choose(self, *, effort: str | None = None, fast: bool | None = None) -> str:
        """Another effort or tier from the next turn on."""
        ...

    @property
    def dialogue(self) -> Dialogue:
        """The dialogue, to compact it and to keep lines of it."""
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
