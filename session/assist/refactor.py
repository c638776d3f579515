"""A refactor in place: the answer to a side request lands hunk by hunk in the selected lines.

The conversation is not told of it: the model learns of the new lines as of the user's own changes. Its hunks
have a turn of their own, so that they are undone together.

What a model is sent for a refactor in place: the file, the selected lines, and the sentence.

The selected lines, and the writer that lands nothing outside of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from context.text.safe import fenced, harmless
from context.text.secrets import is_secret_file, masked_lines
from edits.files.diff import changes
from edits.files.text import FileError, decode, split
from edits.files.tree import Tree
from edits.hunk import Action, Format, Guard, Held, Hunk, Landed, RefusalCode, Refused
from session.assist.side_requests import NotNow, SideRequests
from session.base.events import Event, Notice, TextDelta
from session.base.tasks import BackgroundTasks
from session.base.text.sanitize import clean_line
from session.project.edit_thread import EditThread
from session.project.workspace import Workspace
from session.record.journal.recorder import Recorder
from session.record.usage import Kind
from session.turn.failures import TurnFailedError
from session.turn.lane import ANSWER, Lane
from session.wire.instructions import DATA_HEAD, refactor_instructions
from session.wire.protocol import events as wire
from session.wire.protocol.items import user_message


@dataclass(frozen=True, slots=True)
class Selection:
    """Lines ``start`` to ``end`` of a file, from 0, ``end`` one past the last."""

    start: int
    end: int

    def moved(self, before: Sequence[str], after: Sequence[str]) -> Selection:
        """The same lines once the text ``before`` became ``after``; they grow by what is put between them."""
        start, end = self.start, self.end
        for change in changes(before, after):
            growth = (change.new_end - change.new_start) - (change.end - change.start)
            if change.end <= self.start:
                start, end = start + growth, end + growth
            elif change.start < self.end:
                end += growth
        start = max(0, min(start, len(after)))
        return Selection(start, max(start, min(end, len(after))))

    def holds(self, before: Sequence[str], after: Sequence[str]) -> bool:
        """Whether all that differs between two texts is in these lines of the first."""
        return all(self.start <= each.start and each.end <= self.end for each in changes(before, after))

    def grown(self, before: Sequence[str], after: Sequence[str]) -> Selection:
        """These lines after a change that they hold."""
        return Selection(self.start, self.end + len(after) - len(before))


class SelectionWriter:
    """Lands the hunks of one refactor; see :class:`session.turn.hunk_writer.EditWriter`. All but
    :meth:`next_id` is called in the edit thread."""

    def __init__(
        self, session: str, workspace: Workspace, path: str, lines: Sequence[str], selection: Selection
    ) -> None:
        """``lines`` are those of the file ``path`` when ``selection`` was made."""
        self._session = session
        self._workspace = workspace
        self._tree = Tree(workspace.root)
        self._path = path
        self._lines = tuple(lines)
        self.selection = selection

    def next_id(self) -> str:
        """See :class:`EditWriter`."""
        return self._workspace.ledger.next_id()

    def held_by_path(self, path: str) -> Held | None:
        """See :class:`EditWriter`. Nothing is asked before a hunk is whole."""
        del path
        return None

    def lines_of(self, path: str, old: tuple[str, ...]) -> tuple[int, int] | None:
        """See :class:`EditWriter`."""
        return self._workspace.landing.aim(path, old) if old else None

    def place_of(self, edit: Hunk) -> tuple[int, int] | None:
        """See :class:`EditWriter`."""
        return self._workspace.landing.aim_whole(edit)

    def divide(self, edit: Hunk, request: str) -> tuple[Hunk, ...]:
        """The edit as it is: whole files are refused here."""
        del request
        return (edit,)

    def meant(self, edit: Hunk) -> str | None:
        """None: a sample is no edit here."""
        del edit
        return None

    def check(self, hunk: str, edit: Hunk) -> Landed | Refused:
        """See :class:`EditWriter`."""
        planned = self._planned(hunk, edit)
        return planned if isinstance(planned, Refused) else self._workspace.landing.weigh(edit, hunk_id=hunk)

    def write(self, hunk: str, turn: str, edit: Hunk, allow: frozenset[Guard]) -> Landed | Refused:
        """See :class:`EditWriter`."""
        after = self._planned(hunk, edit)
        if isinstance(after, Refused):
            return after
        landing = self._workspace.landing
        result = landing.land(edit, hunk_id=hunk, session=self._session, turn=turn, allow=allow)
        if isinstance(result, Landed):
            self.selection, self._lines = self.selection.grown(self._lines, after), after
        return result

    def recorded(self, hunk: str) -> Landed | None:
        """See :class:`EditWriter`. What the ledger has is told when the session is resumed."""
        del hunk
        return None

    def take_back(self, hunk: str) -> Landed | Refused:
        """See :class:`EditWriter`."""
        return self._workspace.landing.undo(hunk)

    def _planned(self, hunk: str, edit: Hunk) -> tuple[str, ...] | Refused:
        """The lines of the file as the hunk would leave it, or why it does not land."""
        if edit.path.removeprefix("./") != self._path or edit.action is not Action.UPDATE:
            return self._outside(hunk, edit)
        if edit.format is Format.WHOLE:
            return self._outside(hunk, edit)
        try:
            before = self._tree.read_text(self._path, self._path).lines
            self.selection, self._lines = self.selection.moved(self._lines, before), before
            rehearsal = self._workspace.rehearsal()
            result = rehearsal.land(edit, hunk_id=hunk, dry_run=True)
            if isinstance(result, Refused):
                return result
            content = rehearsal.rehearsed.get(self._path)
            after = before if content is None else split(decode(content, self._path).text)[0]
        except FileError as problem:
            return Refused(hunk, edit.path, problem.code, problem.message)
        except OSError as problem:
            return Refused(hunk, edit.path, RefusalCode.IO, f"system error: {problem.strerror}")
        return after if self.selection.holds(before, after) else self._outside(hunk, edit)

    def _outside(self, hunk: str, edit: Hunk) -> Refused:
        first, last = self.selection.start + 1, self.selection.end
        lines = f"line {first}" if last <= first else f"lines {first}–{last}"
        message = f"it changes more than the selected {lines} of {self._path}"
        return Refused(hunk, edit.path, RefusalCode.LOCKED, message)


LONGEST = 60_000
"""Characters of the file that are shown around the selection."""


def around(lines: Sequence[str], selection: Selection, longest: int = LONGEST) -> Selection:
    """The lines to show: the selection, and as many before and after it as there is room for."""
    start, end = selection.start, selection.end
    room = longest - sum(len(line) + 1 for line in lines[start:end])
    while room > 0 and (start > 0 or end < len(lines)):
        if start > 0:
            start -= 1
            room -= len(lines[start]) + 1
        if end < len(lines) and room > 0:
            room -= len(lines[end]) + 1
            end += 1
    return Selection(start, end)


def request(path: str, lines: Sequence[str], selection: Selection, sentence: str) -> tuple[str, str]:
    """The data, and what the developer asks for. Secrets in the data are masked."""
    shown = around(lines, selection)
    part = "" if (shown.start, shown.end) == (0, len(lines)) else f", lines {shown.start + 1}-{shown.end}"
    name, masked = harmless(path), masked_lines(lines)
    data = (
        f"{DATA_HEAD}{name}{part}:\n{_block(path, masked[shown.start : shown.end])}\n"
        f"Selected, lines {selection.start + 1}-{selection.end}:\n"
        f"{_block(path, masked[selection.start : selection.end])}"
    )
    return data, f"Rewrite the selected lines of {name}: {harmless(sentence.strip())}"


def _block(path: str, lines: Sequence[str]) -> str:
    return fenced(path, "\n".join(map(harmless, lines)))


LONGEST_ANSWER = 16_000
"""Most tokens of an answer."""
MOST_SELECTED = 2_000
"""Lines that can be selected for one refactor."""


class RefactorError(Exception):
    """A refactor cannot be started; the message says why and what to do."""


class Refactors:
    """The refactors of one session, one at a time. All methods are called on the event loop."""

    def __init__(
        self,
        session: str,
        workspace: Workspace,
        *,
        side: SideRequests,
        recorder: Recorder,
        tasks: BackgroundTasks,
        thread: EditThread,
        allowed: Callable[[Collection[str]], Collection[str]],
        busy: Callable[[], bool],
    ) -> None:
        """``allowed`` gives those of some files that a model may see; ``busy`` says whether a turn runs."""
        self._session = session
        self._workspace = workspace
        self._side = side
        self._publish = recorder.publish
        self._tasks = tasks
        self._thread = thread
        self._allowed = allowed
        self._busy = busy
        self._lane: Lane | None = None
        self._asking: asyncio.Task[bool] | None = None
        self._running: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether one runs."""
        return self._running is not None and not self._running.done()

    def start(self, path: str, start: int, selected: Sequence[str], sentence: str) -> asyncio.Task[None]:
        """Rewrite the lines ``selected``, which begin at line ``start`` (from 1) of a file, as ``sentence``
        says. The task ends with it. Raises RefactorError."""
        if self.running:
            raise RefactorError("another refactor runs: Esc stops it")
        if self._busy():
            raise RefactorError("wait until the answer has ended, or stop it")
        if not sentence.strip():
            raise RefactorError("say in a sentence what to do with the selected lines")
        if not 0 < len(selected) <= MOST_SELECTED:
            raise RefactorError(f"select at most {MOST_SELECTED:,} lines")
        selection = Selection(start - 1, start - 1 + len(selected))
        work = self._run(path, selection, tuple(selected), sentence)
        self._running = self._tasks.start(work, "refactoring in place")
        return self._running

    def stop(self) -> bool:
        """Stop the running one: nothing more of it lands when this returns. False where none runs."""
        if not self.running:
            return False
        if self._lane is not None:
            self._lane.stop()
        if self._asking is not None:
            self._asking.cancel()
        elif self._running is not None:
            self._running.cancel()
        return True

    async def _run(self, path: str, selection: Selection, selected: tuple[str, ...], sentence: str) -> None:
        try:
            lines = await asyncio.to_thread(self._lines, path, selection, selected)
            texts = await asyncio.to_thread(request, path, lines, selection, sentence)
            await self._check_may_ask()
        except RefactorError as problem:
            self._tell(str(problem), "error")
            return
        name = f"refactor-{secrets.token_hex(3)}"
        writer = SelectionWriter(self._session, self._workspace, path, lines, selection)
        lane = self._lane = Lane(
            name,
            writer=writer,
            thread=self._thread,
            recorder=_Edits(self._publish),
            attended=False,
            review=False,
        )
        stopped = False
        asking = self._asking = asyncio.create_task(self._ask(lane, texts))
        try:
            await asyncio.wait({asking})
            stopped = asking.cancelled()
            whole = not stopped and asking.result()
            lane.finish_all(clean_end=whole, lost=not whole)
            await lane.settled()
        except TurnFailedError as problem:
            self._tell(str(problem), "error")
            return
        finally:
            asking.cancel()
            lane.stop()
            self._lane = self._asking = None
        self._tell_end(path, lane, stopped=stopped, whole=whole)

    async def _check_may_ask(self) -> None:
        """Raises RefactorError where no request may go out."""
        for _ in range(200):
            refusal = self._side.refusal(Kind.REFACTOR)
            if refusal is not NotNow.STARTING:
                break
            await asyncio.sleep(0.01)
        if refusal is not None:
            raise RefactorError(f"no model can be asked now: {refusal}")

    def _lines(self, path: str, selection: Selection, selected: tuple[str, ...]) -> tuple[str, ...]:
        """The lines of the file, in which ``selected`` still are. Raises RefactorError."""
        if is_secret_file(path) or path not in self._allowed([path]):
            raise RefactorError(f"{clean_line(path)} is not shown to models, so they cannot refactor it")
        try:
            lines = Tree(self._workspace.root).read_text(path, path).lines
        except FileError as problem:
            raise RefactorError(clean_line(problem.message)) from problem
        except OSError as problem:
            raise RefactorError(f"{clean_line(path)} cannot be read: {problem.strerror}") from problem
        if lines[selection.start : selection.end] != selected:
            raise RefactorError(f"{clean_line(path)} on disk is not what is selected: save it, and try again")
        return lines

    async def _ask(self, lane: Lane, texts: tuple[str, str]) -> bool:
        """Feed the answer to the lane; true if it came to its end."""
        profile = self._side.model.profile(refactor_instructions().text, name="refactor", most=LONGEST_ANSWER)
        items = tuple(map(user_message, texts))
        began = whole = False
        async with contextlib.aclosing(self._side.ask(Kind.REFACTOR, profile, items)) as events:
            async for event in events:
                match event:
                    case wire.Created() if began:
                        lane.lose()
                    case wire.TextDelta(text=text):
                        began = True
                        lane.feed(ANSWER, text)
                    case wire.Finished():
                        whole = True
                    case _:
                        pass
        return whole

    def _tell_end(self, path: str, lane: Lane, *, stopped: bool, whole: bool) -> None:
        landed = sum(isinstance(each, Landed) for each in lane.outcomes)
        refused = [each for each in lane.outcomes if isinstance(each, Refused)]
        parts = [f"{landed} hunk{'s' if landed != 1 else ''} landed"]
        if refused:
            parts.append(f"{len(refused)} refused: {refused[0].message}")
        how = f"rewrote {path}" if whole else f"rewriting {path} was {'stopped' if stopped else 'cut off'}"
        level = "warning" if refused or not whole else "info"
        self._tell(f"{how}: {' · '.join(parts)}", level)

    def _tell(self, text: str, level: str) -> None:
        self._publish(Notice(level=level, text=clean_line(text)))


class _Edits:
    """Publishes the events of a lane but the answer's words: they are no part of the conversation."""

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self._publish = publish

    def publish(self, event: Event) -> None:
        """See :class:`~session.base.events.Publisher`."""
        if not isinstance(event, TextDelta):
            self._publish(event)
