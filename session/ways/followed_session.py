"""A session that another process has, as front ends use it: its events live, and the user's commands sent on.

What this process can do by itself it does: reading files, undoing hunks, locks. The session's own state
(journal, memory, accounts) belongs to the other process until this one takes it over.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from session.assist.surgery import Surgery
from session.base.closing import Closing
from session.base.events import (
    Event,
    HunkOpened,
    HunkTyped,
    ModelChosen,
    Notice,
    OwnerGone,
    PromptQueued,
    PromptSubmitted,
    PromptsUnqueued,
    TurnEnded,
)
from session.base.tasks import BackgroundTasks
from session.base.waiting_prompts import WaitingPrompts
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
from session.project.unsaved_texts import UnsavedTexts
from session.record.journal.reading import read_past
from session.record.outputs import Outputs
from session.record.sharing.elsewhere import Elsewhere
from session.record.sharing.host import Presence
from session.record.sharing.messages import (
    AfterHunk,
    Answer,
    Interrupt,
    Queue,
    Refused,
    Submit,
    TakeOver,
    Unqueue,
)
from session.record.sharing.standing import Standing
from session.record.usage import Accounts
from session.session import Session
from session.setup.opening import Opening
from session.turn.resume import ResumedSession
from session.turn.turn_memory import TurnMemory
from session.ways.following_link import Link

if TYPE_CHECKING:
    from session.record.sharing.messages import Message

FOLLOWING = {
    Presence.NOBODY: "it lost its screen: its turn goes on, and this one takes it over when that is done",
    Presence.SCREEN: "it is open there too; /takeover brings it here",
    Presence.SCRIPT: "it is a spark exec, and free once its turn is over",
}


class FollowedSession:
    """Implements ``tui.front.port.SessionPort`` by a :class:`Link`."""

    def __init__(self, opening: Opening, journal: Path, link: Link) -> None:
        """``journal`` is the session's. Raises StoreError if it cannot be read. Called in a thread."""
        self.journal = journal
        self._link = link
        self._welcome = link.welcome
        past = read_past(journal, (link.welcome.part, link.welcome.journal)).events
        before, self._turn_so_far = _split(past, link.welcome.turn)
        followed = ResumedSession(before, (), TurnMemory(), 0)
        self._local = Session(opening, resume=journal, followed=followed)
        self.name, self.folders = self._local.name, self._local.folders
        self._tasks = BackgroundTasks(self._local.publish)
        self._turn = ""
        self._waiting = WaitingPrompts()
        self._taken_back: list[PromptsUnqueued] = []
        """What was taken back here, and what the other process has not told yet."""
        self._unheard: list[str] = []
        """Prompts that were sent, and which the other process has not told to have."""
        self._free = False
        self.draft, self.copied, self.prompts = self._local.draft, self._local.copied, self._local.prompts
        self.typing, self.side = self._local.typing, self._local.side
        self.assist, self.commands = self._local.assist, self._local.commands

    @property
    def elsewhere(self) -> tuple[Elsewhere, ...]:
        """None: this is the one."""
        return ()

    def leave(self) -> None:
        """Give up following before it was opened."""
        self._link.leave()

    # What the other process does.

    @property
    def owner(self) -> str:
        """The process that has the session, as in ``process 12``."""
        return f"process {self._welcome.pid}"

    @property
    def standing(self) -> Standing:
        """This session's own."""
        return self

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return bool(self._turn)

    @property
    def goes_on(self) -> bool:
        """Never: what runs, runs in the other process."""
        return False

    @property
    def alone(self) -> bool:
        """Never: the other process has the session."""
        return False

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Queued prompts, and those that the other process never told to have."""
        return (*(text for _, text in self._waiting.listed), *self._unheard)

    def submit(self, text: str, *, typed: str | None = None) -> None:
        """Send a prompt, as a redirect while a turn runs."""
        self._unheard.append(text)
        self._send(Submit(text, typed))

    def queue(self, text: str) -> None:
        """Send a prompt after the running turn."""
        self._unheard.append(text)
        self._send(Queue(text))

    def after_hunk(self, text: str) -> None:
        """Redirect once the hunk that is being typed has ended."""
        self._unheard.append(text)
        self._send(AfterHunk(text))

    def unqueue(self, number: int | None = None) -> list[str]:
        """Take back the prompts that wait and that this process knows of, or the one with this number."""
        taken = self._waiting.take_back(number)
        if taken:
            self._taken_back += taken
            self._send(Unqueue(number))
        return [text for event in taken for text in event.texts]

    def interrupt(self) -> None:
        """Ask the other process to stop the turn, and stop waiting for a lock here."""
        self._local.interrupt()
        if self._turn:
            self._send(Interrupt())

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
        """Answer what is held."""
        self._send(Answer(held, land, rest, why, None if new is None else tuple(new), scope))
        return True

    def take_over(self) -> None:
        """Ask for the session; :class:`OwnerGone` tells when it is free."""
        self._send(TakeOver())

    async def open(self) -> None:
        """Show the running turn so far, and all that happens from now on."""
        self._local.watch()
        presence = Presence(self._welcome.presence) if self._welcome.presence in _PRESENCES else None
        why = FOLLOWING[presence] if presence is not None else "it is open there"
        self.publish(
            ModelChosen(
                model=self._welcome.model,
                effort=self._welcome.effort,
                window=self._local.models.window_tokens,
                budget=self._local.models.budget_tokens,
                fast=self._welcome.fast,
                plan=self._local.models.plan,
            )
        )
        for event in _with_pieces(self._turn_so_far, self._link.caught_up):
            self.publish(event)
        self.publish(Notice("info", f"following session {self.journal.stem} of {self.owner}: {why}"))
        self._tasks.start(self._follow(), "following the session")

    async def close(self) -> None:
        """Follow no longer. The other process goes on."""
        self._link.leave()
        await self.closing.run(("following", self._tasks.close))
        await self._local.close()

    @property
    def closing(self) -> Closing:
        """How the end of this process's part waits."""
        return self._local.closing

    async def _follow(self) -> None:
        async for message in self._link.messages():
            if isinstance(message, Refused):
                self.publish(Notice("warning", message.why))
            else:
                self.publish(message.event)
        self._free = True
        self.publish(OwnerGone())

    def _send(self, message: Message) -> None:
        if self._free:
            self.publish(Notice("warning", f"{self.owner} has ended; this process takes over"))
        self._link.send(message)

    def publish(self, event: Event) -> None:
        """Tell that something happened to the session, here."""
        match event:
            case PromptSubmitted(turn=turn, text=text):
                self._turn = turn
                self._heard(text)
            case PromptQueued(text=text):
                self._heard(text)
            case PromptsUnqueued() if event in self._taken_back:
                self._taken_back.remove(event)
                self._local.publish(event)
                return
            case TurnEnded(turn=turn) if turn == self._turn:
                self._turn = ""
            case _:
                pass
        self._waiting.take(event)
        self._local.publish(event)

    def _heard(self, text: str) -> None:
        if text in self._unheard:
            self._unheard.remove(text)

    # What this process does itself.

    @property
    def provider(self) -> str:
        """The provider that this process would use."""
        return self._local.provider

    @property
    def review(self) -> bool:
        """Whether hunks are held once this process has the session."""
        return self._local.review

    @review.setter
    def review(self, wanted: bool) -> None:
        self._local.review = wanted

    @property
    def root(self) -> Path:
        """The project's folder."""
        return self._local.root

    @property
    def files(self) -> ProjectFiles:
        """The project's files."""
        return self._local.files

    @property
    def unsaved(self) -> UnsavedTexts:
        """The unsaved texts of this process's editor."""
        return self._local.unsaved

    @property
    def landing_pause(self) -> LandingPause:
        """Of this process, in which nothing lands."""
        return self._local.landing_pause

    @property
    def hunks(self) -> HunkCommands:
        """The landed hunks, which any process can undo."""
        return self._local.hunks

    @property
    def locks(self) -> LockCommands:
        """The project's locks."""
        return self._local.locks

    @property
    def models(self) -> ModelCommands:
        """The model that this process would use."""
        return self._local.models

    @property
    def usage(self) -> Accounts:
        """The accounts as far as the past tells them."""
        return self._local.usage

    @property
    def context(self) -> ContextCommands:
        """Pins and removals as far as they are known."""
        return self._local.context

    @property
    def checks(self) -> CheckCommands:
        """The project's checks."""
        return self._local.checks

    @property
    def surgery(self) -> Surgery:
        """Taking hunks out with those that depend on them."""
        return self._local.surgery

    @property
    def outputs(self) -> Outputs:
        """The whole outputs that are kept in this process: those of its own commands."""
        return self._local.outputs

    @property
    def shell(self) -> Shell:
        """The commands that the user runs."""
        return self._local.shell

    @property
    def race(self) -> RaceCommands:
        """Races, which only the process that has the session can start."""
        return self._local.race

    @property
    def compaction(self) -> CompactionCommands:
        """The conversation's ledger as far as it is known."""
        return self._local.compaction

    @property
    def trust(self) -> TrustCommands:
        """Nothing is asked while another process has the session."""
        return self._local.trust

    def listen(self) -> AsyncIterator[Event]:
        """All events from now on."""
        return self._local.listen()

    def past(self) -> list[Event]:
        """The events before the running turn."""
        return self._local.past()

    def wake(self) -> None:
        """Check for changed files."""
        self._local.wake()


_PRESENCES = {each.value for each in Presence}


def _split(past: Sequence[Event], turn: str) -> tuple[tuple[Event, ...], tuple[Event, ...]]:
    """The events before the running ``turn``, and those since it began."""
    for place in range(len(past) - 1, -1, -1):
        event = past[place]
        if turn and isinstance(event, PromptSubmitted) and event.turn == turn:
            return tuple(past[:place]), tuple(past[place:])
    return tuple(past), ()


def _with_pieces(events: Sequence[Event], caught_up: Sequence[Event]) -> Iterator[Event]:
    """``events`` of the journal, with what was typed of each hunk behind its beginning."""
    typed: dict[str, list[HunkTyped]] = {}
    for event in caught_up:
        if isinstance(event, HunkTyped):
            typed.setdefault(event.hunk, []).append(event)
    for event in events:
        yield event
        if isinstance(event, HunkOpened):
            yield from typed.pop(event.hunk, [])
    yield from (event for event in caught_up if not isinstance(event, HunkTyped))
