"""Next edits of one session: after a rename of a definition, the places that still have its old name.

A change counts once it is saved, or once the turn that made it is over. Nothing of it needs a model: each
place is offered with the new name in the old one's place, and lands as an ordinary hunk when it is taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from context.disk.source import Source, read
from context.project.snapshot import Snapshot
from session.commands.hunk_commands import HunkCommands
from session.events import Event, HunkRefused, NextEditOffered, NextEditsOver, PromptSubmitted, TurnEnded
from session.journal.recorder import Recorder
from session.next_edit.chain import Chain, Signal, State
from session.next_edit.places import NextPlace, as_it_is, names_in, places
from session.next_edit.rename import renames
from session.review.change import lines_in
from session.tasks import BackgroundTasks


class NextEdits:
    """See the module. All methods are called on the event loop."""

    def __init__(
        self,
        *,
        hunks: HunkCommands,
        recorder: Recorder,
        tasks: BackgroundTasks,
        snapshot: Callable[[], Snapshot],
        enabled: Callable[[], bool],
        busy: bool,
    ) -> None:
        """``snapshot`` is the project as models may see it, in any thread; ``enabled`` says whether anything
        may be offered, ``busy`` that a turn runs."""
        self._hunks = hunks
        self._publish = recorder.publish
        self._tasks = tasks
        self._snapshot = snapshot
        self._enabled = enabled
        self._busy = busy
        self._hunks_in: dict[str, str] = {}
        """The first hunk of the running turn in each file."""
        self._chain: Chain | None = None
        self._looking: asyncio.Task[None] | None = None
        recorder.subscribe(self._take)

    @property
    def offered(self) -> bool:
        """Whether a place is offered now."""
        return self._chain is not None and self._chain.offered is not None

    def landed(self, path: str, hunk: str, turn: str) -> None:
        """A hunk changed a file: look at what the turn did once it is over."""
        chain = self._chain
        if chain is not None and (chain.state is State.LANDING or turn == chain.turn):
            return
        self._hunks_in.setdefault(path, hunk)
        if not self._busy:
            self._look_at_hunks()

    def saved(self, path: str, before: tuple[str, ...]) -> None:
        """The user saved a file, whose lines were ``before``."""
        if not self._busy and self._enabled():
            self._look([(path, before)])

    async def take(self) -> bool:
        """Land the place that is offered, and offer the next; false where none is offered."""
        chain = self._chain
        place = chain.offered if chain is not None else None
        if chain is None or place is None or not chain.signal(Signal.TAKE):
            return False
        now = await asyncio.to_thread(self._as_it_is, place)
        if now is not None and chain.state is State.LANDING:
            result = await self._hunks.land(now.hunk, chain.turn)
            if not isinstance(result, HunkRefused):
                chain.turn = chain.turn or result.turn
        if chain is self._chain and chain.signal(Signal.DONE):
            self._tell()
        return True

    def _as_it_is(self, place: NextPlace) -> NextPlace | None:
        """The place in its file as it is on disk; None where it is gone."""
        found = read(self._snapshot().root, place.path)
        return as_it_is(place, found.lines) if isinstance(found, Source) else None

    def pass_over(self) -> bool:
        """Offer the next place instead; false where none is offered."""
        if self._chain is None or not self._chain.signal(Signal.SKIP):
            return False
        self._tell()
        return True

    def end(self) -> bool:
        """Offer nothing more of it; false where nothing is offered."""
        chain, self._chain = self._chain, None
        if chain is None or not chain.signal(Signal.END):
            return False
        self._publish(NextEditsOver())
        return True

    def _take(self, event: Event) -> None:
        match event:
            case PromptSubmitted():
                self._busy = True
                self._hunks_in.clear()
                self.end()
            case TurnEnded():
                self._busy = False
                self._look_at_hunks()
            case _:
                pass

    def _look_at_hunks(self) -> None:
        hunks, self._hunks_in = self._hunks_in, {}
        if hunks and self._enabled():
            self._start(self._look_before(hunks))

    async def _look_before(self, hunks: dict[str, str]) -> None:
        changed = []
        for path, hunk in hunks.items():
            before = lines_in(path, await self._hunks.text_before(hunk))
            if before is not None:
                changed.append((path, before))
        await self._find(changed)

    def _look(self, changed: list[tuple[str, tuple[str, ...]]]) -> None:
        self._start(self._find(changed))

    def _start(self, work: Coroutine[None, None, None]) -> None:
        if self._looking is not None:
            self._looking.cancel()
        self._looking = self._tasks.start(work, "looking for next edits")

    async def _find(self, changed: list[tuple[str, tuple[str, ...]]]) -> None:
        chain = await asyncio.to_thread(self._chain_of, changed)
        if chain is not None and not self._busy and self._enabled():
            self.end()
            self._chain = chain
            self._tell()

    def _chain_of(self, changed: list[tuple[str, tuple[str, ...]]]) -> Chain | None:
        """The first rename that left places behind. It reads and parses files."""
        snapshot = self._snapshot()
        for path, before in changed:
            now = read(snapshot.root, path)
            if not isinstance(now, Source):
                continue
            after = now.lines
            for rename in renames(before, after, names_in(path, before), names_in(path, after)):
                if found := places(path, rename, snapshot):
                    return Chain(rename, found)
        return None

    def _tell(self) -> None:
        """Publish what is offered now, or that nothing is any more."""
        chain = self._chain
        place = chain.offered if chain is not None else None
        if chain is None or place is None:
            self._chain = None
            self._publish(NextEditsOver())
            return
        self._publish(
            NextEditOffered(
                rename=str(chain.rename),
                path=place.path,
                line=place.line,
                old=place.old,
                new=place.new,
                number=chain.number,
                total=chain.total,
            )
        )
