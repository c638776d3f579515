"""Places a session's hunks and writes them, and keeps what the model knows of the files up to date."""

from __future__ import annotations

from edits.hunk import Guard, Held, Hunk, Landed, Refused, Status
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from session.project.open_files import OuterTexts
from session.turn.turn_memory import EditedFiles


class HunkWriter:
    """Lands the hunks of one session, in all of its turns.

    Every method but :meth:`next_id` reads or writes files and is called in the edit thread.
    """

    def __init__(self, session: str, landing: Landing, ledger: Ledger, edited_files: EditedFiles) -> None:
        """``edited_files`` learns of each hunk that was written."""
        self.outer: OuterTexts | None = None
        """The texts of an editor outside of spark, brought up to date with each hunk."""
        self._session = session
        self._landing = landing
        self._ledger = ledger
        self._edited_files = edited_files

    def next_id(self) -> str:
        """The id of the next hunk. It may be called on the event loop. Raises OSError."""
        return self._ledger.next_id()

    def held_by_path(self, path: str) -> Held | None:
        """The guards that hold every edit of ``path``, whatever it says; None where there are none."""
        result = self._landing.foresee(path)
        return result if isinstance(result, Held) else None

    def lines_of(self, path: str, old: tuple[str, ...]) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) where ``old`` stands now, or None if not in one place."""
        return self._landing.aim(path, old) if old else None

    def place_of(self, edit: Hunk) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) that ``edit`` would replace now, or None if that is not known."""
        return self._landing.aim_whole(edit)

    def divide(self, edit: Hunk, request: str) -> tuple[Hunk, ...]:
        """The hunks that the whole file ``edit`` consists of."""
        return self._landing.divide(edit, request)

    def meant(self, edit: Hunk) -> str | None:
        """The file whose text the sample ``edit`` is; None where it is not that of one file."""
        return self._landing.meant(edit)

    def check(self, hunk: str, edit: Hunk) -> Landed | Refused:
        """The result that landing ``edit`` would have now. Nothing is written."""
        return self._landing.weigh(edit, hunk_id=hunk)

    def write(self, hunk: str, turn: str, edit: Hunk, allow: frozenset[Guard]) -> Landed | Refused:
        """Land ``edit`` as ``hunk``, past the guards that the user has allowed."""
        if self.outer is not None:
            self.outer.before(edit.path)
        result = self._landing.land(edit, hunk_id=hunk, session=self._session, turn=turn, allow=allow)
        if self.outer is not None and isinstance(result, Landed):
            self.outer.after(result.moved_to or result.path)
        if isinstance(result, Landed) and result.status is not Status.ALREADY_APPLIED:
            self._edited_files.landed_hunk(self._ledger, hunk)
        return result

    def recorded(self, hunk: str) -> Landed | None:
        """The result that the ledger holds of ``hunk``, or None where the ledger has it not as landed.

        A landing that raised may have written its text all the same.
        """
        landed = (each for each in self._ledger.hunks() if each.id == hunk and each.state == "landed")
        record = next(landed, None)
        if record is None:
            return None
        path, moved_to = (record.moved_from, record.path) if record.moved_from else (record.path, None)
        placed = (record.status, record.rung, record.start, record.end)
        return Landed(hunk, path, record.action, *placed, moved_to)

    def take_back(self, hunk: str) -> Landed | Refused:
        """Undo ``hunk``, which has landed: it was a draft."""
        record = next((each for each in self._ledger.hunks() if each.id == hunk), None)
        if self.outer is not None and record is not None:
            self.outer.before(record.path)
        result = self._landing.undo(hunk)
        if self.outer is not None and isinstance(result, Landed):
            self.outer.after(result.moved_to or result.path)
        return result
