"""The part of a session that the front ends use.

``session.session.Session`` implements it. Naming it here keeps it checked by the type checker, and readable
on one page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from session.assist.assistance import Assistance
    from session.assist.side_requests import SideRequests
    from session.assist.surgery import Surgery
    from session.base.closing import Closing
    from session.base.events import Event, Usage
    from session.base.storage.folders import ProjectFolders
    from session.base.storage.private_files import CopiedText
    from session.checks.shell import Shell
    from session.commands.check_commands import CheckCommands
    from session.commands.compaction_commands import CompactionCommands
    from session.commands.context_commands import ContextCommands
    from session.commands.hunk_commands import HunkCommands
    from session.commands.lock_commands import LockCommands
    from session.commands.model_commands import ModelCommands
    from session.commands.race_commands import RaceCommands
    from session.commands.trust_commands import TrustCommands
    from session.project.edit_thread import LandingPause
    from session.project.open_files import ProjectFiles
    from session.project.prompts import Draft, PromptHistory
    from session.project.unsaved_texts import UnsavedTexts
    from session.record.outputs import Outputs
    from session.record.sharing.elsewhere import Elsewhere
    from session.record.sharing.standing import Standing
    from session.record.usage import Spent
    from session.setup.session_tools import CommandOffer


class Accounted(Protocol):
    """The token and cost accounts of a session."""

    @property
    def turns(self) -> Sequence[Usage]:
        """The figures of each turn, oldest first."""
        ...

    @property
    def total(self) -> Spent:
        """The sum over the session."""
        ...

    async def today(self) -> tuple[Spent, Spent]:
        """The sums over the day: of turns, and of side requests."""
        ...


class SessionPort(Protocol):
    """One conversation in one folder. Commands return at once; events tell what came of them."""

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        ...

    @property
    def standing(self) -> Standing:
        """Who has the session, this process or another."""
        ...

    @property
    def elsewhere(self) -> Sequence[Elsewhere]:
        """The sessions of this project that other processes had when this one was opened."""
        ...

    @property
    def provider(self) -> str:
        """The provider of the model."""
        ...

    @property
    def root(self) -> Path:
        """The project's folder."""
        ...

    @property
    def files(self) -> ProjectFiles:
        """Opens, saves and lists the project's files."""
        ...

    @property
    def unsaved(self) -> UnsavedTexts:
        """The unsaved texts of the editor, kept through every end."""
        ...

    @property
    def commands(self) -> CommandOffer:
        """How the model's commands are run."""
        ...

    async def open(self) -> None:
        """Connect, and start reading and watching the project."""
        ...

    async def close(self) -> None:
        """Stop everything, with all writes finished."""
        ...

    @property
    def closing(self) -> Closing:
        """How :meth:`close` waits, and how to hurry it."""
        ...

    def listen(self) -> AsyncIterator[Event]:
        """Every event from this call on."""
        ...

    @property
    def outputs(self) -> Outputs:
        """The whole outputs of calls and commands."""
        ...

    def publish(self, event: Event) -> None:
        """Tell that something happened to the session."""
        ...

    def past(self) -> list[Event]:
        """The events of a session that is resumed."""
        ...

    def submit(self, text: str, *, typed: str | None = None) -> None:
        """Send a prompt; while a turn runs, interrupt it first (a redirect). ``typed`` is what of it the user
        typed, for the history of prompts, where that is not all of it."""
        ...

    def queue(self, text: str) -> None:
        """Send a prompt after the running turn."""
        ...

    def after_hunk(self, text: str) -> None:
        """Redirect once the hunk that is being typed has ended; at once where there is none."""
        ...

    def unqueue(self, number: int | None = None) -> list[str]:
        """Remove the queued prompt with this number (from 1; 0: the one that waits for a hunk), or all of
        them, and return them."""
        ...

    def interrupt(self) -> None:
        """Stop the running turn before this returns."""
        ...

    def answer(
        self,
        held: str,
        *,
        land: bool,
        rest: bool = False,
        why: str = "",
        new: Sequence[str] | None = None,
        scope: str = "",
    ) -> bool:
        """Apply (``land``) or reject a held hunk, allow or decline a held tool call; with ``rest`` also
        everything that the turn holds later. With a hunk, ``why`` goes to the model with a no, and ``new``
        are the lines that land in place of its own. With a call, ``scope`` is how long a yes holds for others
        like it: ``session`` or ``always``. False when it is not held, or cannot be edited yet."""
        ...

    review: bool
    """Whether every hunk of the turns to come is held until the user agrees."""

    @property
    def landing_pause(self) -> LandingPause:
        """Pauses landing while it is undecided whether a key stops the turn; for any thread."""
        ...

    @property
    def hunks(self) -> HunkCommands:
        """The landed hunks, to undo and redo them."""
        ...

    @property
    def locks(self) -> LockCommands:
        """The locked files and lines."""
        ...

    @property
    def models(self) -> ModelCommands:
        """The model, its effort and its tier, and what else can be chosen."""
        ...

    @property
    def usage(self) -> Accounted:
        """Tokens and cost of the session and of the day."""
        ...

    @property
    def context(self) -> ContextCommands:
        """Pins, removals, and what the window holds."""
        ...

    @property
    def race(self) -> RaceCommands:
        """Races of attempts."""
        ...

    @property
    def checks(self) -> CheckCommands:
        """The project's checks, run and followed."""
        ...

    @property
    def surgery(self) -> Surgery:
        """Taking hunks out with those that depend on them."""
        ...

    @property
    def shell(self) -> Shell:
        """The commands that the user runs."""
        ...

    @property
    def compaction(self) -> CompactionCommands:
        """Compaction of the conversation, and the lines kept through it."""
        ...

    @property
    def assist(self) -> Assistance:
        """Reviews on save, refactors in place and next edits."""
        ...

    @property
    def side(self) -> SideRequests:
        """The requests beside the answers, and their budget."""
        ...

    @property
    def trust(self) -> TrustCommands:
        """The question about files of the project that would instruct the model, and its answer."""
        ...

    def typing(self) -> None:
        """Tell that a key was pressed in a text."""
        ...

    def wake(self) -> None:
        """Tell that a request is likely soon."""
        ...

    @property
    def draft(self) -> Draft:
        """The unsent text, kept when the session is closed."""
        ...

    @property
    def copied(self) -> CopiedText:
        """A copied text that no clipboard took."""
        ...

    @property
    def prompts(self) -> PromptHistory:
        """Earlier prompts of this project."""
        ...

    name: str
    """The session's name, by which it is resumed."""

    folders: ProjectFolders
    """The folders in which the project's state is kept."""
