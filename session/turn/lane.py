"""Lands a turn's edits while the answer still streams: the shell around ``landing_queue.py``.

The lane parses the text on the event loop, which costs little. The session's edit thread places and
writes the hunks, so that a slow disk holds up neither the connection nor a key. The queue decides what
happens to each hunk, and the lane carries it out. After :meth:`Lane.stop` nothing more is begun: a write
in progress finishes, and the rest is dropped and reported as not received.

All methods are called on the event loop.

Finds the lines that a hunk will replace while the model types it, so that front ends can show them.

The search reads a file, so it runs in the edit thread; at most one search runs for each hunk.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from edits.formats.detect import AutoParser
from edits.formats.events import Broken, Completed, Opened, Parser, ParserEvent, Prose, Sampled, Typed, Unread
from edits.hunk import Format, Hunk, Landed, LineKind, RefusalCode, Refused
from edits.report import Outcome
from session.base.events import HunkAimed, HunkOpened, HunkTyped, Notice, Publisher, TextDelta
from session.base.tasks import fault_line
from session.base.text.sanitize import clean, clean_line
from session.project.edit_thread import EditThread, EditWriter
from session.tools.taint import no_sources
from session.turn.failures import LaneTasks, TurnFailedError
from session.turn.hunk_life import Answer, State, held_event, outcome_event, undone_event
from session.turn.landing_queue import Ask, Check, Divide, Effect, End, Land, LandingQueue, Locate
from session.turn.repair import ASKS
from session.turn.response import UnopenedThought


@dataclass(slots=True)
class _OpenHunk:
    """The lines that an open hunk replaces, as far as they are known."""

    path: str
    old: list[str] = field(default_factory=list)
    partial: str = ""
    place: tuple[int, int] | None = None
    searching: bool = False
    complete: bool = False


class TargetLines:
    """Follows the open hunks of one turn, and tells where each would land."""

    def __init__(self, turn: str, writer: EditWriter, tasks: LaneTasks, recorder: Publisher) -> None:
        self._turn = turn
        self._writer = writer
        self._tasks = tasks
        self._publish = recorder.publish
        self._open: dict[str, _OpenHunk] = {}

    def opened(self, hunk: str, path: str) -> None:
        """Begin to follow ``hunk``, an edit of the file ``path``."""
        self._open[hunk] = _OpenHunk(path)

    def typed(self, hunk: str, kind: LineKind, text: str) -> None:
        """Take another piece of a line of ``hunk``. The first new line completes its old lines."""
        known = self._open.get(hunk)
        if known is None or known.complete:
            return
        if kind is LineKind.NEW:
            known.complete = bool(known.old)
        else:
            *lines, known.partial = (known.partial + text).split("\n")
            known.old += lines
            if not lines:
                return
        if known.old and not known.searching:
            known.searching = True
            self._tasks.start(self._search(hunk, known, tuple(known.old)))

    def closed(self, hunk: str) -> None:
        """Stop following ``hunk``, which is whole or has ended."""
        self._open.pop(hunk, None)

    async def find(self, edit: Hunk) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) that a whole hunk would replace now, or None if not known."""
        return await self._tasks.in_edit_thread(lambda: self._writer.place_of(edit))

    def show(self, hunk: str, path: str, place: tuple[int, int]) -> None:
        """Tell front ends where ``hunk`` would land."""
        start, end = place
        self._publish(HunkAimed(turn=self._turn, hunk=hunk, path=clean_line(path), start=start, end=end))

    async def _search(self, hunk: str, known: _OpenHunk, old: tuple[str, ...]) -> None:
        place = await self._tasks.in_edit_thread(lambda: self._writer.lines_of(known.path, old))
        known.searching = False
        if self._open.get(hunk) is not known or place is None or place == known.place:
            return
        known.place = place
        self.show(hunk, known.path, place)


@dataclass(frozen=True, slots=True)
class About:
    """What is known of an answer before it comes: the request, the files that the model was shown, and
    whether it was asked for whole files."""

    request: str = ""
    shown: tuple[str, ...] = ()
    whole: bool = False

    @property
    def asks(self) -> bool:
        """Whether the request is a question, which is answered with words."""
        return self.request.rstrip().endswith("?")


ANSWER = ""
"""The source name of the answer's own text. A tool call is named by its item's id."""


@dataclass(slots=True)
class _Stream:
    """The answer's text, or the input of one tool call. ``names`` holds the ids of its hunks by number."""

    parser: Parser
    names: dict[int, str] = field(default_factory=dict)
    samples: list[Hunk] = field(default_factory=list)
    """Fences in it that may hold whole files."""
    unread: str = ""
    """Why text in it that looks like an edit is none."""
    edits: bool = False
    """Whether an edit in it was complete."""


class Lane:
    """Lands the edits of one turn."""

    def __init__(
        self,
        turn: str,
        *,
        writer: EditWriter,
        thread: EditThread,
        recorder: Publisher,
        attended: bool,
        review: bool,
    ) -> None:
        """``attended`` says that a user can be asked about a hunk that is held; if not, it is refused as
        locked. With ``review`` every hunk is held until the user agrees to it."""
        self._turn = turn
        self._writer = writer
        self._publish = recorder.publish
        self._asks_early = attended and not review
        """Whether the user is asked about a guarded path while its hunk is still typed."""
        self._about = About()
        self._streams: dict[str, _Stream] = {}
        self._nameless = False
        self._told = ""
        """The last character of the prose that was published."""
        """Whether the ledger could give no more ids. Hunks without an id are ignored."""
        self._queue = LandingQueue(attended=attended, review=review)
        self._pause = thread.landing_pause
        self._tasks = LaneTasks(thread)
        self._targets = TargetLines(turn, writer, self._tasks, recorder)
        self._idle = asyncio.Event()
        self._idle.set()
        self._thought = UnopenedThought()
        self.sources: Callable[[str], Awaitable[Sequence[str]]] = no_sources
        """The parts of a text that the user never typed, with where they come from."""
        self._tasks.fault.add_done_callback(lambda _: self.stop())

    @property
    def outcomes(self) -> list[Outcome]:
        """The ends of the hunks that have ended, in the order of the answer."""
        return self._queue.outcomes

    async def watch(self, exchange: asyncio.Task[None]) -> None:
        """Wait until ``exchange``, which feeds this lane, has ended.

        Raises TurnFailedError after a fault in the lane, which cancels the exchange first.
        """
        await self._tasks.watch(exchange)

    def feed(self, source: str, text: str) -> None:
        """Parse the next piece of the answer (``ANSWER``) or of a tool call's input.

        Raises TurnFailedError when the journal cannot be written.
        """
        if self._queue.stopped:
            return
        stream = self._streams.get(source)
        if stream is None:
            # A tool's input is always a patch; the answer's text may hold any edit format.
            parser = self._answer_parser() if source == ANSWER else AutoParser(Format.V4A)
            stream = self._streams[source] = _Stream(parser)
        self._take(source, stream, stream.parser.feed(text))

    def land(self, edit: Hunk) -> None:
        """Land an edit that is whole already, and show its lines as if it were typed: the user may be asked
        about it. Raises TurnFailedError when the journal cannot be written."""
        if self._queue.stopped:
            return
        hunk = self._next_id()
        self._queue.opened(hunk, edit.path)
        self._show(hunk, edit)
        self._perform(self._queue.completed(hunk, edit))

    def _show(self, hunk: str, edit: Hunk) -> None:
        """Show the lines of a hunk as if it were typed."""
        path = clean_line(edit.path)
        self._publish(HunkOpened(turn=self._turn, hunk=hunk, path=path, action=edit.action.value))
        for kind, lines in groupby(edit.lines, lambda line: line.kind):
            text = clean("".join(f"{line.text}\n" for line in lines))
            self._publish(HunkTyped(turn=self._turn, hunk=hunk, kind=kind.value, text=text))

    def finish(self, source: str, *, clean_end: bool, lost: bool = False) -> None:
        """End the stream of ``source``.

        Its unfinished hunk is refused as incomplete unless ``clean_end``; with ``lost`` it is dropped
        instead, because the model may send it again.
        """
        stream = self._streams.pop(source, None)
        if stream is not None and not self._queue.stopped:
            self._take(source, stream, stream.parser.close(clean=clean_end), lost=lost)
            if clean_end and not stream.edits and not self._about.asks:
                self._tasks.start(self._land_samples(stream))

    async def _land_samples(self, stream: _Stream) -> None:
        """Land the fences of an answer without any edit that hold a file's text: such an answer is one. Where
        none does, what looks like an edit is refused."""
        for sample in stream.samples:
            edit = replace(sample, shown=self._about.shown)
            if not edit.path and not self._about.whole:
                continue
            plain = replace(edit, names=(), unsure=False)
            path = await self._tasks.in_edit_thread(partial(self._writer.meant, edit))
            if path is not None:
                stream.edits = True
                self.land(replace(plain, path=path))
                continue
            meant = partial(self._writer.meant, plain)
            if edit.unsure and (await self._tasks.in_edit_thread(meant)) is not None:
                stream.edits = True
                self.land(edit)  # which is refused, and told what else its name may be
        told = self._queue.stopped or ASKS.match(self._about.request.strip())
        if stream.unread and not stream.edits and not told:
            refused = Refused(self._next_id(), "", RefusalCode.MALFORMED, stream.unread)
            self._perform(self._queue.broken(refused))

    def finish_all(self, *, clean_end: bool, lost: bool = False) -> None:
        """End every stream, as :meth:`finish` does: the response is over."""
        for source in list(self._streams):
            self.finish(source, clean_end=clean_end, lost=lost)

    def lose(self) -> None:
        """Drop the open hunks of an answer that was lost and will be resumed; whole ones still land."""
        self.finish_all(clean_end=False, lost=True)

    def stop(self) -> None:
        """Drop every hunk that is not being written at this moment, and accept no more. Returns at once."""
        if not self._queue.stopped:
            self._perform(self._queue.stop())
            self._pause.look_again()

    @property
    def about(self) -> About:
        """What is known of the answer."""
        return self._about

    def begin(self, about: About) -> None:
        """A request goes out: ``about`` is what is known of the answer."""
        self._about = about

    def _answer_parser(self) -> AutoParser:
        return AutoParser(whole=self._about.whole, lenient=bool(self._about.shown))

    def answer(self, hunk: str, answer: Answer) -> bool:
        """Land ``hunk``, for which ``HunkHeld`` was sent, or decline it, which needs no question. False when
        it is too late for that."""
        effects = self._queue.answer(hunk, answer)
        if effects is None:
            return False
        self._perform(effects)
        return True

    async def settled(self) -> None:
        """Wait until every whole hunk has ended, which may need the user's answers.

        Raises TurnFailedError after a fault in the lane.
        """
        await self._tasks.settled()
        while not self._idle.is_set():
            await self._idle.wait()
            await self._tasks.settled()
        self._tasks.check()

    async def close(self) -> None:
        """End every hunk without another question: those before the first open question still land."""
        self._perform(self._queue.last_questions())
        await self._idle.wait()
        self.stop()
        await self._tasks.settled()

    def _take(
        self, source: str, stream: _Stream, events: Sequence[ParserEvent], *, lost: bool = False
    ) -> None:
        prose: list[str] = []
        for event in events:
            if isinstance(event, Sampled):
                stream.samples.append(event.hunk)
                continue
            if isinstance(event, Unread):
                stream.unread = event.message
                continue
            if isinstance(event, Prose):
                prose.append(event.text)
                if source == ANSWER and self._thought.ends_in(event.text):
                    self._take_back_drafts()
                continue
            self._tell(source, prose)
            if self._nameless and event.number not in stream.names:
                continue
            hunk = self._name(stream, event.number)
            match event:
                case Opened():
                    self._opened(hunk, event)
                case Typed(kind=kind, text=text):
                    self._typed(hunk, kind, text)
                case Completed(hunk=edit):
                    self._targets.closed(hunk)
                    stream.edits = True
                    self._perform(self._queue.completed(hunk, replace(edit, shown=self._about.shown)))
                case Broken(path=path, code=RefusalCode.INCOMPLETE) if lost:
                    self._perform(self._queue.cut(hunk, path))
                case Broken(path=path, code=code, message=message):
                    self._perform(self._queue.broken(Refused(hunk, path, code, message)))
        self._tell(source, prose)

    def _take_back_drafts(self) -> None:
        """What came so far was thought: drop its hunks, and undo those that have landed."""
        effects, written = self._queue.drop_drafts()
        self._perform(effects)
        if written:
            self._tasks.start(self._undo(written))

    async def _undo(self, hunks: Sequence[str]) -> None:
        """Take ``hunks`` back. The edit thread does that after it has written them, and before it places
        what follows them in the answer."""
        take_back = self._writer.take_back
        for result in await self._tasks.in_edit_thread(lambda: [take_back(hunk) for hunk in hunks]):
            if isinstance(result, Landed):
                self._queue.taken_back(result)
                self._publish(undone_event(result))
            elif self._queue.state(result.hunk) is State.LANDED:
                why = clean_line(f"{result.hunk} stood in the model's thinking and stays: {result.message}")
                self._publish(Notice(level="warning", text=why))

    def _tell(self, source: str, prose: list[str]) -> None:
        """Publish prose of the answer as one piece, and empty ``prose``."""
        if prose and source == ANSWER:
            text = "".join(prose)
            self._publish(TextDelta(turn=self._turn, text=clean(text, self._told)))
            self._told = text[-1:] or self._told
        prose.clear()

    def _name(self, stream: _Stream, number: int) -> str:
        if number not in stream.names:
            stream.names[number] = self._next_id()
        return stream.names[number]

    def _next_id(self) -> str:
        try:
            return self._writer.next_id()
        except OSError as problem:
            self._nameless = True
            why = f"the journal of edits cannot be written ({problem.strerror or problem})"
            todo = "so no more is landed; make room for spark's state folder and ask again"
            raise TurnFailedError(f"{why}, {todo}", "journal") from problem

    def _opened(self, hunk: str, event: Opened) -> None:
        self._queue.opened(hunk, event.path)
        self._targets.opened(hunk, event.path)
        path = clean_line(event.path)
        self._publish(HunkOpened(turn=self._turn, hunk=hunk, path=path, action=event.action.value))
        if self._asks_early:
            self._tasks.start(self._foresee(hunk, event.path))

    def _typed(self, hunk: str, kind: LineKind, text: str) -> None:
        if self._queue.typing(hunk):
            self._publish(HunkTyped(turn=self._turn, hunk=hunk, kind=kind.value, text=clean(text)))
            self._targets.typed(hunk, kind, text)

    def _perform(self, effects: Sequence[Effect]) -> None:
        """Carry out what the queue decided.

        The work is begun before any event is published: an event that cannot be published must not leave
        a hunk behind that nothing works on.
        """
        for effect in effects:
            match effect:
                case Locate():
                    self._tasks.start(self._locate(effect))
                case Divide():
                    self._tasks.start(self._divide(effect))
                case Check():
                    self._tasks.start(self._check(effect))
                case Land():
                    self._tasks.start(self._land(effect))
                case End(hunk=hunk):
                    self._targets.closed(hunk)
        if self._queue.idle:
            self._idle.set()
        else:
            self._idle.clear()
        for effect in effects:
            match effect:
                case Ask(hunk=hunk, question=question, edit=None):
                    self._publish(held_event(hunk, question, self._turn))
                case Ask(edit=Hunk() as edit):
                    self._tasks.start(self._ask(effect, edit))
                case End(outcome=outcome):
                    self._publish(outcome_event(outcome, self._turn))

    async def _ask(self, ask: Ask, edit: Hunk) -> None:
        """Put a question that says which parts of the new text the user never typed."""
        old = set(edit.old)
        sources = await self.sources("\n".join(line for line in edit.new if line not in old))
        if self._queue.asks(ask.hunk, ask.question) and (sources or not ask.again):
            told = replace(ask.question, message="; ".join([ask.question.message, *sources]))
            self._publish(held_event(ask.hunk, told, self._turn))

    async def _foresee(self, hunk: str, path: str) -> None:
        """Ask about a hunk whose path alone is guarded while the model still types it."""
        held = await self._tasks.in_edit_thread(lambda: self._writer.held_by_path(path))
        if held is not None:
            self._perform(self._queue.foreseen(hunk, held))

    async def _locate(self, effect: Locate) -> None:
        """Show where a held hunk would land.

        The search for its lines may have lagged behind its typing, hunks before it have landed since, and its
        lines may stand in several places, of which its anchors name one.
        """
        place = await self._targets.find(effect.edit)
        if place is not None and self._queue.state(effect.hunk) is State.HELD:
            self._targets.show(effect.hunk, effect.edit.path, place)

    async def _divide(self, effect: Divide) -> None:
        """Make the hunks of a whole file out of it; the first has the name of the whole."""
        about, hunk = self._about, effect.hunk
        parts = await self._tasks.in_edit_thread(lambda: self._writer.divide(effect.edit, about.request))
        named = [(hunk, parts[0]), *((self._next_id(), part) for part in parts[1:])]
        for name, part in named[1:]:
            self._show(name, part)
        if parts[0].kept:
            self._publish(Notice(level="info", text=clean_line(parts[0].kept)))
        self._perform(self._queue.divided(hunk, named))

    async def _check(self, effect: Check) -> None:
        result = await self._tasks.in_edit_thread(lambda: self._writer.check(effect.hunk, effect.edit))
        self._perform(self._queue.checked(effect.hunk, result))

    async def _land(self, effect: Land) -> None:
        try:
            result = await self._tasks.in_edit_thread(lambda: self._write(effect))
        except Exception as problem:
            self.stop()
            self._tasks.start(self._account(effect, problem))
            raise
        if result is None:
            self._perform(self._queue.not_begun(effect.hunk))
        else:
            self._perform(self._queue.landed(effect.hunk, result))

    def _write(self, effect: Land) -> Landed | Refused | None:
        """Land one hunk; None when the turn was stopped before its write began. Called in the edit thread."""
        if not self._pause.wait(lambda: self._queue.stopped):
            return None
        return self._writer.write(effect.hunk, self._turn, effect.edit, effect.allow)

    async def _account(self, effect: Land, problem: Exception) -> None:
        """End a hunk whose landing raised, as the ledger has it: its text may be on disk all the same."""
        message = fault_line("landing this edit", problem)
        result: Landed | Refused = Refused(effect.hunk, effect.edit.path, RefusalCode.IO, message)
        try:
            landed = await self._tasks.in_edit_thread(lambda: self._writer.recorded(effect.hunk))
            result = landed or result
        finally:
            self._perform(self._queue.landed(effect.hunk, result))
