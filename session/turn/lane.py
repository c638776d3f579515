"""A turn's edits on their way: parsed as the answer streams, landed in order while it still does.

Text is fed on the event loop and costs little; placing and writing happen in the session's one
edit thread, so that no disk ever holds up the wire or a key. After :meth:`Lane.stop` nothing more
is begun: a write in progress finishes, whatever waited is dropped and reported as not received.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Opened, Parser, ParserEvent, Prose, Typed
from edits.hunk import Format, Guard, Held, Hunk, Landed, LineKind, RefusalCode, Refused, Status
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from edits.report import NotReceived, Outcome
from session.events import (
    Event,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    HunkTyped,
    TextDelta,
)
from session.memory.edited_files import Knowledge
from session.text.sanitize import clean, clean_line
from session.turn.failures import TurnFailedError
from session.turn.target_lines import Aiming

REVIEW = "review"
DECLINED = "the developer declined it"
"""How the message of a hunk that the user declined begins."""
REVIEW_MESSAGE = "every edit waits for you in review mode"

ANSWER = ""
"""The source name of the answer's own text; tool calls are named by their item's id."""


@dataclass(frozen=True, slots=True)
class LaneTools:
    """What a lane works with; one set serves all turns of a session."""

    landing: Landing
    ledger: Ledger
    thread: Executor
    knowledge: Knowledge
    send: Callable[[Event], None]
    ask: bool = False
    """Whether somebody can be asked about a hunk that is held; else it is refused as locked."""
    review: bool = False
    """Whether every hunk is held until it is accepted."""


@dataclass(frozen=True, slots=True)
class _Held:
    """A hunk that waits for the user's word, or will when it is complete."""

    guards: frozenset[Guard]
    message: str
    decision: asyncio.Future[bool]


class Lane:
    """One turn's edits. ``outcomes`` grows by one for each hunk, in the order of the answer."""

    def __init__(self, tools: LaneTools, session: str, turn: str) -> None:
        self.outcomes: list[Outcome] = []
        self._tools = tools
        self._session = session
        self._turn = turn
        self._parsers: dict[str, Parser] = {}
        self._names: dict[tuple[str, int], str] = {}
        self._aiming = Aiming(tools.landing, tools.thread, tools.send, turn)
        self._in_flight: dict[str, str] = {}
        self._held: dict[str, _Held] = {}
        self._allow_all = False
        self._foreseeing: set[asyncio.Task[None]] = set()
        self._waiting: asyncio.Queue[tuple[str, Hunk | Broken]] = asyncio.Queue()
        self._lost: set[str] = set()
        """Hunks whose stream was lost: what is cut of them is dropped, since it may come again."""
        self._stopped = False
        self._nameless = False
        """The journal could give no more names: hunks without one are passed over."""
        self._worker = asyncio.create_task(self._land_all(), name=f"land {turn}")

    def feed(self, source: str, text: str) -> None:
        """Take the next piece of the answer (``ANSWER``) or of a tool call's input. Raises TurnFailedError
        where the journal cannot be written."""
        if self._stopped:
            return
        parser = self._parsers.get(source)
        if parser is None:
            # A tool's input is a patch by its grammar; only the answer's own text may be anything.
            parser = self._parsers[source] = AutoParser() if source == ANSWER else AutoParser(Format.V4A)
        self._take(source, parser.feed(text))

    def finish(self, source: str, *, clean_end: bool) -> None:
        """The stream of ``source`` ended; unless ``clean_end``, its unfinished hunk is incomplete."""
        parser = self._parsers.pop(source, None)
        if parser is not None and not self._stopped:
            self._take(source, parser.close(clean=clean_end))

    def finish_all(self, *, clean_end: bool) -> None:
        """The response ended: every stream of it has."""
        for source in list(self._parsers):
            self.finish(source, clean_end=clean_end)

    def lose(self) -> None:
        """The answer was lost midway and will be taken up again: its open hunks are dropped, those
        that are whole still land."""
        self._lost.update(self._names.values())
        self.finish_all(clean_end=False)

    def stop(self) -> None:
        """From now on nothing more lands and nothing more is said; returns at once."""
        if self._stopped:
            return
        self._stopped = True
        self._in_flight = self._aiming.close()
        for held in self._held.values():
            if not held.decision.done():
                held.decision.set_result(False)

    def answer(self, hunk: str, *, land: bool, rest: bool = False) -> bool:
        """The user's word on a held hunk; with ``rest`` on all that this turn will still hold. False
        when that hunk is not held."""
        held = self._held.get(hunk)
        if held is None or held.decision.done():
            return False
        self._allow_all = self._allow_all or (land and rest)
        held.decision.set_result(land)
        return True

    async def settled(self) -> None:
        """Wait until every hunk given so far has landed or was refused, or, after ``stop``, until
        the write in progress is done and the rest is dropped."""
        empty = asyncio.ensure_future(self._waiting.join())
        await asyncio.wait({empty, self._worker}, return_when=asyncio.FIRST_COMPLETED)
        if not empty.done():
            empty.cancel()
            # The worker never ends by itself: what ended it is a fault, and must not be swallowed.
            self._worker.result()
        await asyncio.gather(self._aiming.settled(), *self._foreseeing)
        if self._stopped:
            for hunk, path in self._in_flight.items():
                self._drop(hunk, path)
            self._in_flight = {}

    async def close(self) -> None:
        """Settle, and end the worker."""
        await self.settled()
        self._worker.cancel()
        await asyncio.gather(self._worker, return_exceptions=True)

    def _take(self, source: str, events: list[ParserEvent]) -> None:
        for event in events:
            if self._nameless and not isinstance(event, Prose) and (source, event.number) not in self._names:
                continue
            match event:
                case Prose(text=text):
                    if source == ANSWER:
                        self._tools.send(TextDelta(turn=self._turn, text=clean(text)))
                case Opened():
                    self._opened(source, event)
                case Typed():
                    self._typed(self._name(source, event.number), event.kind, event.text)
                case Completed():
                    self._waiting.put_nowait((self._name(source, event.number), event.hunk))
                case Broken():
                    self._waiting.put_nowait((self._name(source, event.number), event))

    def _name(self, source: str, number: int) -> str:
        key = (source, number)
        if key not in self._names:
            try:
                self._names[key] = self._tools.ledger.next_id()
            except OSError as problem:
                self._nameless = True
                why = f"the journal of edits cannot be written ({problem.strerror or problem})"
                todo = "so no more is landed; make room for spark's state folder and ask again"
                raise TurnFailedError(f"{why}, {todo}", "journal") from problem
        return self._names[key]

    def _opened(self, source: str, event: Opened) -> None:
        hunk, path = self._name(source, event.number), clean_line(event.path)
        self._aiming.opened(hunk, event.path)
        self._tools.send(HunkOpened(turn=self._turn, hunk=hunk, path=path, action=event.action.value))
        if self._tools.ask and not self._tools.review:
            task = asyncio.create_task(self._foresee(hunk, event.path))
            self._foreseeing.add(task)
            task.add_done_callback(self._foreseeing.discard)

    async def _foresee(self, hunk: str, path: str) -> None:
        """Ask about a hunk whose path alone trips a guard while it is still being typed."""
        foresee = self._tools.landing.foresee
        foreseen = await asyncio.get_running_loop().run_in_executor(self._tools.thread, foresee, path)
        if isinstance(foreseen, Held) and not self._stopped and not self._allow_all:
            guards = frozenset(foreseen.guards)
            self._hold(hunk, foreseen.path, foreseen.guards[0].value, foreseen.message, guards)

    def _typed(self, hunk: str, kind: LineKind, text: str) -> None:
        self._tools.send(HunkTyped(turn=self._turn, hunk=hunk, kind=kind.value, text=clean(text)))
        self._aiming.typed(hunk, kind, text)

    async def _land_all(self) -> None:
        while True:
            hunk, edit = await self._waiting.get()
            try:
                await self._land(hunk, edit)
            finally:
                self._waiting.task_done()

    async def _land(self, hunk: str, edit: Hunk | Broken) -> None:
        path = self._aiming.closed(hunk) or self._in_flight.pop(hunk, None) or edit.path
        if self._stopped:
            self._drop(hunk, path)
        elif isinstance(edit, Broken):
            self._held.pop(hunk, None)
            if edit.code is RefusalCode.INCOMPLETE and hunk in self._lost:
                self._drop(hunk, path)
                return
            self._conclude(Refused(hunk, edit.path, edit.code, edit.message))
        elif self._tools.review:
            await self._reviewed(hunk, edit, path)
        else:
            await self._land_guarded(hunk, edit)

    async def _reviewed(self, hunk: str, edit: Hunk, path: str) -> None:
        """Ask about ``edit``, with what would hold it besides, and land it; one that would be refused
        whatever is said is not asked about."""
        if self._allow_all:
            await self._land_guarded(hunk, edit)
            return
        loop, weigh = asyncio.get_running_loop(), self._tools.landing.weigh
        weighed = await loop.run_in_executor(self._tools.thread, lambda: weigh(edit, hunk_id=hunk))
        guards, message = frozenset[Guard](), REVIEW_MESSAGE
        if isinstance(weighed, Held):
            guards, message = frozenset(weighed.guards), f"{weighed.message}; {REVIEW_MESSAGE}"
        elif isinstance(weighed, Refused) or weighed.status is Status.ALREADY_APPLIED:
            await self._land_guarded(hunk, edit)
            return
        if await self._agreed(hunk, edit, path, REVIEW, message):
            await self._land_guarded(hunk, edit, guards)

    async def _land_guarded(self, hunk: str, edit: Hunk, allow: frozenset[Guard] = frozenset()) -> None:
        """Land ``edit``, asking about the guards that hold it but those in ``allow``."""
        allow = frozenset(Guard) if self._allow_all else allow

        def land() -> Landed | Refused:
            tools = self._tools
            turn = self._turn
            result = tools.landing.land(edit, hunk_id=hunk, session=self._session, turn=turn, allow=allow)
            if isinstance(result, Landed) and result.status is not Status.ALREADY_APPLIED:
                tools.knowledge.landed_hunk(tools.ledger, hunk)
            return result

        while True:
            result = await asyncio.get_running_loop().run_in_executor(self._tools.thread, land)
            if not isinstance(result, Held) or not self._tools.ask:
                self._conclude(result)
                return
            foreseen = self._held.get(hunk)
            if foreseen is not None and foreseen.decision.done() and foreseen.decision.result():
                # What it was asked about while it was typed is settled; anything else is yet to be asked.
                del self._held[hunk]
                allow |= foreseen.guards
                continue
            why, guards = result.message, frozenset(result.guards)
            if not await self._agreed(hunk, edit, result.path, result.guards[0].value, why, guards):
                return
            allow |= frozenset(Guard) if self._allow_all else guards

    async def _agreed(
        self,
        hunk: str,
        edit: Hunk,
        path: str,
        guard: str,
        message: str,
        guards: frozenset[Guard] = frozenset(),
    ) -> bool:
        """Hold a hunk, and with it all that follow, until the user has decided; true to land it."""
        if self._stopped:
            self._drop(hunk, path)
            return False
        if self._allow_all:
            return True
        if not self._tools.ask:
            self._conclude(Refused(hunk, path, RefusalCode.LOCKED, f"{message}; nobody can be asked here"))
            return False
        held = self._held.get(hunk)
        if held is None or (held.message != message and not held.decision.done()):
            held = self._hold(hunk, path, guard, message, guards)
        await self._aiming.held(hunk, edit.path, edit.old)
        return await self._decided(hunk, path, held)

    async def _decided(self, hunk: str, path: str, held: _Held) -> bool:
        agreed = await held.decision
        del self._held[hunk]
        if self._stopped:
            self._drop(hunk, path)
            return False
        if not agreed:
            self._conclude(Refused(hunk, path, RefusalCode.LOCKED, f"{DECLINED} ({held.message})"))
        return agreed

    def _hold(self, hunk: str, path: str, guard: str, message: str, guards: frozenset[Guard]) -> _Held:
        decision = asyncio.get_running_loop().create_future()
        held = self._held[hunk] = _Held(guards, message, decision)
        shown = {"path": clean_line(path), "guard": guard, "message": clean(message)}
        self._tools.send(HunkHeld(turn=self._turn, hunk=hunk, **shown))
        return held

    def _conclude(self, result: Landed | Refused) -> None:
        self.outcomes.append(result)
        self._tools.send(landed_event(result, self._turn))

    def _drop(self, hunk: str, path: str) -> None:
        self.outcomes.append(NotReceived(hunk, path))
        self._tools.send(HunkDropped(turn=self._turn, hunk=hunk, path=clean_line(path)))


def landed_event(result: Landed | Refused, turn: str) -> HunkLanded | HunkRefused:
    """The event that tells what became of a hunk."""
    if isinstance(result, Refused):
        return refused_event(result, turn)
    return HunkLanded(
        turn=turn,
        hunk=result.hunk,
        path=clean_line(result.path),
        status=result.status.value,
        tier=int(result.rung),
        start=result.start,
        end=result.end,
        action=result.action.value,
        moved_to=clean_line(result.moved_to) if result.moved_to else None,
    )


def refused_event(result: Refused, turn: str) -> HunkRefused:
    """The event that tells why a hunk was not landed."""
    return HunkRefused(
        turn=turn,
        hunk=result.hunk,
        path=clean_line(result.path),
        code=result.code.value,
        message=clean(result.message),
    )
