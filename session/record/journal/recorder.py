"""Publishes the events of a session: first to its journal, then to subscribers and listeners.

Keeps this process's own keys out of events, also where a server repeats one in pieces.

Makes a session's journal durable in a thread of its own, so that nothing waits for the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, fields, replace
from threading import Thread
from typing import Any

from session.base.events import (
    AttemptProgress,
    CheckStarted,
    CommandOutput,
    CommandStarted,
    ConnectionChanged,
    DialogueCompacted,
    Event,
    FindingClosed,
    FindingReported,
    HunkRedone,
    HunkTyped,
    HunkUndone,
    NextEditOffered,
    NextEditsOver,
    Notice,
    OwnerGone,
    PromptSubmitted,
    ReadingHeld,
    ReadingProgress,
    ReasoningDelta,
    SaveReviewed,
    TakeoverAsked,
    TextDelta,
    ToolOutput,
    TurnEnded,
)
from session.base.storage.private_files import StoreError
from session.base.text.masking import mask, start_of_key
from session.record.journal.journals import LONGEST_HELD, Journal
from session.record.journal.session_list import BEGINNINGS

LONGEST_WAIT = 0.5
"""Seconds for which the end of a session waits for a slow disk. What was written is not lost by quitting: the
kernel has it."""


class Upkeep:
    """Runs :meth:`Journal.upkeep` when asked to, one at a time.

    ``ended`` is called on the event loop after each, with the error or None.
    """

    def __init__(self, journal: Journal, ended: Callable[[OSError | None], None]) -> None:
        self._journal = journal
        self._ended = ended
        self._thread: Thread | None = None
        self._again = False

    def request(self) -> None:
        """Make durable what was written until now; returns at once."""
        if self._thread is not None:
            self._again = True
            return
        loop = asyncio.get_running_loop()

        def end(problem: OSError | None) -> None:
            self._thread = None
            self._ended(problem)
            if self._again:
                self._again = False
                self.request()

        self._begin(lambda problem: loop.call_soon_threadsafe(end, problem))

    def finish(self) -> None:
        """Make durable what was written, but wait no longer than ``LONGEST_WAIT`` for it."""
        until = time.monotonic() + LONGEST_WAIT
        if self._thread is not None:
            self._thread.join(LONGEST_WAIT)
            if self._thread.is_alive():
                return
        self._begin(lambda problem: None)
        if self._thread is not None:
            self._thread.join(max(0.0, until - time.monotonic()))

    def _begin(self, tell: Callable[[OSError | None], object]) -> None:
        try:
            work = self._journal.upkeep()
        except OSError as problem:  # too many files are open
            tell(problem)
            return
        if work is None:
            return

        def run() -> None:
            problem = None
            try:
                work()
            except OSError as caught:
                problem = caught
            with contextlib.suppress(RuntimeError):  # the event loop has ended
                tell(problem)

        self._thread = Thread(target=run, name="journal upkeep", daemon=True)
        self._thread.start()


Piece = TextDelta | ReasoningDelta | HunkTyped | ToolOutput
"""An event that brings a text in pieces, which a server may cut anywhere."""


class KeyMask:
    """Masks the known keys in events. What could be the beginning of a key is held back until the next piece
    of the same text, or any other event, shows whether it is one."""

    def __init__(self) -> None:
        self._held: Piece | None = None

    def take(self, event: Event) -> list[Event]:
        """What may be told now that ``event`` has come, in order."""
        if not isinstance(event, Piece):
            return [*self.rest(), masked(event)]
        before: list[Event] = []
        held = self._held
        if held is not None:
            if replace(held, text="") == replace(event, text=""):
                self._held = None
                event = replace(event, text=held.text + event.text)
            else:
                before = self.rest()
        text = mask(event.text)
        start = start_of_key(text)
        if start < len(text):
            self._held = replace(event, text=text[start:])
        return [*before, replace(event, text=text[:start])] if start else before

    def rest(self) -> list[Event]:
        """What was held back, now that nothing more of its text comes."""
        held, self._held = self._held, None
        return [held] if held is not None else []


def masked(event: Event) -> Event:
    """``event`` without the known keys in any of its texts."""
    changed: dict[str, Any] = {}
    for field in fields(event):
        value = getattr(event, field.name)
        new = value
        if isinstance(value, str):
            new = mask(value)
        elif isinstance(value, tuple):
            new = tuple(mask(each) if isinstance(each, str) else each for each in value)
        if new != value:
            changed[field.name] = new
    return replace(event, **changed) if changed else event


UNJOURNALLED = (
    HunkTyped,
    ToolOutput,
    CheckStarted,
    CommandOutput,
    CommandStarted,
    ConnectionChanged,
    ReadingHeld,
    ReadingProgress,
    AttemptProgress,
    TakeoverAsked,
    OwnerGone,
    FindingReported,
    FindingClosed,
    SaveReviewed,
    NextEditOffered,
    NextEditsOver,
)
"""Events that are not journalled: a later event says the same, or they mean nothing after a restart."""
DURABLE = (PromptSubmitted, TurnEnded, HunkUndone, HunkRedone, DialogueCompacted)
"""Events after which the journal is made durable: a loss of power must not take them. Landed hunks are in the
ledger, which is durable before each write."""


@dataclass(frozen=True, slots=True)
class _Subscriber:
    take: Callable[[Event], None]
    kinds: tuple[type[Event], ...]
    lost: str


class Recorder:
    """Publishes the events of one session, on the event loop.

    If the journal cannot be written, the user is told once and the session goes on. The journal gets the
    missing events as soon as it can be written again.
    """

    def __init__(self, journal: Journal | None) -> None:
        """``journal`` is None for a session that another process writes."""
        self._journal = journal
        self._failed = False
        self._subscribers: list[_Subscriber] = []
        self._takers: dict[type[Event], list[_Subscriber]] = {}
        """Who takes which type of event; made as the types come."""
        self._queues: list[asyncio.Queue[Event | None]] = []
        self._closed = False
        self._mask = KeyMask()
        self.empty = True
        """Whether nothing was journalled but what every session begins with."""
        self._flushing: asyncio.TimerHandle | None = None
        """Set while collected text waits in the journal to be written."""
        self._upkeep = Upkeep(journal, self._kept) if journal is not None else None
        self._unkept = False
        """Whether the user was told that the journal cannot be made durable."""

    def subscribe(self, take: Callable[[Event], None], *kinds: type[Event], lost: str = "") -> None:
        """Call ``take`` with every later event of these ``kinds``, or of any kind where none is named, in the
        order of subscription and before all listeners.

        If it raises StoreError, the user is told the problem and ``lost``, what is missing because of it.
        Any other error is a fault of spark. The event loop tells it, and nobody else misses the event.
        """
        self._subscribers.append(_Subscriber(take, kinds, lost))
        self._takers.clear()

    def listen(self) -> AsyncIterator[Event]:
        """All events from this call on, up to :meth:`close`."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._queues.append(queue)
        if self._closed:
            queue.put_nowait(None)
        return self._drain(queue)

    def publish(self, event: Event) -> None:
        """Write ``event`` to the journal, then to subscribers and listeners, all without keys."""
        for each in self._mask.take(event):
            self._publish(each)

    def _publish(self, event: Event) -> None:
        if not isinstance(event, UNJOURNALLED):
            self._write(event)
        for subscriber in self._takers_of(type(event)):
            self._hand(event, subscriber)
        self._tell(event)

    def _takers_of(self, kind: type[Event]) -> list[_Subscriber]:
        takers = self._takers.get(kind)
        if takers is None:
            takers = [each for each in self._subscribers if not each.kinds or kind in each.kinds]
            self._takers[kind] = takers
        return takers

    def _hand(self, event: Event, subscriber: _Subscriber) -> None:
        try:
            subscriber.take(event)
        except StoreError as problem:
            self._tell(Notice(level="warning", text=f"{problem}; {subscriber.lost}"))
        except Exception as problem:  # noqa: BLE001 (told by the event loop; what publishes may be stopping a turn)
            told = {"message": f"a {event.type} event was not taken", "exception": problem}
            asyncio.get_running_loop().call_exception_handler(told)

    def close(self) -> None:
        """Close the journal, and end the stream of each listener after the events in its queue."""
        for event in self._mask.rest():
            self._publish(event)
        if self._flushing is not None:
            self._flushing.cancel()
            self._flushing = None
        if self._journal is not None:
            self._close_journal(self._journal)
        self._closed = True
        for queue in self._queues:
            queue.put_nowait(None)

    def position(self) -> tuple[int, int]:
        """The journal's newest part, and the bytes in it, with everything published so far."""
        if self._journal is None:
            return 1, 0
        self._try(self._journal, self._journal.flush)
        return self._journal.position

    def _write(self, event: Event) -> None:
        journal = self._journal
        if journal is None:
            return
        self.empty = self.empty and event.type in BEGINNINGS
        self._try(journal, lambda: journal.write(event))
        if self._upkeep is not None and (journal.begun or isinstance(event, DURABLE)):
            self._upkeep.request()
        if journal.holds_text and self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(LONGEST_HELD, self._flush, journal)

    def _flush(self, journal: Journal) -> None:
        self._flushing = None
        self._try(journal, journal.flush)

    def _close_journal(self, journal: Journal) -> None:
        self._try(journal, journal.flush)
        if self._upkeep is not None:
            self._upkeep.finish()
        try:
            journal.close()
        except StoreError as problem:
            self._tell(Notice(level="error", text=str(problem)))

    def _try(self, journal: Journal, write: Callable[[], None]) -> None:
        """Write to the journal, and tell the user when that begins to fail and when it works again."""
        try:
            write()
        except StoreError as problem:
            if not self._failed:
                self._failed = True
                todo = "this session is not recorded until it can be written"
                self._tell(Notice(level="error", text=f"{problem}; {todo}"))
        else:
            if self._failed and not journal.unwritten:
                self._failed = False
                missing = f"{journal.lost:,} events are" if journal.lost else "nothing is"
                self._tell(Notice(level="info", text=f"this session is recorded again; {missing} missing"))

    def _kept(self, problem: OSError | None) -> None:
        """Tell the user when the journal cannot be made durable, once until it can be again."""
        if problem is not None and not self._unkept and self._journal is not None:
            lost = "a loss of power may take the end of this session's journal"
            self._tell(Notice(level="warning", text=f"{self._journal.file}: {problem.strerror}; {lost}"))
        self._unkept = problem is not None

    def _tell(self, event: Event) -> None:
        for queue in self._queues:
            queue.put_nowait(event)

    async def _drain(self, queue: asyncio.Queue[Event | None]) -> AsyncIterator[Event]:
        try:
            while (event := await queue.get()) is not None:
                yield event
        finally:
            self._queues.remove(queue)
