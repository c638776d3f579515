"""Cheap checks that follow the hunks while the answer still streams.

They also run once on the project as it is before a turn changes it, so that what was wrong before is not held
against a hunk. That look is taken when a turn has ended, so that the next one need not wait for it, and again
when a turn starts on a project that has changed since. A hunk is never judged by a file that has changed
meanwhile: it is judged again. A red hunk is also judged again when something else changes its file.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

from session.base.events import (
    Event,
    FileSaved,
    FilesChanged,
    HunkChecked,
    HunkLanded,
    HunkRedone,
    HunkUndone,
    TurnEnded,
    TurnStarted,
)
from session.checks.check import Check, Kind
from session.checks.finding import (
    NOTHING_KNOWN,
    Before,
    HunkVerdict,
    LandedHunk,
    Status,
    Verdict,
    before_edits,
    judge_hunks,
)

CHEAP = frozenset({Kind.SYNTAX, Kind.LINT})
"""The kinds that run for each hunk."""

MOST_MORE = 9
"""Findings of one hunk that are told besides the first."""

Judge = Callable[[Check, Sequence[str] | None], Awaitable[Verdict]]
"""Runs a check for changed files, or for the whole project."""
Places = Callable[[Collection[str]], Awaitable[Mapping[str, LandedHunk]]]
"""Gives the places of landed hunks in their files as they are now; those that have none are left out."""
Stamp = tuple[int, int, int]


class HunkChecks:
    """Judges the hunks of one session with ``checks``. All methods are called on the event loop."""

    def __init__(
        self,
        root: Path,
        checks: Iterable[Check],
        judge: Judge,
        places: Places,
        publish: Callable[[Event], None],
    ) -> None:
        self._root = root
        self._cheap = [check for check in checks if check.kind in CHEAP]
        self._judge = judge
        self._places = places
        self._publish = publish
        self._pending: dict[str, str] = {}
        """The hunks that are to be judged, with their files."""
        self._red: dict[tuple[str, str], HunkVerdict] = {}
        """The hunks that were red last, by hunk and check; a later change may mend them."""
        self._judged: dict[str, Stamp | None] = {}
        """The state of each file when it was judged last."""
        self._changed: set[str] = set()
        """Files that something other than a landed hunk may have changed."""
        self._touched: set[str] = set()
        """The files in which hunks of the running turn landed."""
        self._before: dict[str, Before] = {}
        """The findings of each cheap check before the turn."""
        self._turn_started = False
        self._look_due = False
        self._looking: asyncio.Task[None] | None = None
        """The look at the project before the turn; hunks are checked beside it, and judged after it."""
        self._since_look: set[str] = set()
        """The files that changed since the look began."""
        self._fresh = False
        """Whether nothing is known to have changed since."""
        self._was_fresh = False
        """The same when the turn started, before its hunks landed."""
        self._doubtful: set[str] = set()
        """Files that were told to have changed, perhaps by hunks that landed before the look."""
        self._as_looked: dict[str, Stamp | None] = {}
        """The files of the last turn as they were when the look began."""
        self._work = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def take(self, event: Event) -> None:
        """Take note of what happens in the session."""
        match event:
            case TurnStarted():
                self._touched = set()
                self._turn_started = True
                self._was_fresh = self._fresh
                self._wake()
            case TurnEnded() if self._touched:
                self.look_ahead()
            case HunkLanded(hunk=hunk, path=path, status=status) if status != "already_applied":
                self._touched.add(event.moved_to or path)
                self._note_change({path, event.moved_to or path})
                self._pending[hunk] = event.moved_to or path
                self._wake()
            case HunkUndone(hunk=hunk, path=path):
                self._pending.pop(hunk, None)
                self._red = {key: red for key, red in self._red.items() if key[0] != hunk}
                self._note_change({path, event.place})
            case FilesChanged(paths=paths):
                self._doubtful |= set(paths) & self._as_looked.keys()
                self._note_change(set(paths) - self._as_looked.keys() - self._touched)
                self._judge_red_again(paths)
            case HunkRedone(path=path):
                self._note_change({path, event.place})
            case FileSaved(path=path):
                self._note_change({path})
            case _:
                pass

    def look_ahead(self) -> None:
        """Look at the project as it is now, so that the next turn need not wait for that."""
        self._look_due = True
        self._wake()

    def _note_change(self, paths: AbstractSet[str]) -> None:
        if paths:
            self._fresh = False
            self._since_look |= paths
            self._judge_red_again(paths)

    def _judge_red_again(self, paths: Iterable[str]) -> None:
        if found := set(paths) & {red.hunk.path for red in self._red.values()}:
            self._changed |= found
            self._wake()

    def _wake(self) -> None:
        self._idle.clear()
        self._work.set()

    async def settled(self) -> None:
        """Wait until everything that landed is judged."""
        await self._idle.wait()

    async def judge_hunks(self) -> None:
        """Judge what lands, until cancelled."""
        try:
            await self._judge_hunks()
        finally:
            if self._looking is not None:
                self._looking.cancel()

    async def _judge_hunks(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            if self._turn_started:
                self._turn_started = False
                if not await self._as_it_was_looked_at():
                    self._look(set(self._touched))
            await self._add_changed()
            while self._pending:
                batch, self._pending = self._pending, {}
                paths = set(batch.values())
                again = {red.hunk.hunk: red.hunk.path for red in self._red.values() if red.hunk.path in paths}
                await self._judge_batch({**again, **batch})
            if self._look_due:
                self._look_due = False
                self._look(set())
            if not self._work.is_set():
                self._idle.set()

    async def _add_changed(self) -> None:
        """Have the red hunks judged again whose files are no longer as they were judged."""
        changed, self._changed = sorted(self._changed), set()
        now = await asyncio.to_thread(self._stamps, changed) if changed else {}
        for (hunk, _), red in self._red.items():
            path = red.hunk.path
            if path in now and now[path] != self._judged.get(path):
                self._pending.setdefault(hunk, path)

    async def _as_it_was_looked_at(self) -> bool:
        """Whether the project was, when the turn started, as it was when the last look began."""
        doubtful, self._doubtful = self._doubtful, set()
        now = await asyncio.to_thread(self._stamps, doubtful) if self._was_fresh and doubtful else {}
        return self._was_fresh and all(self._as_looked.get(path) == now[path] for path in doubtful)

    def _look(self, changed: set[str]) -> None:
        """Begin to look at the project; ``changed`` are files of which that will show nothing."""
        if self._looking is not None:
            self._looking.cancel()
        self._since_look, self._fresh, self._doubtful = changed, True, set()
        self._looking = asyncio.create_task(self._run_before(), name="looking before a turn")

    async def _run_before(self) -> None:
        """Run the cheap checks on the project as it is."""
        self._before = {}
        touched, since = sorted(self._touched), self._since_look
        self._as_looked = dict.fromkeys(touched)
        self._as_looked = await asyncio.to_thread(self._stamps, touched)
        for check in self._cheap:
            verdict = await self._judge(check, None)
            # What red hunks are blamed for stays theirs, also in later turns.
            blamed = [each for key, red in self._red.items() if key[1] == check.name for each in red.findings]
            self._before[check.name] = before_edits(verdict, since, blamed)

    async def _judge_batch(self, batch: Mapping[str, str]) -> None:
        for check in self._cheap:
            paths = sorted({path for path in batch.values() if check.takes(path)})
            stamps = await asyncio.to_thread(self._stamps, paths)
            there = [path for path in paths if stamps[path] is not None]
            if not there:
                continue
            verdict = await self._judge(check, there)
            if self._looking is not None:
                await self._looking
            places = await self._places(batch)
            now = await asyncio.to_thread(self._stamps, there)
            changed = {path for path in there if stamps[path] != now[path]}
            self._judged |= now
            for hunk, path in batch.items():
                if path in changed and hunk in places:
                    self._pending.setdefault(hunk, path)
            hunks = [places[hunk] for hunk in batch if hunk in places]
            self._tell(check, verdict, [hunk for hunk in hunks if hunk.path in set(there) - changed])

    def _tell(self, check: Check, verdict: Verdict, hunks: list[LandedHunk]) -> None:
        before = self._before.get(check.name, NOTHING_KNOWN)
        for judged in judge_hunks(hunks, verdict, before):
            first, *more = judged.findings or (None,)
            if judged.status is Status.RED:
                self._red[judged.hunk.hunk, check.name] = judged
            else:
                self._red.pop((judged.hunk.hunk, check.name), None)
            why = verdict.why if judged.status is Status.UNCLEAR else ""
            self._publish(
                HunkChecked(
                    hunk=judged.hunk.hunk,
                    path=judged.hunk.path,
                    check=check.name,
                    status=str(judged.status),
                    line=first.line if first else 0,
                    message=first.message if first else why,
                    more=tuple(f"{each.line}: {each.message}" for each in more[:MOST_MORE] if each),
                )
            )

    def _stamps(self, paths: Iterable[str]) -> dict[str, Stamp | None]:
        return {path: stamp(self._root / path) for path in paths}


def stamp(file: Path) -> Stamp | None:
    """A stamp that changes when the file is written or replaced; None where there is none."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
