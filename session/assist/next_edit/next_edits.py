"""Next edits of one session: after a change, the places that have to follow it.

A change counts once it is saved, or once the turn that made it is over: a definition that has another name, a
function that takes other arguments, or a definition that is in another file. The places are found without a
model. Where the change does not tell what a place would be, such as the value of a new argument, a model is
asked for it, while the place before it is shown. A place lands as an ordinary hunk when it is taken.

The places of a change as they are offered, one after the other.

Rules, which the table holds:

1. One place is offered at a time. It is taken or passed over, and the next is made ready.
2. What is made ready is a place as its file is now, with a text for it; one that has none is passed over.
3. Nothing is offered while one lands. A place that cannot land is passed over.
4. Another change, a prompt, or the user ends it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum

from context.disk.source import Source, read
from context.project.snapshot import Snapshot
from session.assist.next_edit.causes import Left, NextPlace, left_behind
from session.assist.next_edit.filling import Filling
from session.assist.next_edit.move import Moves
from session.assist.review.change import lines_in
from session.assist.side_requests import SideRequests
from session.base.events import Event, HunkRefused, NextEditOffered, NextEditsOver, PromptSubmitted, TurnEnded
from session.base.tasks import BackgroundTasks
from session.commands.hunk_commands import HunkCommands
from session.record.journal.recorder import Recorder


class State(StrEnum):
    """The states of a chain."""

    PREPARING = "preparing"
    OFFERED = "offered"
    LANDING = "landing"
    OVER = "over"


class Signal(StrEnum):
    """What can happen."""

    READY = "ready"
    TAKE = "take"
    SKIP = "skip"
    DONE = "done"
    END = "end"


TABLE: dict[State, dict[Signal, State]] = {
    State.PREPARING: {
        Signal.READY: State.OFFERED,
        Signal.SKIP: State.PREPARING,
        Signal.END: State.OVER,
    },
    State.OFFERED: {Signal.TAKE: State.LANDING, Signal.SKIP: State.PREPARING, Signal.END: State.OVER},
    State.LANDING: {Signal.DONE: State.PREPARING, Signal.END: State.OVER},
    State.OVER: {},
}


class Chain:
    """The places of one change. Only :meth:`signal` changes the state."""

    def __init__(self, places: Sequence[NextPlace], found: int = 0, unread: int = 0) -> None:
        self.turn = ""
        """The turn of its hunks: the first of them, so that undo takes all back together."""
        self.told = False
        """Whether a place was offered yet."""
        self.without: list[NextPlace] = []
        """The places for which there is no text: the user has to look at them."""
        self.found, self.unread = max(found, len(places)), unread
        """How many places there are, and how many files that have the name were not looked through."""
        self._places = list(places)
        self._total = len(places)
        self.state = State.PREPARING if places else State.OVER

    @property
    def offered(self) -> NextPlace | None:
        """The place that is offered now."""
        return self._places[0] if self.state is State.OFFERED else None

    @property
    def coming(self) -> tuple[NextPlace, ...]:
        """The place that is made ready, offered or landed now, and the ones after it."""
        return tuple(self._places)

    @property
    def number(self) -> int:
        """The number of the place that is offered, from 1."""
        return self._total - len(self._places) + 1

    @property
    def total(self) -> int:
        """How many there were in the beginning."""
        return self._total

    def ready(self, place: NextPlace) -> bool:
        """Offer the first place, which is as in ``place`` now."""
        if not self.signal(Signal.READY):
            return False
        self._places[0] = place
        return True

    def signal(self, signal: Signal) -> bool:
        """Take a signal; false where the table has nothing for it in this state."""
        following = TABLE[self.state].get(signal)
        if following is None:
            return False
        self.state = following
        if signal in (Signal.SKIP, Signal.DONE):
            del self._places[0]
        if self.state is State.PREPARING and not self._places:
            self.state = State.OVER
        return True


AFTER_SAVE_SECONDS = 0.1
"""How long after a save the places are looked for: the request of its review goes out first."""


class NextEdits:
    """See the module. All methods are called on the event loop."""

    def __init__(
        self,
        *,
        hunks: HunkCommands,
        recorder: Recorder,
        tasks: BackgroundTasks,
        snapshot: Callable[[], Snapshot],
        side: SideRequests,
        busy: bool,
    ) -> None:
        """``snapshot`` is the project as models may see it, in any thread; nothing is offered while ``side``
        is off; ``busy`` says that a turn runs."""
        self._hunks = hunks
        self._publish = recorder.publish
        self._tasks = tasks
        self._snapshot = snapshot
        self._side = side
        self._busy = busy
        self._hunks_in: dict[str, str] = {}
        """The first hunk of the running turn in each file."""
        self._changed: dict[str, tuple[str, ...]] = {}
        """The files that changed since they were last looked at, with the lines that they had then."""
        self._moves = Moves()
        self._chain: Chain | None = None
        self._filling = Filling(side, tasks, snapshot)
        self._looking: asyncio.Task[None] | None = None
        recorder.subscribe(self._take, PromptSubmitted, TurnEnded)

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
        if not self._busy and self._side.enabled:
            self._changed.setdefault(path, before)
            self._look()

    async def take(self) -> bool:
        """Land the place that is offered, and offer the next; false where none is offered."""
        chain = self._chain
        place = chain.offered if chain is not None else None
        if chain is None or place is None or not chain.signal(Signal.TAKE):
            return False
        now = await asyncio.to_thread(self._as_it_is, place)
        if now is not None and chain.state is State.LANDING:
            result = await self._hunks.land(now.hunk(), chain.turn)
            if not isinstance(result, HunkRefused):
                chain.turn = chain.turn or result.turn
                self._filling.taken(now)
        if chain is self._chain and chain.signal(Signal.DONE):
            await self._offer(chain)
        return True

    def _as_it_is(self, place: NextPlace) -> NextPlace | None:
        """The place in its file as it is on disk; None where it is gone."""
        found = read(self._snapshot().root, place.path)
        return place.in_lines(found.lines) if isinstance(found, Source) else None

    def pass_over(self) -> bool:
        """Offer the next place instead; false where none is offered."""
        chain = self._chain
        if chain is None or chain.offered is None or not chain.signal(Signal.SKIP):
            return False
        self._tasks.start(self._offer(chain), "preparing a next edit")
        return True

    def end(self) -> bool:
        """Offer nothing more of it; false where nothing is offered."""
        chain, self._chain = self._chain, None
        if chain is None or not chain.signal(Signal.END):
            return False
        self._filling.stop()
        if chain.told:
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
        if hunks and self._side.enabled:
            self._tasks.start(self._look_before(hunks), "reading what hunks changed")

    async def _look_before(self, hunks: dict[str, str]) -> None:
        for path, hunk in hunks.items():
            before = lines_in(path, await self._hunks.text_before(hunk))
            if before is not None:
                self._changed.setdefault(path, before)
        self._look()

    def _look(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = self._tasks.start(self._look_at_changes(), "looking for next edits")

    async def _look_at_changes(self) -> None:
        """Look at one change after the other: a definition may leave one file with the first, and come into
        another with the second."""
        while self._changed:
            await asyncio.sleep(AFTER_SAVE_SECONDS)
            changed, self._changed = self._changed, {}
            left = await asyncio.to_thread(self._left_behind, changed)
            if left.places and not self._busy and self._side.enabled:
                self.end()
                self._filling = Filling(self._side, self._tasks, self._snapshot)
                self._chain = Chain(left.places, left.total, left.unread)
                self._tasks.start(self._offer(self._chain), "preparing a next edit")

    def _left_behind(self, changed: dict[str, tuple[str, ...]]) -> Left:
        return left_behind(tuple(changed.items()), self._snapshot(), self._moves)

    async def _offer(self, chain: Chain) -> None:
        """Make the next place ready and tell of it, or tell that there is none any more."""
        while chain is self._chain and chain.state is State.PREPARING:
            place = chain.coming[0]
            text = await self._filling.text(place)
            now = await asyncio.to_thread(self._as_it_is, place) if text is not None else None
            if now is None:
                if text is None:
                    chain.without.append(place)
                chain.signal(Signal.SKIP)
            elif chain.ready(replace(now, new=text)):
                self._tell(chain)
                for following in chain.coming[1:2]:
                    self._filling.start(following)
        if chain is self._chain and chain.state is State.OVER:
            self._chain = None
            if chain.told or chain.without:
                self._publish(NextEditsOver(tuple(f"{each.path}:{each.line}" for each in chain.without)))

    def _tell(self, chain: Chain) -> None:
        place = chain.offered
        if place is None or place.new is None:
            return
        chain.told = True
        self._publish(
            NextEditOffered(
                change=str(place.cause),
                path=place.path,
                line=place.line,
                old=place.old,
                new=place.new,
                number=chain.number,
                total=chain.total,
                found=chain.found,
                unread=chain.unread,
            )
        )
