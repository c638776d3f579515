"""The selected lines, and the writer that lands nothing outside of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edits.files.diff import changes
from edits.files.text import FileError, decode, split
from edits.files.tree import Tree
from edits.hunk import Action, Format, Guard, Held, Hunk, Landed, RefusalCode, Refused
from session.project.workspace import Workspace


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
