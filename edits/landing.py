"""Landing: a hunk from the model becomes bytes on disk, or a refusal that says why not.

Each hunk is journalled, written and settled on its own, under a lock that all processes of the
project share. The file is read right before that, so that the hunk is placed in what the user saved
last. If the file changes during the write, the hunk is placed again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path

from edits.change import Change, GitRules, Planner, SymbolSource, already_exists
from edits.files.durable import Step, new_token, no_step
from edits.files.path_jail import Changed, resolve
from edits.files.text import FileError, TextFile, digest
from edits.files.tree import Tree
from edits.guards.off_limits import OffLimits
from edits.guards.protection import Protection
from edits.hunk import (
    Action,
    Extent,
    Format,
    Guard,
    Held,
    Hunk,
    Landed,
    RefusalCode,
    Refused,
    RefusedBy,
    Rung,
    Status,
)
from edits.ledger.crash_recovery import settle as settle_intent
from edits.ledger.entry import Entry, Op, State
from edits.ledger.ledger import Ledger
from edits.ledger.reverse import Reversal, plan_reversal
from edits.ledger.undo import follow, live_range
from edits.placing.locate import find
from edits.placing.place import Checker, Placed, place
from edits.placing.splices import extent_of, new_range

# Attempts to land a hunk in a file that keeps changing meanwhile.
_TRIES = 5
_MOST_CONTENTS = 32
"""Number of contents of files that are kept while the places of many hunks are looked for."""


class Landing:
    """Lands, undoes and redoes hunks in the project at ``root``. Only one thread at a time may call it.

    ``files`` lists the paths that a message may suggest when a path is wrong. ``symbols`` gives the
    definitions in a file's text, for anchors that name one in other words than the file. ``step`` is
    called after each step of a landing. ``protection`` can be replaced at any time; ``off_limits`` are the
    files that are never edited; ``git`` knows the rules for new ones. ``checker`` says what does not parse.
    """

    def __init__(
        self,
        root: Path,
        ledger: Ledger,
        *,
        files: Callable[[], Iterable[str]] = tuple,
        symbols: SymbolSource | None = None,
        protection: Protection | None = None,
        off_limits: OffLimits | None = None,
        git: GitRules | None = None,
        checker: Checker | None = None,
        step: Step = no_step,
    ) -> None:
        self.protection = protection
        self._root = root.resolve()
        self._tree = Tree(self._root)
        self._ledger = ledger
        limits = off_limits or OffLimits()
        self._planner = Planner(self._tree, limits, ledger, files, symbols, git, checker)
        self._step = step
        self._aimed: tuple[tuple[str, int, int, int], TextFile] | None = None

    @property
    def rehearsed(self) -> Mapping[str, bytes | None]:
        """The files that dry runs would have written, by path; None for those they would have deleted."""
        return self._planner.remembered

    def forget(self) -> None:
        """Forget the dry runs so far."""
        self._planner.forget()

    def land(
        self,
        hunk: Hunk,
        *,
        hunk_id: str,
        session: str = "",
        turn: str = "",
        dry_run: bool = False,
        allow: Collection[Guard] = (),
    ) -> Landed | Refused:
        """Land ``hunk``. With ``dry_run`` nothing is written, but later dry runs see what would have been.

        A hunk that guards hold back gives ``Held``, which is a ``Refused``; guards in ``allow`` are
        passed over.
        """
        write = self._planner.remember if dry_run else self._commit

        def attempt() -> Landed | Refused:
            planned = self._planner.plan(hunk, hunk_id, session, turn, dry=dry_run)
            return self._land(planned, write, frozenset(allow))

        result = self._tried(hunk, hunk_id, attempt, alone=not dry_run)
        self._ledger.top_up_ids()
        return result

    def weigh(self, hunk: Hunk, *, hunk_id: str) -> Landed | Refused:
        """The result that :meth:`land` would have now. Nothing is written or remembered."""

        def attempt() -> Landed | Refused:
            return self._land(self._planner.plan(hunk, hunk_id, "", "", dry=False), _no_write, frozenset())

        return self._tried(hunk, hunk_id, attempt, alone=False)

    def _tried(
        self, hunk: Hunk, hunk_id: str, attempt: Callable[[], Landed | Refused], *, alone: bool
    ) -> Landed | Refused:
        """The result of ``attempt``, with errors made refusals; ``alone`` runs it under the ledger's lock."""
        try:
            with self._ledger.exclusive() if alone else nullcontext():
                return self._try(attempt)
        except FileError as error:
            return Refused(hunk_id, hunk.path, error.code, error.message, by=error.by)
        except OSError as error:
            message = f"system error: {error.strerror}"
            return Refused(hunk_id, hunk.path, RefusalCode.IO, message, by=RefusedBy.DISK)
        except UnicodeEncodeError:
            message = "the edit contains characters that cannot be written (lone surrogates)"
            return Refused(hunk_id, hunk.path, RefusalCode.MALFORMED, message)

    def divide(self, hunk: Hunk, request: str, *, dry_run: bool = False) -> tuple[Hunk, ...]:
        """The hunks that a whole file consists of (see :meth:`~edits.change.Planner.divide`)."""
        return self._planner.divide(hunk, request, dry=dry_run)

    def meant(self, hunk: Hunk) -> str | None:
        """The file whose text the sample ``hunk`` is; None where it is not that of one file."""
        return self._planner.meant(hunk)

    def foresee(self, path: str) -> Refused | None:
        """What refuses or holds any hunk for ``path``; known while the hunk still streams."""
        try:
            file = self._planner.names(resolve(self._root, path))
        except FileError as error:
            return Refused("", path, error.code, error.message)
        return None if self.protection is None else self.protection.of_path("", file)

    def undo(self, hunk_id: str | None = None) -> Landed | Refused:
        """Undo a hunk, or without an id the last one landed. The lines in the result are the old text's."""
        return self._reverse(hunk_id, Op.UNDO)

    def redo(self, hunk_id: str | None = None) -> Landed | Refused:
        """Land an undone hunk again, or the one undone last without an id."""
        return self._reverse(hunk_id, Op.REDO)

    def undo_turn(self, session: str, turn: str) -> list[Landed | Refused]:
        """Undo every landed hunk of a turn, the newest first; a refusal does not stop the rest."""
        records = [one for one in self._ledger.hunks() if (one.session, one.turn) == (session, turn)]
        return [self._reverse(one.id, Op.UNDO) for one in reversed(records) if one.state == "landed"]

    def aim(self, path: str, old_lines: Sequence[str]) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) where ``old_lines`` are now; None if that is not one place."""
        file = self._aimed_file(path)
        found = find(file.lines, old_lines) if file is not None else None
        return None if found is None else (found[0] + 1, found[1] + 1)

    def aim_whole(self, hunk: Hunk) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) that a whole hunk would replace now: its anchors and the looser
        rungs count too. None where it fits nowhere, or replaces other lines than it shows."""
        aimed = self.aim(hunk.path, hunk.old) if hunk.old else None
        file = self._aimed_file(hunk.path)
        by_lines = hunk.action in (Action.UPDATE, Action.MOVE) and hunk.replacement is None
        if aimed is not None or file is None or not by_lines:
            return aimed
        found = place(file, hunk, self._planner.definitions(hunk.path, file.text))
        if not isinstance(found, Placed) or found.end - found.start != len(hunk.old):
            return None
        return found.start, found.end

    def _aimed_file(self, path: str) -> TextFile | None:
        """The text of the file that hunks are aimed at, read again once it changed; None if it cannot be."""
        try:
            target = resolve(self._root, path)
            status = self._tree.status(target.name)
            if status is None:
                return None
            key = (target.name, status.st_mtime_ns, status.st_size, status.st_ino)
            if self._aimed is None or self._aimed[0] != key:
                self._aimed = (key, self._tree.read_text(target.name, path))
        except (FileError, OSError):
            return None
        return self._aimed[1]

    def where(self, hunks: Collection[str]) -> dict[str, tuple[str, int, int]]:
        """The file and the lines (from 1, end exclusive) that the text of each landed hunk covers now."""
        entries = self._ledger.entries()
        last = {entry.hunk: entry for entry in entries if entry.hunk in hunks}
        content, read = lru_cache(_MOST_CONTENTS)(self._ledger.content), lru_cache(1)(self._tree.read)
        found: dict[str, tuple[str, int, int]] = {}
        # By file, so that contents are read once.
        for hunk, entry in sorted(last.items(), key=lambda each: each[1].place):
            if entry.op is Op.UNDO:
                continue
            try:
                trail = follow(entry, entries, content)
                now = read(trail.path)
                found[hunk] = (trail.path, *live_range(entry, trail, now, digest(now), content))
            except FileError:
                continue
        return found

    def leaning(self, hunk_id: str) -> frozenset[str]:
        """The later hunks without which a landed hunk cannot be undone: they changed its lines, or its file
        is there only through it."""
        entries = self._ledger.entries()
        newest = {entry.hunk: entry for entry in entries}
        last = newest.get(hunk_id)
        if last is None or last.op is Op.UNDO:
            return frozenset()
        try:
            found = set(follow(last, entries, self._ledger.content).lineage.leaning(hunk_id))
        except FileError:
            found = set()
        if None in (last.before, last.after) or last.moved_to:
            later = (entry for entry in entries if entry.seq > last.seq)
            found |= {entry.hunk for entry in later if last.place in (entry.path, entry.place)}
        return frozenset(found - {hunk_id} - {name for name in found if newest[name].op is Op.UNDO})

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
                RefusalCode.CONFLICT, "another program keeps writing this file; try again when it is done"
            ) from None

    def _land(
        self, planned: Change | Landed | Refused, write: Callable[[Change], None], allow: Collection[Guard]
    ) -> Landed | Refused:
        if not isinstance(planned, Change):
            return planned
        held = None if self.protection is None else _held(planned, self.protection, allow)
        if held is not None:
            return held
        if planned.overwrites and Guard.OVERWRITES not in allow:
            return already_exists(planned.hunk, planned.shown, Format.V4A)
        write(planned)
        return _landed(planned)

    def _reverse(self, hunk_id: str | None, op: Op) -> Landed | Refused:
        try:
            with self._ledger.exclusive():
                return self._try(lambda: self._reverse_once(hunk_id, op))
        except FileError as error:
            return Refused(hunk_id or "", "", error.code, error.message)
        except OSError as error:
            return Refused(hunk_id or "", "", RefusalCode.IO, f"system error: {error.strerror}")

    def _reverse_once(self, hunk_id: str | None, op: Op) -> Landed | Refused:
        planned = plan_reversal(self._tree, self._ledger, hunk_id, op)
        if isinstance(planned, Refused):
            return planned
        entry = planned.entry
        change = Change(
            hunk=entry.hunk,
            op=op,
            action=entry.action,
            path=planned.path,
            before=planned.before,
            after=planned.after,
            shown=planned.path,
            splices=planned.splices,
            moved_to=planned.moved_to,
            status=entry.status,
            rung=entry.rung,
            session=entry.session,
            turn=entry.turn,
            same=entry.same,
            reverts=entry.seq,
            mode=planned.mode,
        )
        if planned.before is not None:
            self._tree.check_writable(planned.path)
        if planned.splices or planned.before is None or planned.after is None or planned.moved_to:
            self._commit(change, planned)
        return _landed(change)

    def _commit(self, change: Change, reversal: Reversal | None = None) -> None:
        """Journal, write and settle. Raises Changed if the file is no longer the one that was planned for."""
        tree, target = self._tree, change.moved_to or change.path
        made = tree.missing_folders(target) if change.after is not None else ()
        in_place = change.before is not None and not change.moved_to and tree.must_stay_in_place(change.path)
        entry = self._ledger.intend(
            Entry(
                seq=0, hunk=change.hunk, op=change.op, action=change.action, root=str(self._root),
                path=change.path, moved_to=change.moved_to,
                before=None if change.before is None else digest(change.before),
                after=None if change.after is None else digest(change.after),
                splices=change.splices, reverts=change.reverts, in_place=in_place, mode=change.mode,
                made=made, token=new_token(),
                session=change.session, turn=change.turn, time=time.time(),
                status=change.status, rung=change.rung, same=change.same,
            ),
            change.before,
        )  # fmt: skip
        self._step("intent")
        try:
            if change.after is None:
                tree.remove(change.path, entry.before or "", self._step, entry.token)
            else:
                tree.make_folders(target)
                expected = None if change.moved_to else entry.before
                tree.write(
                    target, change.after, expected=expected, like=change.path, mode=change.mode,
                    token=entry.token, in_place=in_place, step=self._step,
                )  # fmt: skip
                if change.moved_to:
                    tree.remove(change.path, entry.before or "", self._step, entry.token)
        except Changed:
            if change.moved_to and tree.fingerprint(target) == entry.after:
                # The source was written after it had been copied: remove the copy and plan the move again.
                tree.remove(target, entry.after or "", self._step, entry.token)
            self._ledger.settle(entry, State.DROPPED)
            tree.remove_folders(made)
            raise
        except BaseException:  # also Ctrl+C and a full disk: no write may be left unsettled
            # The file shows what happened: a failed write is settled like that of a dead process.
            self._ledger.settle(entry, settle_intent(entry, self._ledger.content))
            raise
        self._ledger.settle(entry, State.DONE)
        self._step("settled")
        if reversal is not None:
            tree.remove_folders(reversal.emptied)


def _held(planned: Change, protection: Protection, allow: Collection[Guard]) -> Held | None:
    change = (planned.before, planned.after, planned.splices)
    asked = planned.overwrites and protection.overwrites
    return protection.of_change(
        planned.hunk, planned.files, *change, allow, overwrites=asked, loses=planned.loses
    )


def _no_write(change: Change) -> None:
    del change


def _landed(change: Change) -> Landed:
    start, end = (0, 0) if change.after is None else new_range(change.splices)
    status = Status.APPLIED if change.rung is Rung.EXACT else Status.APPLIED_FUZZY
    extent = _extent(change)
    placed = (change.action, status, change.rung, start, end, change.moved_to, extent)
    return Landed(change.hunk, change.shown, *placed, typed=change.typed)


def _extent(change: Change) -> Extent:
    """How much ``change`` changes."""
    if change.after is None and change.before is not None:
        return Extent(0, change.before.count(b"\n") + (not change.before.endswith(b"\n")))
    return extent_of(change.splices)
