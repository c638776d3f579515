"""A session that another process has: its events as they happen, and the user's commands sent on.

What this process can do by itself it does as in any session: reading files, undoing hunks, locks. The
session's own state (journal, memory, accounts) belongs to the other process until this one takes it over.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from edits.ledger.ledger import HunkRecord
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
from session.base.storage.private_files import StoreError
from session.base.tasks import BackgroundTasks
from session.base.waiting_prompts import WaitingPrompts
from session.record.journal.parts import SUFFIX
from session.record.journal.reading import read_past
from session.record.sharing.claim import SOCKET, SessionTakenError, take_dead
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
from session.record.sharing.standing import Elsewhere, Standing
from session.record.sharing.unattended import forget_word, killed_word, take_words
from session.session import Session
from session.setup.opening import Opening
from session.turn.resume import ResumedSession
from session.turn.turn_memory import TurnMemory
from session.ways.following_link import ANSWERS_WITHIN, Link, NobodyAnswersError, look_elsewhere

if TYPE_CHECKING:
    from session.record.sharing.messages import Message


PATIENCE = 10.0
"""Seconds for which a process that is about to end may keep a session without answering."""
_NAP = 0.05


def open_session(opening: Opening, resume: Path | None, *, join: bool) -> Session:
    """The session of the journal ``resume``; without one, with ``join``, a session of this project that lost
    its screen and works on; else a new one.

    Blocks: call it in a thread. Raises StoreError.
    """
    if resume is not None:
        return _resumed(opening, resume)
    folders = opening.workspace.folders
    others = list(look_elsewhere(folders.live))
    if join and (left := _left_alone(opening, others)) is not None:
        return left
    died = take_dead(folders.live)
    session = Session(opening)
    session.elsewhere = tuple(others)
    session.notes += tuple(each.line for each in others)
    session.notes += tuple(_told_of_dead(opening, died))
    session.notes += tuple(take_words(folders.live))
    return session


def _told_of_dead(opening: Opening, names: Sequence[str]) -> Iterator[str]:
    """What is to be said of the sessions whose processes were ended by force."""
    workspace = opening.workspace
    for name in names:
        hunks = [each for each in workspace.ledger.hunks() if each.session == name]

        def landed(turn: str, hunks: Sequence[HunkRecord] = hunks) -> list[str]:
            return [each.id for each in hunks if each.turn == turn and each.state != "undone"]

        with suppress(StoreError):  # it is listed as damaged
            if word := killed_word(workspace.folders.sessions, name, landed):
                yield word


def _resumed(opening: Opening, journal: Path) -> Session:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            session = Session(opening, resume=journal)
            forget_word(opening.workspace.folders.live, journal.stem)
            return session
        except SessionTakenError as taken:
            try:
                return _join(opening, journal)
            except NobodyAnswersError as problem:
                if taken.holder.stopped or time.monotonic() > until:
                    who = f"session {taken.name} is open in {taken.holder}"
                    raise StoreError(f"{who}, which does not answer; {taken.holder.remedy}") from problem
        time.sleep(_NAP)


def _left_alone(opening: Opening, others: Sequence[Elsewhere]) -> FollowedSession | None:
    """The newest session of the project that goes on without a screen."""
    for other in others:
        if other.presence == Presence.NOBODY:
            with suppress(NobodyAnswersError, StoreError):
                return _join(opening, opening.workspace.folders.sessions / f"{other.name}{SUFFIX}")
    return None


def _join(opening: Opening, journal: Path) -> FollowedSession:
    live = opening.workspace.folders.live
    link = Link(live / f"{journal.stem}{SOCKET}", ANSWERS_WITHIN)
    try:
        return FollowedSession(opening, journal, link)
    except BaseException:  # whatever it was, nobody else could close the link
        link.leave()
        raise


FOLLOWING = {
    Presence.NOBODY: "it lost its screen: its turn goes on, and this one takes it over when that is done",
    Presence.SCREEN: "it is open there too; /takeover brings it here",
    Presence.SCRIPT: "it is a spark exec, and free once its turn is over",
}


class FollowedSession(Session):
    """A session whose turns run in another process, which a :class:`Link` leads to."""

    def __init__(self, opening: Opening, journal: Path, link: Link) -> None:
        """``journal`` is the session's. Raises StoreError if it cannot be read. Called in a thread."""
        self._link = link
        self._welcome = link.welcome
        past = read_past(journal, (link.welcome.part, link.welcome.journal)).events
        before, self._turn_so_far = _split(past, link.welcome.turn)
        super().__init__(opening, resume=journal, followed=ResumedSession(before, (), TurnMemory(), 0))
        self.standing = _Theirs(self)
        self._following = BackgroundTasks(self.publish)
        self._turn = ""
        self._waiting = WaitingPrompts()
        self._taken_back: list[PromptsUnqueued] = []
        """What was taken back here, and what the other process has not told yet."""
        self._unheard: list[str] = []
        """Prompts that were sent, and which the other process has not told to have."""
        self._free = False

    def leave(self) -> None:
        """Give up following before it was opened."""
        self._link.leave()

    @property
    def owner(self) -> str:
        """The process that has the session, as in ``process 12``."""
        return f"process {self._welcome.pid}"

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return bool(self._turn)

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
        super().interrupt()
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
        self.watch()
        presence = Presence(self._welcome.presence) if self._welcome.presence in _PRESENCES else None
        why = FOLLOWING[presence] if presence is not None else "it is open there"
        self._tell(
            ModelChosen(
                model=self._welcome.model,
                effort=self._welcome.effort,
                window=self.models.window_tokens,
                budget=self.models.budget_tokens,
                fast=self._welcome.fast,
                plan=self.models.plan,
            )
        )
        for event in _with_pieces(self._turn_so_far, self._link.caught_up):
            self._tell(event)
        self.publish(Notice("info", f"following session {self.name} of {self.owner}: {why}"))
        self._following.start(self._follow(), "following the session")

    async def close(self) -> None:
        """Follow no longer. The other process goes on."""
        self._link.leave()
        await self.closing.run(("following", self._following.close))
        await super().close()

    async def _follow(self) -> None:
        async for message in self._link.messages():
            if isinstance(message, Refused):
                self.publish(Notice("warning", message.why))
            else:
                self._tell(message.event)
        self._free = True
        self.publish(OwnerGone())

    def _send(self, message: Message) -> None:
        if self._free:
            self.publish(Notice("warning", f"{self.owner} has ended; this process takes over"))
        self._link.send(message)

    def _tell(self, event: Event) -> None:
        """Tell here what happened to the session there."""
        match event:
            case PromptSubmitted(turn=turn, text=text):
                self._turn = turn
                self._heard(text)
            case PromptQueued(text=text):
                self._heard(text)
            case PromptsUnqueued() if event in self._taken_back:
                self._taken_back.remove(event)
                self.publish(event)
                return
            case TurnEnded(turn=turn) if turn == self._turn:
                self._turn = ""
            case _:
                pass
        self._waiting.take(event)
        self.publish(event)

    def _heard(self, text: str) -> None:
        if text in self._unheard:
            self._unheard.remove(text)


class _Theirs(Standing):
    """The standing of a session that another process has: nothing of it goes on here."""

    def __init__(self, session: FollowedSession) -> None:
        super().__init__(session.folders, session.name, followed=True)
        self._session = session
        self.owner = session.owner

    @property
    def alone(self) -> bool:
        """Never: the other process has the session."""
        return False

    @property
    def unanswered(self) -> tuple[str, ...]:
        """Prompts that were sent and did not become a turn there."""
        return self._session.unanswered

    def take_over(self) -> None:
        """Ask the other process for the session."""
        self._session.take_over()


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
