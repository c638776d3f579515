"""What the user does with hunks by hand: taking back, landing again, locking."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import TypeVar

from edits.hunk import Landed, Refused
from edits.report import UndoneByUser
from session.events import Event, HunkRedone, HunkRefused, HunkUndone
from session.memory.turn_memory import Memory
from session.project.active_guards import GuardSettings, guards_with_user, guards_without_user
from session.project.locks import LockStore
from session.project.workspace import Workspace
from session.text.sanitize import clean_line
from session.turn.lane import refused_event

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LandedHunk:
    """A landed hunk's place in its file now: lines from 1, ``end`` one past the last."""

    hunk: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HandlingParts:
    """What handling works with. ``attended`` says that somebody can be asked about what guards hold."""

    workspace: Workspace
    session: str
    memory: Memory
    thread: Executor
    guards: GuardSettings
    attended: bool
    ignored: Callable[[str], bool]
    send: Callable[[Event], None]


class HunkHandling:
    """The part of a session that handles hunks outside any turn; files are touched in the edit thread."""

    def __init__(self, parts: HandlingParts) -> None:
        self._handling = parts
        self._locks = LockStore(parts.workspace.root, parts.workspace.folders.state)
        self._protect()

    async def undo(self, hunk: str | None = None) -> HunkUndone | HunkRefused:
        """Take back one hunk, the last landed one without a name; the answer is also published."""
        landing = self._handling.workspace.landing
        return self._undone(await self._in_edit_thread(lambda: landing.undo(hunk)))

    async def redo(self, hunk: str | None = None) -> HunkRedone | HunkRefused:
        """Land an undone hunk again, the last undone one without a name; the answer is also published."""
        landing = self._handling.workspace.landing
        result = await self._in_edit_thread(lambda: landing.redo(hunk))
        if isinstance(result, Refused):
            return self._refused(result)
        path = clean_line(result.path)
        event = HunkRedone(hunk=result.hunk, path=path, start=result.start, end=result.end)
        self._handling.send(event)
        return event

    async def undo_turn(self) -> list[HunkUndone | HunkRefused]:
        """Take back every landed hunk of the last turn that has any, newest first."""
        return [self._undone(result) for result in await self._in_edit_thread(self._undo_last_turn)]

    async def landed(self) -> list[LandedHunk]:
        """Where the landed hunks of this session stand in their files now, oldest first."""
        return await self._in_edit_thread(self._landed)

    def lock(self, target: str) -> str:
        """Lock a path, a folder, a pattern, or lines as ``path:10-20``; says what is locked.

        Raises LockError where it cannot be.
        """
        told = self._locks.add(target)
        self._protect()
        return told

    def unlock(self, target: str) -> str:
        """Take a lock away (``all`` takes all); says so. Raises LockError where there is none."""
        told = self._locks.remove(target)
        self._protect()
        return told

    def locks(self) -> tuple[str, ...]:
        """What is locked, each in a few words."""
        return self._locks.shown()

    def _protect(self) -> None:
        """Set the guards up by what the user locked and wants."""
        parts = self._handling
        make = guards_with_user if parts.attended else guards_without_user
        parts.workspace.landing.protection = make(parts.guards, self._locks.read(), parts.ignored)

    def _undo_last_turn(self) -> list[Landed | Refused]:
        parts = self._handling
        turns = [
            record.turn
            for record in parts.workspace.ledger.hunks()
            if record.session == parts.session and record.state == "landed"
        ]
        return parts.workspace.landing.undo_turn(parts.session, turns[-1]) if turns else []

    def _landed(self) -> list[LandedHunk]:
        parts = self._handling
        places = []
        for record in parts.workspace.ledger.hunks():
            if record.session == parts.session and record.state == "landed":
                place = parts.workspace.landing.where(record.id)
                if place is not None:
                    path, start, end = place
                    places.append(LandedHunk(record.id, clean_line(path), start, end))
        return places

    def _undone(self, result: Landed | Refused) -> HunkUndone | HunkRefused:
        if isinstance(result, Refused):
            return self._refused(result)
        self._handling.memory.unreported.append(UndoneByUser(result.hunk, result.path))
        path = clean_line(result.path)
        event = HunkUndone(hunk=result.hunk, path=path, start=result.start, end=result.end)
        self._handling.send(event)
        return event

    def _refused(self, result: Refused) -> HunkRefused:
        event = refused_event(result, "")
        self._handling.send(event)
        return event

    async def _in_edit_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._handling.thread, work)
