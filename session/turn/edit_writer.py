"""What a lane asks of whatever its hunks are written to."""

from __future__ import annotations

from typing import Protocol

from edits.hunk import Guard, Held, Hunk, Landed, Refused


class EditWriter(Protocol):
    """Where a lane's hunks go: the project (``hunk_writer.HunkWriter``), or an attempt's files.

    Every method but ``next_id`` is called in the edit thread.
    """

    def next_id(self) -> str:
        """The id of the next hunk. Raises OSError."""
        ...

    def held_by_path(self, path: str) -> Held | None:
        """The guards that hold every edit of ``path``; None where there are none."""
        ...

    def lines_of(self, path: str, old: tuple[str, ...]) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) where ``old`` stands now, or None if not in one place."""
        ...

    def place_of(self, edit: Hunk) -> tuple[int, int] | None:
        """The lines (from 1, end exclusive) that ``edit`` would replace now, or None if that is not known."""
        ...

    def divide(self, edit: Hunk, request: str) -> tuple[Hunk, ...]:
        """The hunks that the whole file ``edit`` consists of (see ``edits.change.Planner.divide``)."""
        ...

    def meant(self, edit: Hunk) -> str | None:
        """The file whose text the sample ``edit`` is; None where it is not that of one file."""
        ...

    def check(self, hunk: str, edit: Hunk) -> Landed | Refused:
        """The result that landing ``edit`` would have now."""
        ...

    def write(self, hunk: str, turn: str, edit: Hunk, allow: frozenset[Guard]) -> Landed | Refused:
        """Land ``edit`` as ``hunk``, past the guards in ``allow``."""
        ...

    def recorded(self, hunk: str) -> Landed | None:
        """What is kept of ``hunk`` as landed, if it is."""
        ...

    def take_back(self, hunk: str) -> Landed | Refused:
        """Undo ``hunk``, which has landed: it was a draft."""
        ...
