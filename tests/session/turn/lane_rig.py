"""A real lane with a real landing on real files, whose edit thread does its next job when a test says so."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, TypeVar

from edits.files.durable import Step, no_step
from edits.guards.protection import Locks, Protection
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from session.base.events import Event, HunkDropped, HunkHeld, HunkLanded, HunkOpened, HunkRefused
from session.project.edit_thread import EditThread
from session.turn.hunk_writer import HunkWriter
from session.turn.lane import Lane
from session.turn.turn_memory import EditedFiles
from tests.session.recording import recorder_for

E = TypeVar("E")

ENDS = (HunkLanded, HunkRefused, HunkDropped)
"""The events that end a hunk, and its question with it."""


class SteppedThread(Executor):
    """Does its jobs in order, each when :meth:`step` is called, on the caller's thread."""

    def __init__(self) -> None:
        self.jobs: deque[Callable[[], None]] = deque()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def job() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except BaseException as problem:
                future.set_exception(problem)
                if not isinstance(problem, Exception):
                    raise
            else:
                future.set_result(result)

        self.jobs.append(job)
        return future

    def step(self) -> bool:
        """Do the oldest job; false when there is none."""
        if not self.jobs:
            return False
        self.jobs.popleft()()
        return True


class LaneRig:
    """A lane of its own project folder, and all that it has said."""

    def __init__(
        self,
        folder: Path,
        *,
        files: Collection[str],
        ask: bool = True,
        review: bool = False,
        text: str = "old\n",
        step: Step = no_step,
    ) -> None:
        self.root = folder / "project"
        self.root.mkdir(parents=True)
        for name in files:
            (self.root / name).write_text(text)
        self.ledger = Ledger(folder / "ledger")
        self.landing = Landing(self.root, self.ledger, protection=Protection(), step=step)
        self.thread = SteppedThread()
        edit_thread = EditThread(self.thread)
        self.pause = edit_thread.landing_pause
        self.events: list[Event] = []
        self.lane = Lane(
            "t1",
            writer=HunkWriter("session", self.landing, self.ledger, EditedFiles()),
            thread=edit_thread,
            recorder=recorder_for(folder / "journal", self.events.append),
            attended=ask,
            review=review,
        )

    def lock(self, *names: str) -> None:
        """From now on these files are locked, and no others."""
        self.landing.protection = Protection(locks=Locks(paths=names))

    def begin(self, name: str, source: str = "", old: str = "old") -> str:
        """The model opens a hunk of a file, in a call of its own; gives the hunk's name."""
        self.lane.feed(source or name, f"*** Begin Patch\n*** Update File: {name}\n@@\n-{old}\n")
        return self.all(HunkOpened)[-1].hunk

    def complete(self, source: str, new: str = "new") -> None:
        """The model ends that hunk as it should."""
        self.lane.feed(source, f"+{new}\n*** End Patch\n")
        self.lane.finish(source, clean_end=True)

    def spoil(self, source: str) -> None:
        """The model's call ends before that hunk does."""
        self.lane.finish(source, clean_end=False)

    def whole(self, name: str) -> str:
        """The model sends a hunk at one go."""
        hunk = self.begin(name)
        self.complete(name)
        return hunk

    def all(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    def held(self) -> list[str]:
        """The hunks whose question is open, as a front end knows it from the events alone."""
        held: dict[str, None] = {}
        for event in self.events:
            if isinstance(event, HunkHeld):
                held[event.hunk] = None
            elif isinstance(event, ENDS):
                held.pop(event.hunk, None)
        return list(held)

    def ends(self, hunk: str) -> list[Event]:
        return [event for event in self.events if isinstance(event, ENDS) and event.hunk == hunk]

    def text(self, name: str) -> str:
        return (self.root / name).read_text()

    async def breathe(self, times: int = 12) -> None:
        """Let the event loop go round."""
        for _ in range(times):
            await asyncio.sleep(0)

    async def work(self) -> None:
        """Have the edit thread and the event loop do all they can without the user."""
        await self.breathe()
        while self.thread.step():
            await self.breathe()

    async def end(self) -> None:
        """Settle and close the lane; a lane that does not end is a failure, not a wait."""
        closing = asyncio.ensure_future(self.lane.close())
        await self.work()
        assert closing.done(), "the lane waits for something that never comes"
        await closing
