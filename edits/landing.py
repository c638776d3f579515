"""Landing: a hunk from the model becomes bytes on disk, or a refusal that says why not.

Each hunk is journalled, written and settled on its own, under a lock that all processes of the
project share. The file is read right before: what the user saved meanwhile is what the hunk is
placed in, and if the file changes during the write the hunk is placed anew.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from edits.diagnose import likely_file
from edits.entry import Entry, Op, State
from edits.files import (
    Changed,
    Step,
    check_writable,
    fingerprint,
    must_stay_in_place,
    no_step,
    read_bytes,
    remove,
    write_atomic,
)
from edits.guard import Target, resolve
from edits.history import follow, live_range
from edits.hunk import Action, Format, Hunk, Landed, LineKind, RefusalCode, Refused, Rung, Status
from edits.ledger import Ledger
from edits.locate import Miss, Place, Present, find, locate
from edits.plan import Splice, new_range, spliced, splices
from edits.recovery import remove_folders
from edits.recovery import settle as settle_intent
from edits.reverse import Reversal, plan_reversal
from edits.text import FileError, TextFile, decode, digest, encode, whole_lines
from edits.tree import project_files

# A file that someone writes again and again while a hunk lands is left alone after so many tries.
_TRIES = 5


@dataclass(frozen=True, slots=True)
class _Change:
    """A planned change of one file, before it is journalled."""

    hunk: str
    op: Op
    action: Action
    path: str
    before: bytes | None
    after: bytes | None
    splices: tuple[Splice, ...] = ()
    moved_to: str | None = None
    status: Status = Status.APPLIED
    rung: Rung = Rung.EXACT
    session: str = ""
    turn: str = ""
    same: str = ""
    reverts: int | None = None
    mode: int | None = None


class Landing:
    """Lands, undoes and redoes hunks in the project at ``root``. One thread at a time calls it.

    ``files`` lists the project's files, relative, for naming the likely file when a path is wrong;
    ``step`` is told each step of a landing after it is done.
    """

    def __init__(
        self,
        root: Path,
        ledger: Ledger,
        *,
        files: Callable[[], Iterable[str]] | None = None,
        step: Step = no_step,
    ) -> None:
        self._root = root.resolve()
        self._ledger = ledger
        self._files = files or (lambda: project_files(self._root))
        self._step = step
        self._overlay: dict[str, bytes | None] = {}
        self._aimed: tuple[tuple[str, int, int, int], TextFile] | None = None

    def land(
        self, hunk: Hunk, *, hunk_id: str, session: str = "", turn: str = "", dry_run: bool = False
    ) -> Landed | Refused:
        """Land ``hunk``. With ``dry_run`` nothing is written; later dry runs see what it would have done."""
        try:
            if dry_run:
                return self._try(lambda: self._land(hunk, hunk_id, session, turn, True))
            with self._ledger.exclusive():
                return self._try(lambda: self._land(hunk, hunk_id, session, turn, False))
        except FileError as error:
            return Refused(hunk_id, hunk.path, error.code, error.message)
        except OSError as error:
            return Refused(hunk_id, hunk.path, RefusalCode.IO, _system_message(error))
        except UnicodeEncodeError:
            message = "the edit holds characters that cannot be written (lone surrogates)"
            return Refused(hunk_id, hunk.path, RefusalCode.MALFORMED, message)

    def undo(self, hunk_id: str | None = None) -> Landed | Refused:
        """Take a hunk back (without an id: the last one landed). ``start``/``end`` frame the old text."""
        return self._reverse(hunk_id, Op.UNDO)

    def redo(self, hunk_id: str | None = None) -> Landed | Refused:
        """Land an undone hunk again: the one undone last, without an id."""
        return self._reverse(hunk_id, Op.REDO)

    def aim(self, path: str, old_lines: Sequence[str]) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) where ``old_lines`` stand now, or None if not in one place."""
        try:
            target = resolve(self._root, path)
            status = target.real.stat()
            key = (str(target.real), status.st_mtime_ns, status.st_size, status.st_ino)
            if self._aimed is None or self._aimed[0] != key:
                self._aimed = (key, decode(read_bytes(target.real, path), path))
        except (FileError, OSError):
            return None
        found = find(self._aimed[1].lines, old_lines)
        return None if found is None else (found[0] + 1, found[1] + 1)

    def where(self, hunk_id: str) -> tuple[str, int, int] | None:
        """The file, and the lines (from 1, end exclusive), that a landed hunk's text covers now."""
        entries = self._ledger.entries()
        last = next((entry for entry in reversed(entries) if entry.hunk == hunk_id), None)
        if last is None or last.op is Op.UNDO:
            return None
        try:
            trail = follow(last, entries, self._ledger.content)
            now = read_bytes(self._root / trail.path, trail.path)
            start, end = live_range(trail, now, digest(now), self._ledger.content)
        except FileError:
            return None
        return trail.path, start, end

    def _try(self, attempt: Callable[[], Landed | Refused]) -> Landed | Refused:
        for _ in range(_TRIES - 1):
            try:
                return attempt()
            except Changed:
                continue
        try:
            return attempt()
        except Changed:
            raise FileError(
                RefusalCode.CONFLICT, "the file is being written by someone else again and again"
            ) from None

    def _land(self, hunk: Hunk, hunk_id: str, session: str, turn: str, dry: bool) -> Landed | Refused:
        target = resolve(self._root, hunk.path)
        before = self._read(target, dry)
        change = _Change(
            hunk_id, Op.LAND, hunk.action, self._relative(target), before, None,
            session=session, turn=turn, same=_same(hunk),
        )  # fmt: skip
        match hunk.action:
            case Action.ADD:
                outcome = self._plan_add(hunk, target, change)
            case Action.DELETE:
                outcome = self._plan_delete(target, change)
            case Action.MOVE:
                outcome = self._plan_move(hunk, target, change, dry)
            case _:
                outcome = self._plan_update(hunk, target, change)
        if isinstance(outcome, Landed | Refused):
            return outcome
        if dry:
            self._remember(outcome)
        else:
            self._commit(outcome)
        return self._landed(outcome, target.path)

    def _plan_update(self, hunk: Hunk, target: Target, change: _Change) -> _Change | Landed | Refused:
        if change.before is None:
            return self._missing(hunk, change)
        file = decode(change.before, target.path)
        found = locate(file.lines, hunk)
        if isinstance(found, Miss):
            return Refused(change.hunk, target.path, found.code, found.message)
        if isinstance(found, Present) or self._sent_twice(file, found, change):
            rung, start = found.rung, found.start + 1
            end = start + (found.end - found.start if isinstance(found, Present) else len(_new_lines(found)))
            return Landed(change.hunk, target.path, hunk.action, Status.ALREADY_APPLIED, rung, start, end)
        made = splices(file, found, hunk.newline)
        made = tuple(splice for splice in made if splice.old != splice.new)
        if not made and hunk.action is Action.UPDATE:
            start, end = found.start + 1, found.end + 1
            return Landed(
                change.hunk, target.path, hunk.action, Status.ALREADY_APPLIED, found.rung, start, end
            )
        if target.real.exists():
            check_writable(target.real, target.path)
        after = file.encode(spliced(file, made))
        return _with(change, after=after, splices=made, rung=found.rung)

    def _plan_add(self, hunk: Hunk, target: Target, change: _Change) -> _Change | Landed | Refused:
        newline = hunk.newline
        text = "".join(line + newline for line in hunk.new)
        after = encode(text, "utf-8", b"")
        if change.before == after and change.before is not None:
            end = len(hunk.new) + 1
            return Landed(change.hunk, target.path, hunk.action, Status.ALREADY_APPLIED, Rung.EXACT, 1, end)
        if change.before:
            if hunk.alternatives:
                first, *others = hunk.alternatives
                reading = _reading(hunk, first, tuple(others))
                return self._plan_update(reading, target, _with(change, action=Action.UPDATE))
            what = (
                "an empty SEARCH is for a new file"
                if hunk.format is Format.SEARCH_REPLACE
                else "it cannot be added"
            )
            message = f"{target.path} exists already: {what}; edit it with its lines instead"
            return Refused(change.hunk, target.path, RefusalCode.EXISTS, message)
        if change.before is not None and target.real.exists():
            check_writable(target.real, target.path)
        return _with(change, after=after, splices=(Splice(0, (), tuple(whole_lines(text))),))

    def _plan_delete(self, target: Target, change: _Change) -> _Change | Landed | Refused:
        if change.before is None:
            message = f"{target.path} does not exist{self._suggestion(target.path)}"
            return Refused(change.hunk, target.path, RefusalCode.MISSING_FILE, message)
        if target.linked:
            message = f"{target.path} is a symbolic link, which edits do not delete"
            return Refused(change.hunk, target.path, RefusalCode.IO, message)
        mode = None
        if target.real.exists():
            check_writable(target.real, target.path)
            mode = stat.S_IMODE(target.real.stat().st_mode)
        return _with(change, mode=mode)

    def _plan_move(
        self, hunk: Hunk, target: Target, change: _Change, dry: bool
    ) -> _Change | Landed | Refused:
        destination = resolve(self._root, hunk.move_to or "")
        if target.linked or destination.linked:
            message = f"{target.path} or {destination.path} is a symbolic link, which edits do not move"
            return Refused(change.hunk, target.path, RefusalCode.IO, message)
        there = self._read(destination, dry)
        if change.before is None:
            return self._missing(hunk, change)
        if there is not None and destination.real != target.real:
            message = f"{destination.path} exists already: {target.path} cannot be moved there"
            return Refused(change.hunk, target.path, RefusalCode.EXISTS, message)
        planned: _Change | Landed | Refused = _with(change, after=change.before)
        if hunk.lines:
            planned = self._plan_update(hunk, target, change)
        elif target.real.exists():
            check_writable(target.real, target.path)
        if destination.real == target.real or not isinstance(planned, _Change):
            return planned
        return _with(planned, moved_to=self._relative(destination))

    def _missing(self, hunk: Hunk, change: _Change) -> Refused:
        message = f"{hunk.path} does not exist{self._suggestion(hunk.path)}"
        return Refused(change.hunk, hunk.path, RefusalCode.MISSING_FILE, message)

    def _suggestion(self, path: str) -> str:
        likely = likely_file(path, self._files())
        return f"; did you mean {likely}?" if likely else ""

    def _sent_twice(self, file: TextFile, place: Place, change: _Change) -> bool:
        """Did this very hunk land before, and does its new text stand at the place it would land again?

        An insertion after a line finds that line again: sent twice, it must not land twice.
        """
        new = _new_lines(place)
        if list(file.lines[place.start : place.start + len(new)]) != new:
            return False
        undone = {
            entry.hunk: entry.op is Op.UNDO for entry in self._ledger.entries() if entry.same == change.same
        }
        return not all(undone.values())

    def _read(self, target: Target, dry: bool) -> bytes | None:
        """The file's bytes, or None when there is no file. Raises FileError for what is not a file."""
        relative = self._relative(target)
        if dry and relative in self._overlay:
            return self._overlay[relative]
        try:
            return read_bytes(target.real, target.path)
        except FileError as error:
            if error.code is RefusalCode.MISSING_FILE:
                return None
            raise

    def _relative(self, target: Target) -> str:
        return target.real.relative_to(self._root).as_posix()

    def _remember(self, change: _Change) -> None:
        """Note what a dry run would have left."""
        self._overlay[change.path] = None if change.moved_to else change.after
        if change.moved_to:
            self._overlay[change.moved_to] = change.after

    def _reverse(self, hunk_id: str | None, op: Op) -> Landed | Refused:
        try:
            with self._ledger.exclusive():
                return self._try(lambda: self._reverse_once(hunk_id, op))
        except FileError as error:
            return Refused(hunk_id or "", "", error.code, error.message)
        except OSError as error:
            return Refused(hunk_id or "", "", RefusalCode.IO, _system_message(error))

    def _reverse_once(self, hunk_id: str | None, op: Op) -> Landed | Refused:
        planned = plan_reversal(self._root, self._ledger, hunk_id, op)
        if isinstance(planned, Refused):
            return planned
        entry = planned.entry
        change = _Change(
            entry.hunk, op, entry.action, planned.path, planned.before, planned.after, planned.splices,
            planned.moved_to, entry.status, entry.rung, entry.session, entry.turn, entry.same, entry.seq,
            planned.mode,
        )  # fmt: skip
        if planned.before is not None:
            check_writable(self._root / planned.path, planned.path)
        if planned.splices or planned.before is None or planned.after is None or planned.moved_to:
            self._commit(change, planned)
        return self._landed(change, planned.path)

    def _commit(self, change: _Change, reversal: Reversal | None = None) -> None:
        """Journal, write, settle. Raises Changed when the file is no longer what was planned for."""
        source = self._root / change.path
        target = self._root / (change.moved_to or change.path)
        made = _missing_folders(self._root, target.parent) if change.after is not None else ()
        in_place = change.before is not None and not change.moved_to and must_stay_in_place(source)
        entry = self._ledger.intend(
            Entry(
                seq=0, hunk=change.hunk, op=change.op, action=change.action, root=str(self._root),
                path=change.path, moved_to=change.moved_to,
                before=None if change.before is None else digest(change.before),
                after=None if change.after is None else digest(change.after),
                splices=change.splices, reverts=change.reverts, in_place=in_place, mode=change.mode,
                made=made,
                session=change.session, turn=change.turn, time=time.time(),
                status=change.status, rung=change.rung, same=change.same,
            ),
            change.before,
        )  # fmt: skip
        self._step("intent")
        try:
            if change.after is None:
                remove(source, entry.before or "", self._step)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                expected = None if change.moved_to else entry.before
                write_atomic(
                    target, change.after, expected=expected, like=source, mode=change.mode,
                    token=entry.token, in_place=in_place, step=self._step,
                )  # fmt: skip
                if change.moved_to:
                    remove(source, entry.before or "", self._step)
        except Changed:
            if change.moved_to and fingerprint(target) == entry.after:
                # The source was written to after its copy stood: the copy goes, the move is planned anew.
                remove(target, entry.after or "", self._step)
            self._ledger.settle(entry, State.DROPPED)
            remove_folders(self._root, made)
            raise
        except BaseException:
            # The file tells what happened: a failed write is settled like that of a dead process.
            self._ledger.settle(entry, settle_intent(entry, self._ledger.content))
            raise
        self._ledger.settle(entry, State.DONE)
        self._step("settled")
        if reversal is not None:
            remove_folders(self._root, reversal.emptied)

    def _landed(self, change: _Change, shown: str) -> Landed:
        start, end = (0, 0) if change.after is None else new_range(change.splices)
        fuzzy = change.rung is not Rung.EXACT
        status = Status.APPLIED_FUZZY if fuzzy else Status.APPLIED
        return Landed(
            change.hunk, shown, change.action, status, change.rung, start, end, moved_to=change.moved_to
        )


def _with(change: _Change, **values: object) -> _Change:
    from dataclasses import replace

    return replace(change, **values)  # type: ignore[arg-type]


def _reading(hunk: Hunk, lines: tuple[object, ...], others: tuple[object, ...]) -> Hunk:
    from dataclasses import replace

    return replace(hunk, action=Action.UPDATE, lines=lines, alternatives=others)  # type: ignore[arg-type]


def _new_lines(place: Place) -> list[str]:
    return [line.text for line in place.lines if line.kind is not LineKind.OLD]


def _same(hunk: Hunk) -> str:
    said = (hunk.path, hunk.action, hunk.lines, hunk.anchors, hunk.line_hint, hunk.move_to)
    return digest(repr(said).encode("utf-8", "surrogatepass"))


def _missing_folders(root: Path, folder: Path) -> tuple[str, ...]:
    missing: list[str] = []
    while folder != root and not folder.exists():
        missing.append(folder.relative_to(root).as_posix())
        folder = folder.parent
    return tuple(reversed(missing))


def _system_message(error: OSError) -> str:
    where = f"{os.fspath(error.filename)}: " if isinstance(error.filename, str) else ""
    return f"{where}{error.strerror or error}"
