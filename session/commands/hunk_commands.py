"""The user's commands for landed hunks: undo and redo.

The definitions that landed hunks are in, for lists of hunks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from edits.files.path_jail import resolve
from edits.files.text import FileError
from edits.files.tree import Tree
from edits.hunk import Hunk, Landed, RefusalCode, Refused
from edits.ledger.entry import Op, State
from edits.report import UndoneByUser
from session.base.events import Event, HunkLanded, HunkRedone, HunkRefused, HunkUndone
from session.base.text.sanitize import clean, clean_line
from session.commands.diff_commands import Diff, DiffError, Which, diff, parsed
from session.project.definitions import Definition, definitions_in, innermost
from session.project.edit_thread import EditThread
from session.project.open_files import OuterTexts
from session.project.workspace import Workspace
from session.record.journal.recorder import Recorder
from session.turn.hunk_life import landed_event, redone_event, refused_event, undone_event
from session.turn.turn_memory import TurnMemory


class UndoableHunks:
    """``landed`` and ``undone`` hold hunks and their files, the newest last."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.landed: dict[str, str] = {}
        self.undone: dict[str, str] = {}
        self._turns: dict[str, str] = {}
        """The turn of each hunk, in the order in which the hunks first landed."""
        for event in events:
            self.take(event)

    @property
    def last_turn(self) -> dict[str, str]:
        """The landed hunks, and their files, of the last turn that has any."""
        turns = [turn for hunk, turn in self._turns.items() if hunk in self.landed]
        last = turns[-1] if turns else None
        return {
            hunk: self.landed[hunk]
            for hunk, turn in self._turns.items()
            if turn == last and hunk in self.landed
        }

    def landed_in(self, path: str) -> list[str]:
        """The landed hunks of a file, the oldest first."""
        return [hunk for hunk, where in self.landed.items() if where == path]

    def take(self, event: Event) -> None:
        """Take ``event`` into account; most kinds of event change nothing."""
        match event:
            case HunkLanded(status=status) if status != "already_applied":
                self.landed[event.hunk] = event.moved_to or event.path
                self._turns.setdefault(event.hunk, event.turn)
            case HunkUndone():
                self.landed.pop(event.hunk, None)
                self.undone[event.hunk] = event.place
            case HunkRedone():
                self.undone.pop(event.hunk, None)
                self.landed[event.hunk] = event.place
            case _:
                pass


Lines = tuple[str, str, int, int]
"""A hunk, its file, and its lines there, from 1, the last one past the end."""


def symbols_of(root: Path, places: Iterable[Lines]) -> dict[str, str]:
    """The innermost definition around each hunk, by the hunk's id; hunks outside of all are left out. It
    reads and parses files: call it in a worker thread."""
    tree = Tree(root)
    known: dict[str, tuple[Definition, ...]] = {}
    found: dict[str, str] = {}
    for hunk, path, start, end in places:
        if path not in known:
            try:
                known[path] = definitions_in(path, tree.read_text(resolve(root, path).name, path).text)
            except (FileError, OSError):
                known[path] = ()  # it is gone, or no text: its hunks are in no definition
        name = _around(known[path], start - 1, max(start, end - 1))
        if name:
            found[hunk] = name
    return found


def _around(found: tuple[Definition, ...], first: int, end: int) -> str:
    """The innermost definition around all lines, else the first that the hunk brought."""
    code = [each for each in found if each.kind != "section"]
    inside = [each.name for each in code if each.start <= first and end <= each.end]
    if inside:
        return inside[-1]
    return next((name for line in range(first, end) if (name := innermost(found, line))), "")


@dataclass(frozen=True, slots=True)
class HunkPlace:
    """The lines of a landed hunk in its file now: from 1, ``end`` one past the last."""

    hunk: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HunkChange:
    """Lines that a hunk replaced, as texts; ``old`` is None for a file that it added."""

    path: str
    old: str | None
    new: str


class HunkCommands:
    """``Session.hunks``: undo and redo. Files are read and written in the edit thread."""

    def __init__(
        self,
        workspace: Workspace,
        session: str,
        memory: TurnMemory,
        thread: EditThread,
        recorder: Recorder,
        past: Iterable[Event],
    ) -> None:
        """``past`` are the events of a resumed session."""
        self._root = workspace.root
        self._landing = workspace.landing
        self._ledger = workspace.ledger
        self.session = session
        """The session's name."""
        self._memory = memory
        self.thread = thread
        """Where files are read and written."""
        self._publish = recorder.publish
        self.outer: OuterTexts | None = None
        """The texts of an editor outside of spark, brought up to date with each undo and redo."""
        self.undoable = UndoableHunks(past)
        recorder.subscribe(self.undoable.take, HunkLanded, HunkUndone, HunkRedone)

    async def undo(self, hunk: str | None = None, *, why: str = "") -> HunkUndone | HunkRefused:
        """Undo one hunk; without an id, the hunk that landed last. The model is told with the next prompt,
        ``why`` included. The result is also published."""
        return self._undone(
            await self.thread.run(lambda: self._shown(self._landing.undo(hunk))), clean(why).strip()
        )

    async def redo(self, hunk: str | None = None) -> HunkRedone | HunkRefused:
        """Land an undone hunk again; without an id, the one undone last. The result is also published."""
        result = await self.thread.run(lambda: self._shown(self._landing.redo(hunk)))
        if isinstance(result, Refused):
            return self._refused(result)
        event = redone_event(result)
        self._publish(event)
        return event

    async def land(self, edit: Hunk, turn: str = "") -> HunkLanded | HunkRefused:
        """Land an edit that the user decided on outside of a turn; hunks of the same ``turn`` are undone
        together, and it is the hunk itself where none is given. The model is told of it as of the user's own
        changes. The result is also published."""
        event = await self.thread.run(lambda: self._land(edit, turn))
        self._publish(event)
        return event

    def _land(self, edit: Hunk, turn: str) -> HunkLanded | HunkRefused:
        try:
            name = self._ledger.next_id()
        except OSError as problem:
            why = f"the journal of edits cannot be written ({problem.strerror or problem})"
            return refused_event(Refused("", edit.path, RefusalCode.IO, why), "")
        if self.outer is not None:
            self.outer.before(edit.path)
        turn = turn or name
        result = self._shown(self._landing.land(edit, hunk_id=name, session=self.session, turn=turn))
        return landed_event(result, "" if isinstance(result, Refused) else turn)

    async def text_before(self, hunk: str) -> bytes | None:
        """The file of a hunk as it was before it landed; None where there was none, or the ledger has lost
        it."""
        return await self.thread.run(lambda: self._text_before(hunk))

    def _text_before(self, hunk: str) -> bytes | None:
        landings = (each for each in self._ledger.entries() if each.hunk == hunk and each.op is Op.LAND)
        entry = next(landings, None)
        try:
            return self._ledger.content(entry.before) if entry is not None and entry.before else None
        except FileError:
            return None

    async def texts_before(self, hunks: Collection[str]) -> dict[str, bytes | None]:
        """The files that ``hunks`` changed, as they were before the first of them: by path, None for one that
        was not there. Raises FileError where the ledger has lost one."""
        return await self.thread.run(lambda: self._texts_before(frozenset(hunks)))

    def _texts_before(self, hunks: Collection[str]) -> dict[str, bytes | None]:
        found: dict[str, bytes | None] = {}
        for entry in self._ledger.entries():
            if entry.hunk in hunks and entry.op is Op.LAND:
                if entry.path not in found:
                    found[entry.path] = self._ledger.content(entry.before) if entry.before else None
                found.setdefault(entry.place, None)
        return found

    async def undo_turn(self, turn: str | None = None, session: str = "") -> list[HunkUndone | HunkRefused]:
        """Undo every landed hunk of ``turn``, of this session or another, newest first; without it, of the
        last turn that has any."""
        if turn is None:
            return await self.undo_all(tuple(self.undoable.last_turn))
        results = await self.thread.run(lambda: self._landing.undo_turn(session or self.session, turn))
        return [self._undone(result) for result in results]

    async def undo_all(self, hunks: Collection[str]) -> list[HunkUndone | HunkRefused]:
        """Undo those of ``hunks`` that are landed, newest first."""
        return [self._undone(result) for result in await self.thread.run(lambda: self._undo_all(hunks))]

    async def places(self, hunks: Collection[str] | None = None) -> list[HunkPlace]:
        """The places of this session's landed hunks in their files now, oldest first: of all, or of
        ``hunks``."""
        wanted = frozenset(self.undoable.landed if hunks is None else hunks)
        return await self.thread.run(lambda: self._places(wanted))

    async def symbols(self, hunks: Collection[str]) -> dict[str, str]:
        """The definition that each of these landed hunks is in, by the hunk; not those in none."""
        places = [(each.hunk, each.path, each.start, each.end) for each in await self.places(hunks)]
        return await asyncio.to_thread(symbols_of, self._root, places)

    async def diff(self, argument: str) -> Diff:
        """What hunks of this session changed: see :func:`~session.commands.diff_commands.parsed`; without an
        argument, those of its last turn that landed any. Raises DiffError."""
        which = parsed(argument) if argument else self._last_turn()
        if not which.hunks:
            which = replace(which, session=self.session)
        return await self.thread.run(lambda: diff(self._ledger, which))

    def _last_turn(self) -> Which:
        hunks = tuple(self.undoable.last_turn)
        if not hunks:
            raise DiffError("no turn of this session has a landed hunk")
        return Which(hunks=hunks)

    async def changes(self, hunk: str) -> tuple[HunkChange, ...]:
        """What a hunk changed when it landed, from the top of its file down; nothing for one that the ledger
        does not have (any more)."""
        return await self.thread.run(lambda: self._changes(hunk))

    def _changes(self, hunk: str) -> tuple[HunkChange, ...]:
        entries = (each for each in reversed(self._ledger.entries()) if each.hunk == hunk)
        entry = next((each for each in entries if each.op is Op.LAND and each.state is State.DONE), None)
        if entry is None:
            return ()
        path, added = clean_line(entry.place), entry.before is None
        return tuple(
            HunkChange(path, None if added else "".join(splice.old), "".join(splice.new))
            for splice in entry.splices
        )

    def _undo_all(self, hunks: Collection[str]) -> list[Landed | Refused]:
        """Undo ``hunks``, the newest first, but those that another process undid."""
        landed = [each.id for each in self._ledger.hunks() if each.state == "landed" and each.id in hunks]
        return [self._shown(self._landing.undo(hunk)) for hunk in reversed(landed)]

    def _shown(self, result: Landed | Refused) -> Landed | Refused:
        if self.outer is not None and isinstance(result, Landed):
            self.outer.after(result.moved_to or result.path)
        return result

    def _places(self, wanted: Collection[str]) -> list[HunkPlace]:
        found = self._landing.where(wanted)
        places = []
        for record in self._ledger.hunks():
            if record.id in found:
                path, start, end = found[record.id]
                places.append(HunkPlace(record.id, clean_line(path), start, end))
        return places

    def _undone(self, result: Landed | Refused, why: str = "") -> HunkUndone | HunkRefused:
        if isinstance(result, Refused):
            return self._refused(result)
        self._memory.unreported.append(UndoneByUser(result.hunk, result.path, why))
        event = undone_event(result, why)
        self._publish(event)
        return event

    def _refused(self, result: Refused) -> HunkRefused:
        event = refused_event(result, "")
        self._publish(event)
        return event
