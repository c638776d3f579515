"""``Session.surgery``: take out or amend one landed hunk, and ask for those that depend on it again.

A hunk depends on another one by the lines that it left, or by names that it defines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from edits.files.text import FileError, decode
from edits.files.tree import Tree
from edits.ledger.entry import Entry, Op
from session.base.events import HunkRefused
from session.base.text.sanitize import clean, clean_line
from session.commands.diff_commands import DiffError
from session.commands.hunk_commands import HunkCommands
from session.project.edit_thread import EditThread
from session.project.workspace import Workspace
from session.turn.turns import Turns

LEAST_NAME = 3
"""Characters of a name from which on a use of it says something."""


@dataclass(frozen=True, slots=True)
class Dependent:
    """A hunk that depends on ``on``, and why in words."""

    hunk: str
    path: str
    on: str
    why: str

    def __str__(self) -> str:
        return f"{self.hunk} {self.path}: {self.why}"


@dataclass(frozen=True, slots=True)
class Used:
    """The words of a hunk's new lines that its old ones lack."""

    path: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Left:
    """What a hunk left for others: ``leaning`` are those that cannot stay when its lines go, ``defines`` the
    names that it defines, and ``imports`` the words of its imports, for the file at ``path`` alone."""

    leaning: frozenset[str]
    defines: frozenset[str]
    path: str = ""
    imports: frozenset[str] = frozenset()


def dependents(hunk: str, used: Mapping[str, Used], left: Callable[[str], Left]) -> tuple[Dependent, ...]:
    """The hunks that depend on ``hunk``, on one of those, and so on; in the order of ``used``."""
    found: dict[str, Dependent] = {}
    wanted = [hunk]
    while wanted:
        on = wanted.pop()
        gives = left(on)
        for name, each in used.items():
            if name in (hunk, on) or name in found:
                continue
            if why := _why(name, each, on, gives):
                found[name] = Dependent(name, each.path, on, why)
                wanted.append(name)
    return tuple(found[name] for name in used if name in found)


def _why(name: str, each: Used, on: str, gives: Left) -> str:
    if name in gives.leaning:
        return f"changes lines of {on}"
    given = gives.defines | gives.imports if each.path == gives.path else gives.defines
    names = sorted(word for word in given & each.words if len(word) >= LEAST_NAME)
    return f"uses {', '.join(names[:3])} of {on}" if names else ""


def defined(before: Collection[str], after: Collection[str]) -> frozenset[str]:
    """The last parts of the definitions' names in ``after`` that are not in ``before``, without those that a
    language itself looks for."""
    known = {_last(name) for name in before}
    names = {_last(name) for name in after}
    return frozenset(name for name in names - known if not (name.startswith("__") and name.endswith("__")))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


MOST_SHOWN = 300
"""Lines of the dropped hunks that are sent to the model."""
_HUNK = re.compile(r"h?(\d{1,9})")
_OTHER = re.compile(r"h(\d{1,9})")


class SurgeryError(Exception):
    """A hunk cannot be taken out; the message says why and what to do. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What ``/drop`` and ``/amend`` ask for: a hunk, with what depends on it or not, that again or not, and
    why. With ``chosen``, only those of them go."""

    hunk: str
    with_dependents: bool = False
    again: bool = False
    why: str = ""
    amended: bool = False
    """The hunk stays, as the user edited its lines; only those that depend on it go."""
    chosen: tuple[str, ...] = ()
    alone: bool = False
    """It goes, whatever depends on it."""

    @property
    def command(self) -> str:
        """The command that asks for it."""
        return f"/{'amend' if self.amended else 'drop'} {self.hunk}"


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
        self._tree = Tree(workspace.root)
        self._thread = thread
        self._hunks = hunks
        self._turns = turns

    def parsed(self, argument: str, *, amended: bool = False) -> Cut | None:
        """What ``/drop ARGUMENT`` means, or with ``amended`` what ``/amend ARGUMENT`` does; None where it
        names no landed hunk.

        Raises SurgeryError for the name of a hunk that is not landed, and where nothing else can be meant.
        """
        first, *rest = argument.split() or [""]
        named = _HUNK.fullmatch(first)
        if named is None:
            if amended:
                raise SurgeryError(f"{clean_line(first)} is not a hunk: /amend h3 [all|again] [WHY]")
            return None
        hunk = f"h{int(named[1])}"
        if hunk not in self._hunks.undoable.landed:
            if amended or first.startswith("h"):
                raise SurgeryError(f"{hunk} is not a landed hunk of this session")
            return None
        chosen = []
        while rest and (other := _OTHER.fullmatch(rest[0])) is not None:
            chosen.append(f"h{int(other[1])}")
            rest.pop(0)
        mode = rest.pop(0) if rest and rest[0] in ("all", "again") else ""
        with_others = bool(mode or chosen)
        return Cut(hunk, with_others, mode == "again", " ".join(rest), amended, tuple(chosen))

    async def dependents(self, hunk: str) -> tuple[Dependent, ...]:
        """The landed hunks of this session that depend on ``hunk``, the oldest first."""
        own = frozenset(self._hunks.undoable.landed)
        return await self._thread.run(lambda: self._dependents(hunk, own))

    async def drop(self, cut: Cut) -> str:
        """Undo a hunk, unless the user amended it, and those that depend on it, the newest first. Returns a
        line for the user.

        The model is told with the next request, which is sent at once with ``again``. Raises SurgeryError
        where the hunk has dependents and nothing was said of them, or where one cannot be undone; then
        everything is as before.
        """
        found = await self.dependents(cut.hunk)
        if cut.alone:
            found = ()
        if found and not cut.with_dependents:
            listed = "; ".join(map(str, found))
            raise SurgeryError(
                f"others depend on {cut.hunk}: {listed}. {cut.command} all takes them out too, "
                f"{cut.command} again also asks for them again, {cut.command} {found[0].hunk} takes that one"
            )
        if cut.chosen:
            known = {each.hunk for each in found}
            if odd := [each for each in cut.chosen if each not in known]:
                raise SurgeryError(f"{odd[0]} does not depend on {cut.hunk}; nothing was dropped")
            found = tuple(each for each in found if each.hunk in cut.chosen)
        if cut.amended and not found:
            return f"nothing depends on {cut.hunk}"
        landed = list(self._hunks.undoable.landed)
        own = set() if cut.amended else {cut.hunk}
        names = sorted({*own, *(each.hunk for each in found)}, key=landed.index)
        lost = await self._lost(found)
        await self._undo(names[::-1], cut)
        if cut.again and found:
            lines = await self._lines(cut.hunk) if cut.amended else ""
            self._turns.submit(_request(cut, found, lost, lines), typed=cut.why)
        redo = f"; /redo {len(names)} times brings them back" if len(names) > 1 else "; /redo brings it back"
        return f"dropped {' and '.join(names)}{redo}"

    async def _undo(self, names: list[str], cut: Cut) -> None:
        done: list[str] = []
        for name in names:
            what = "edited" if cut.amended else "dropped"
            why = cut.why if name == cut.hunk else f"it depended on {cut.hunk}, which I {what}"
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

    async def _lines(self, hunk: str) -> str:
        """The lines of ``hunk`` as they are in its file now; empty where they can no longer be told."""
        places = await self._hunks.places({hunk})
        if not places:
            return ""
        place = places[0]
        content = await self._thread.run(lambda: self._tree.read_if_there(place.path))
        try:
            lines = decode(content or b"", place.path).text.splitlines(keepends=True)
        except FileError:
            return ""
        return "".join(lines[place.start - 1 : place.end - 1][:MOST_SHOWN])

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
        there = {name: entry for name, entry in landed.items() if name == hunk or self._is_there(entry)}
        used = {name: self._used(entry) for name, entry in there.items()}
        return dependents(hunk, used, lambda name: self._left(landed[name]))

    def _is_there(self, entry: Entry) -> bool:
        """Whether anything of a hunk is in its file still: git or another program may have taken it out."""
        try:
            now = set(decode(self._tree.read_if_there(entry.place) or b"", entry.place).text.split("\n"))
        except FileError:
            return True
        old = {line.rstrip("\r\n") for splice in entry.splices for line in splice.old if line.strip()}
        new = {line.rstrip("\r\n") for splice in entry.splices for line in splice.new if line.strip()}
        added = new - old
        return bool(added & now) if added else not old or not old <= now

    def _used(self, entry: Entry) -> Used:
        from session.project.definitions import names_used

        old: set[int] = set()
        new: set[int] = set()
        moved = 0
        for splice in entry.splices:
            old.update(range(splice.start, splice.start + len(splice.old)))
            new.update(range(splice.start + moved, splice.start + moved + len(splice.new)))
            moved += len(splice.new) - len(splice.old)
        words = names_used(entry.place, self._text(entry.after, entry.place), new)
        return Used(
            clean_line(entry.place),
            words - names_used(entry.path, self._text(entry.before, entry.path), old),
        )

    def _left(self, entry: Entry) -> Left:
        from session.project.definitions import definitions_in, imported_words

        before, after = self._text(entry.before, entry.path), self._text(entry.after, entry.place)
        names, names_now = (
            [each.name for each in definitions_in(path, text)]
            for path, text in ((entry.path, before), (entry.place, after))
        )
        return Left(
            self._landing.leaning(entry.hunk),
            defined(names, names_now),
            clean_line(entry.place),
            imported_words(entry.place, after) - imported_words(entry.path, before),
        )

    def _text(self, digest: str | None, path: str) -> str:
        """The file as it was; empty where there was none, or none that can be read."""
        if digest is None:
            return ""
        try:
            return decode(self._ledger.content(digest), path).text
        except FileError:
            return ""


def _request(cut: Cut, found: Collection[Dependent], lost: str, lines: str) -> str:
    from context.text.safe import fenced

    names = " and ".join(each.hunk for each in found)
    because = f" because: {clean(cut.why).strip()}" if cut.why else ""
    reasons = "\n".join(f"- {each}" for each in found)
    shown = f"\n\nThis is what they changed:\n{fenced('diff', lost)}" if lost else ""
    if cut.amended:
        now = f" Its lines are now:\n{fenced('', clean(lines))}" if lines else " It stays as I edited it."
        done, how = f"I edited {cut.hunk} by hand{because}.{now}\n", f"to go with {cut.hunk} as it is now"
    else:
        done, how = f"I took {cut.hunk} out{because}. ", f"without {cut.hunk}"
    return (
        f"{done}These edits depended on it and were undone{'' if cut.amended else ' with it'}:\n{reasons}\n\n"
        f"Do again, {how}, what {names} were for. Change nothing else.{shown}"
    )
