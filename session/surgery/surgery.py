"""``Session.surgery``: take out one landed hunk with those that depend on it, and ask for these again."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from edits.files.text import FileError, decode
from edits.ledger.entry import Entry, Op
from session.commands.diff_commands import DiffError
from session.commands.hunk_commands import HunkCommands
from session.events import HunkRefused
from session.project.edit_thread import EditThread
from session.project.workspace import Workspace
from session.surgery.dependents import Dependent, Left, Used, defined, dependents
from session.text.sanitize import clean, clean_line
from session.turn.turns import Turns

MOST_SHOWN = 300
"""Lines of the dropped hunks that are sent to the model."""
_HUNK = re.compile(r"h?(\d{1,9})")


class SurgeryError(Exception):
    """A hunk cannot be taken out; the message says why and what to do. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What ``/drop`` asks for: a hunk, with what depends on it or not, that again or not, and why."""

    hunk: str
    with_dependents: bool = False
    again: bool = False
    why: str = ""


class Surgery:
    """Takes hunks of one session out."""

    def __init__(
        self,
        workspace: Workspace,
        thread: EditThread,
        hunks: HunkCommands,
        turns: Turns,
    ) -> None:
        self._landing = workspace.landing
        self._ledger = workspace.ledger
        self._thread = thread
        self._hunks = hunks
        self._turns = turns

    def parsed(self, argument: str) -> Cut | None:
        """What ``/drop ARGUMENT`` means; None where it names no landed hunk. Raises SurgeryError for the name
        of a hunk that is not landed."""
        first, *rest = argument.split() or [""]
        named = _HUNK.fullmatch(first)
        if named is None:
            return None
        hunk = f"h{int(named[1])}"
        if hunk not in self._hunks.undoable.landed:
            if first.startswith("h"):
                raise SurgeryError(f"{hunk} is not a landed hunk of this session")
            return None
        mode = rest.pop(0) if rest and rest[0] in ("all", "again") else ""
        return Cut(hunk, bool(mode), mode == "again", " ".join(rest))

    async def dependents(self, hunk: str) -> tuple[Dependent, ...]:
        """The landed hunks of this session that depend on ``hunk``, the oldest first."""
        own = frozenset(self._hunks.undoable.landed)
        return await self._thread.run(lambda: self._dependents(hunk, own))

    async def drop(self, cut: Cut) -> str:
        """Undo a hunk, and those that depend on it, the newest first. Returns a line for the user.

        The model is told with the next request, which is sent at once with ``again``. Raises SurgeryError
        where the hunk has dependents and nothing was said of them, or where one cannot be undone; then
        everything is as before.
        """
        found = await self.dependents(cut.hunk)
        if found and not cut.with_dependents:
            listed = "; ".join(map(str, found))
            raise SurgeryError(
                f"others depend on {cut.hunk}: {listed}. /drop {cut.hunk} all takes them out too, "
                f"/drop {cut.hunk} again also asks for them again"
            )
        landed = list(self._hunks.undoable.landed)
        names = sorted({cut.hunk, *(each.hunk for each in found)}, key=landed.index)
        lost = await self._lost(found)
        await self._undo(names[::-1], cut)
        if cut.again and found:
            self._turns.submit(_request(cut, found, lost))
        redo = f"; F10 {len(names)} times brings them back" if found else "; F10 brings it back"
        return f"dropped {' and '.join(names)}{redo}"

    async def _undo(self, names: list[str], cut: Cut) -> None:
        done: list[str] = []
        for name in names:
            why = cut.why if name == cut.hunk else f"it depended on {cut.hunk}, which I dropped"
            result = await self._hunks.undo(name, why=why)
            if isinstance(result, HunkRefused):
                for each in reversed(done):
                    await self._hunks.redo(each)
                raise SurgeryError(f"{name} cannot be undone, so nothing was dropped: {result.message}")
            done.append(name)

    async def _lost(self, found: Collection[Dependent]) -> str:
        """What the dependents changed, to be asked for again."""
        if not found:
            return ""
        try:
            text = (await self._hunks.diff(" ".join(each.hunk for each in found))).text
        except DiffError:
            return ""
        lines = text.split("\n")
        more = [f"… {len(lines) - MOST_SHOWN} more lines"] if len(lines) > MOST_SHOWN else []
        return "\n".join([*lines[:MOST_SHOWN], *more])

    # In the edit thread.

    def _dependents(self, hunk: str, own: Collection[str]) -> tuple[Dependent, ...]:
        last: dict[str, Entry] = {}
        for entry in self._ledger.entries():
            if entry.hunk in own:
                last.pop(entry.hunk, None)
                last[entry.hunk] = entry
        landed = {name: entry for name, entry in last.items() if entry.op is not Op.UNDO}
        if hunk not in landed:
            return ()
        used = {name: _used(entry) for name, entry in landed.items()}
        return dependents(hunk, used, lambda name: self._left(landed[name]))

    def _left(self, entry: Entry) -> Left:
        return Left(
            self._landing.leaning(entry.hunk),
            defined(self._names(entry.before, entry.path), self._names(entry.after, entry.place)),
        )

    def _names(self, digest: str | None, path: str) -> list[str]:
        from session.project.definitions import definitions_in

        if digest is None:
            return []
        try:
            text = decode(self._ledger.content(digest), path).text
        except FileError:
            return []
        return [each.name for each in definitions_in(path, text)]


def _used(entry: Entry) -> Used:
    from context.text.words import identifiers

    old = "".join(line for splice in entry.splices for line in splice.old)
    new = "".join(line for splice in entry.splices for line in splice.new)
    return Used(clean_line(entry.place), frozenset(identifiers(new)) - frozenset(identifiers(old)))


def _request(cut: Cut, found: Collection[Dependent], lost: str) -> str:
    from context.text.fences import fenced

    names = " and ".join(each.hunk for each in found)
    because = f" because: {clean(cut.why).strip()}" if cut.why else ""
    reasons = "\n".join(f"- {each}" for each in found)
    shown = f"\n\nThis is what they changed:\n{fenced('diff', lost)}" if lost else ""
    return (
        f"I took {cut.hunk} out{because}. These edits depended on it and were undone with it:\n{reasons}\n\n"
        f"Do again, without {cut.hunk}, what {names} were for. Change nothing else.{shown}"
    )
