"""The places of landed hunks, file by file, kept right while lines are added and removed around them."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Mark:
    """A landed hunk: rows ``start`` to ``end`` of its file, from 0, ``end`` one past the last."""

    hunk: str
    start: int
    end: int
    kind: str = "added"
    """What its lines are: ``added``, ``changed``, or the line where some were ``deleted``."""


def kind_of(added: int, removed: int) -> str:
    """The kind of a mark, from the numbers of lines that came and went."""
    return "added" if not removed else "changed" if added else "deleted"


def shifted(mark: Mark, row: int, gone: int, come: int) -> Mark | None:
    """``mark`` after ``gone`` rows from ``row`` on were replaced by ``come`` rows; None when all its rows are
    gone."""
    delta = come - gone
    if not delta:
        return mark  # lines changed in place, as by replacing all: those around the hunk are not its own
    if row + gone <= mark.start and not (gone == 0 and row > mark.start):
        return replace(mark, start=mark.start + delta, end=mark.end + delta)
    if row >= mark.end:
        return mark
    if row <= mark.start and row + gone >= mark.end and gone:
        return replace(mark, start=row, end=row + come) if come else None
    start = min(mark.start, row)
    end = max(start + 1, max(mark.end, row + gone) + delta)
    return replace(mark, start=mark.start if row >= mark.start else row + come, end=end)


class Marks:
    """All landed hunks of the session."""

    def __init__(self) -> None:
        self._files: dict[str, list[Mark]] = {}

    @property
    def paths(self) -> list[str]:
        """The files with landed hunks."""
        return [path for path, marks in self._files.items() if marks]

    def of(self, path: str) -> list[Mark]:
        """The marks of one file, from the top."""
        return sorted(self._files.get(path, ()), key=lambda mark: mark.start)

    def find(self, hunk: str) -> tuple[str, Mark] | None:
        """The path and the mark of a hunk."""
        found = ((path, mark) for path, marks in self._files.items() for mark in marks if mark.hunk == hunk)
        return next(found, None)

    def set(self, path: str, mark: Mark) -> None:
        """Add the mark of a hunk, or move it."""
        self.remove(mark.hunk)
        self._files.setdefault(path, []).append(mark)

    def remove(self, hunk: str) -> tuple[str, Mark] | None:
        """Remove the mark of a hunk, and return its path and mark if there was one."""
        for path, marks in self._files.items():
            for mark in marks:
                if mark.hunk == hunk:
                    marks.remove(mark)
                    return path, mark
        return None

    def edited(self, path: str, row: int, gone: int, come: int) -> None:
        """Follow an edit of ``path``: ``gone`` rows from ``row`` on became ``come`` rows."""
        moved = [shifted(mark, row, gone, come) for mark in self._files.get(path, ())]
        if moved:
            self._files[path] = [mark for mark in moved if mark is not None]

    def renamed(self, path: str, to: str) -> None:
        """Follow a move of a file."""
        if path in self._files:
            self._files[to] = self._files.pop(path)

    def at(self, path: str, row: int) -> Mark | None:
        """The mark on a row, the newest if there are several."""
        found = [
            mark for mark in self._files.get(path, ()) if mark.start <= row < max(mark.end, mark.start + 1)
        ]
        return found[-1] if found else None

    def neighbour(self, path: str, row: int, step: int) -> tuple[str, Mark] | None:
        """The next (``step`` 1) or previous (-1) mark after ``row`` of ``path``, going round all files."""
        order = [(name, mark) for name in sorted(self._files) for mark in self.of(name)]
        if not order:
            return None
        if step > 0:
            later = [each for each in order if (each[0], each[1].start) > (path, row)]
            return later[0] if later else order[0]
        earlier = [each for each in order if (each[0], each[1].start) < (path, row)]
        return earlier[-1] if earlier else order[-1]
