"""Where the open findings stand in the files as the editor has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from session.base.events import Event, FindingClosed, FindingReported
from tui.editor.signs import Notes


class FindingNotes:
    """The open findings, oldest first, each with a sign that moves with its lines."""

    def __init__(self, notes: Notes, row_of: Callable[[str, int, int], int | None]) -> None:
        """``row_of`` gives the row of an open file's text where rows of the file on disk are."""
        self._notes = notes
        self._row_of = row_of
        self._open: dict[str, FindingReported] = {}

    @property
    def open(self) -> Sequence[FindingReported]:
        """The open findings, the worst first, each file's in the order of its lines."""
        return sorted(self._open.values(), key=lambda each: (_RANKS[each.severity], each.path, each.start))

    def take(self, event: Event) -> bool:
        """Take ``event`` into account; true if the open findings changed."""
        match event:
            case FindingReported(finding=name, path=path, start=start, end=end):
                self._open[name] = event
                row = self._row_of(path, start - 1, end)
                if row is not None:
                    rows = range(row, row + end - start + 1)
                    self._notes.put(_source(name), path, dict.fromkeys(rows, event.severity))
            case FindingClosed(finding=name):
                self._open.pop(name, None)
                self._notes.clear(_source(name))
            case _:
                return False
        return True

    def line_of(self, finding: FindingReported) -> int:
        """The first line of a finding now, from 1: where its sign is, else where it was found."""
        rows = self._notes.of(finding.path, _source(finding.finding))
        return min(rows) + 1 if rows else finding.start

    def at(self, path: str, row: int) -> FindingReported | None:
        """The worst of the open findings on a row."""
        return next(
            (
                each
                for each in self.open
                if each.path == path and row in self._notes.of(path, _source(each.finding))
            ),
            None,
        )

    def __bool__(self) -> bool:
        return bool(self._open)


_RANKS = {"error": 0, "warning": 1, "note": 2}


def _source(name: str) -> str:
    return f"finding {name}"
