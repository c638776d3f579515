"""The open files, in the order of their tabs: the text of each in the editor, the text on disk, and what
became of both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from tui.editor.buffers.history import History, Selected, Step
from tui.editor.buffers.rows import Place, Rows, rows_between

if TYPE_CHECKING:
    from session.project.opened import Merged, OpenFile


Settled = Literal["mine", "theirs", "both"]
MOST_FOLLOWING = 12
"""Files that came up with the model's hunks and were not touched by the user; the oldest is closed."""


@dataclass(frozen=True, slots=True)
class OpenConflict:
    """Rows ``start`` to ``end`` of the text are the user's, ``theirs`` is what is on disk in their place, and
    ``original`` (from row ``at`` of the base of the next merge) what both were. ``hunk`` wrote theirs; with
    ``whole`` that is all it did. ``undone`` is the hunk whose undo wrote theirs."""

    start: int
    end: int
    theirs: tuple[str, ...]
    original: tuple[str, ...]
    at: int
    hunk: str = ""
    whole: bool = False
    undone: str = ""


class Buffer:
    """The text of one file. ``watch`` is called with every change of its rows, after it was made."""

    def __init__(self, path: str, watch: Callable[[Buffer, Rows], None] = lambda buffer, rows: None) -> None:
        self.path = path
        self.lines: list[str] = [""]
        self.base: OpenFile | None = None
        """The file as last read; None while it is not on disk."""
        self.read_only = True
        self.pinned = False
        """Whether the user opened or changed the file; else it came up with the model's hunks."""
        self.placed = False
        """Whether the user put the cursor where it is; else it is at the beginning or at a landed hunk."""
        self.history = History()
        self.conflicts: tuple[OpenConflict, ...] = ()
        self.selection: Selected = ((0, 0), (0, 0))
        self.scroll: tuple[int, int] = (0, 0)
        """The column and the row at the top left of the pane."""
        self.version = 0
        """Counts the changes of the text."""
        self._watch = watch
        self._disk: list[str] = [""]
        self._origin: list[str] | None = None
        """The base of the next merge while conflicts are open; without any it is the text on disk."""

    # The text.

    @property
    def text(self) -> str:
        """The text, with ``\\n`` between the lines."""
        return "\n".join(self.lines)

    @property
    def origin(self) -> str:
        """The text that the next merge starts from."""
        return "\n".join(self._disk if self._origin is None else self._origin)

    @property
    def dirty(self) -> bool:
        """Whether the text is not the one on disk."""
        return self.lines != self._disk

    def between(self, start: Place, end: Place) -> str:
        """The text from ``start`` to ``end``."""
        (row, column), (last, until) = start, end
        if row == last:
            return self.lines[row][column:until]
        return "\n".join([self.lines[row][column:], *self.lines[row + 1 : last], self.lines[last][:until]])

    def replace(self, start: Place, end: Place, text: str) -> tuple[Rows, Place]:
        """Put ``text`` in the place of what is between; returns the change, and the end of the new text."""
        (row, column), (last, until) = start, end
        new = text.split("\n")
        stop = (row + len(new) - 1, len(new[-1]) + (column if len(new) == 1 else 0))
        new[0] = self.lines[row][:column] + new[0]
        new[-1] += self.lines[last][until:]
        rows = Rows(row, tuple(self.lines[row : last + 1]), tuple(new))
        self.apply(rows)
        return rows, stop

    def apply(self, rows: Rows) -> None:
        """Change these rows."""
        self.lines[rows.row : rows.row + len(rows.old)] = rows.new
        self.version += 1
        small = rows.trimmed()
        start, end = self.selection
        self.selection = (small.place(start), small.place(end))
        if small.row + len(small.old) <= self.scroll[1]:
            self.scroll = (self.scroll[0], max(0, self.scroll[1] + small.growth))
        self.conflicts = tuple(_shifted(conflict, small) for conflict in self.conflicts)
        self._watch(self, small)

    # Undo and redo of what was typed. Steps of hunks go through the ledger.

    def take_back(self) -> Step:
        """Take the last step back, which the user typed or which came from outside of spark."""
        step = self.history.took_back()
        self.apply(step.rows.reversed())
        return step

    def make_again(self) -> Step | None:
        """Make the step again that was taken back last; None where the text is not what it was then."""
        step = self.history.next
        if step is None or not step.rows.fits(self.lines):
            self.history.forget_undone()
            return None
        self.history.made_again()
        self.apply(step.rows)
        return step

    # The file on disk.

    def opened(self, file: OpenFile) -> None:
        """The file was read for the first time."""
        self._on_disk(file)
        self.lines, self.read_only = list(self._disk), file.read_only
        self.version += 1

    def saved(self, file: OpenFile) -> None:
        """The text that was in the buffer when the save began is on disk."""
        self._on_disk(file)
        self._origin, self.conflicts = None, ()

    def needs_merge(self, file: OpenFile) -> bool:
        """Whether the user's text and the file on disk have to be merged, to take ``file``."""
        return self.base is not None and self.dirty and file.text != self.base.text

    def take(self, file: OpenFile, merged: Merged | None, *, hunk: str = "", undid: bool = False) -> Rows:
        """The file on disk is ``file`` now; ``merged`` is the result where one was needed. ``hunk`` landed,
        or was undone. Returns what changed in the text."""
        clean = self.base is None or not self.dirty
        before = {(each.theirs, each.original): each for each in self.conflicts}
        self._on_disk(file)
        if clean:
            self.read_only = file.read_only
        text = file.text if clean else merged.text if merged is not None else None
        rows = Rows(0, (), ()) if text is None else rows_between(self.lines, text.split("\n"))
        if not rows.empty:
            self.apply(rows)
        if clean:
            self._origin, self.conflicts = None, ()
        elif merged is not None:
            self._conflicts_of(merged, "" if undid else hunk)
            whole = rows.empty and len(self.conflicts) == len(before) + 1
            known = [before.get((each.theirs, each.original)) for each in self.conflicts]
            self.conflicts = tuple(
                replace(each, hunk=was.hunk, whole=was.whole, undone=was.undone)
                if was
                else replace(each, whole=whole, undone=hunk if undid else "")
                for each, was in zip(self.conflicts, known, strict=True)
            )
        elif hunk:
            # The file was seen to have changed before the hunk was told of.
            wrote, undone = ("", hunk) if undid else (hunk, "")
            self.conflicts = tuple(
                each if each.hunk or each.undone else replace(each, hunk=wrote, undone=undone)
                for each in self.conflicts
            )
        self.history.came(rows, self.lines, hunk=hunk, undid=undid)
        return rows

    def restore(self, merged: Merged) -> None:
        """Put a text back that was not saved when it was typed, merged with what is there now; one step of
        the history."""
        self.put(merged.text)
        self._conflicts_of(merged, "")

    def put(self, text: str) -> None:
        """Make ``text`` the user's text; one step of the history."""
        rows = rows_between(self.lines, text.split("\n"))
        if not rows.empty:
            self.apply(rows)
            self.history.typed(rows, self.selection, self.selection, 0.0)

    def _conflicts_of(self, merged: Merged, hunk: str) -> None:
        self._origin = merged.origin.split("\n") if merged.conflicts else None
        self.conflicts = tuple(
            OpenConflict(
                each.start - 1, each.end - 1, _lines(each.theirs), _lines(each.original), each.at - 1, hunk
            )
            for each in merged.conflicts
        )

    def row_of(self, start: int, end: int) -> int | None:
        """The row of the text where rows ``start`` to ``end`` of the file on disk are; None where they are
        not in it."""
        if not self.dirty:
            return start
        own = rows_between(self._disk, self.lines)
        guess = start if start < own.row else start + own.growth
        wanted = self._disk[start:end]
        near = sorted({guess, start, *range(own.row, own.end)}, key=lambda row: abs(row - guess))
        return next((row for row in near if self.lines[row : row + len(wanted)] == wanted), None)

    def _on_disk(self, file: OpenFile) -> None:
        self.base = file
        self._disk = file.text.split("\n")
        if not self.dirty:
            self.read_only = file.read_only

    # Conflicts.

    def conflict_at(self, row: int) -> OpenConflict | None:
        """The conflict whose lines of the user's ``row`` is one of."""
        return next((each for each in self.conflicts if each.start <= row < each.end), None)

    def settle(self, conflict: OpenConflict, how: Settled) -> Rows | None:
        """Settle a conflict by one side or both; returns what changed in the text."""
        rows = None
        if how == "theirs":
            rows = Rows(conflict.start, tuple(self.lines[conflict.start : conflict.end]), conflict.theirs)
        elif how == "both":
            rows = Rows(conflict.end, (), conflict.theirs)
        origin = self._origin if self._origin is not None else list(self._disk)
        origin[conflict.at : conflict.at + len(conflict.original)] = conflict.theirs
        moved = len(conflict.theirs) - len(conflict.original)
        self.conflicts = tuple(
            replace(each, at=each.at + moved) if each.at > conflict.at else each
            for each in self.conflicts
            if each is not conflict
        )
        self._origin = origin if self.conflicts else None
        if rows is None or rows.empty:
            return None
        self.apply(rows)
        return rows


def _lines(text: str) -> tuple[str, ...]:
    """Whole lines without their ends."""
    return tuple(text.removesuffix("\n").split("\n")) if text else ()


def _shifted(conflict: OpenConflict, rows: Rows) -> OpenConflict:
    """The conflict after a change of rows; the user's lines grow with what is typed in them."""
    end = rows.row + len(rows.old)
    inside = rows.row >= conflict.start and end <= conflict.end and conflict.start < conflict.end
    if inside:
        return replace(conflict, end=conflict.end + rows.growth)
    if end <= conflict.start:
        return replace(conflict, start=conflict.start + rows.growth, end=conflict.end + rows.growth)
    if rows.row >= conflict.end:
        return conflict
    start = min(conflict.start, rows.row)
    return replace(conflict, start=start, end=max(start, max(conflict.end, end) + rows.growth))


class OpenBuffers:
    """The open files by path. One of them is shown, or none."""

    def __init__(self) -> None:
        self._buffers: dict[str, Buffer] = {}
        self.shown: Buffer | None = None
        self._before: list[str] = []
        """The paths of the files that were shown before, the last one last."""

    def __iter__(self) -> Iterator[Buffer]:
        return iter(list(self._buffers.values()))

    def __len__(self) -> int:
        return len(self._buffers)

    def of(self, path: str) -> Buffer | None:
        """The open file ``path``."""
        return self._buffers.get(path)

    @property
    def dirty(self) -> list[Buffer]:
        """The files with unsaved text."""
        return [buffer for buffer in self if buffer.dirty]

    def show(self, buffer: Buffer) -> list[Buffer]:
        """Show a file, opening it behind the shown one; returns the files that are closed for it."""
        self._remember()
        if buffer.path not in self._buffers:
            after = list(self._buffers)
            at = after.index(self.shown.path) + 1 if self.shown and self.shown.path in after else len(after)
            order = [*after[:at], buffer.path, *after[at:]]
            self._buffers[buffer.path] = buffer
            self._buffers = {path: self._buffers[path] for path in order}
        self.shown = buffer
        following = [each for each in self if not each.pinned and not each.dirty and each is not buffer]
        closed = following[: max(0, len(following) + 1 - MOST_FOLLOWING)]
        for each in closed:
            self._drop(each)
        return closed

    def close(self, buffer: Buffer) -> Buffer | None:
        """Close a file; returns the one that was shown before, if the closed one was shown."""
        order = list(self._buffers)
        at = order.index(buffer.path)
        self._drop(buffer)
        if self.shown is not buffer:
            return self.shown
        self.shown = None
        earlier = [path for path in self._before if path in self._buffers]
        left = list(self._buffers)
        path = earlier[-1] if earlier else left[min(at, len(left) - 1)] if left else ""
        return self._buffers.get(path)

    def neighbour(self, step: int) -> Buffer | None:
        """The next (1) or the previous (-1) file, going round."""
        order = list(self._buffers.values())
        if self.shown is None or self.shown.path not in self._buffers:
            return order[0] if order else None
        return order[(order.index(self.shown) + step) % len(order)]

    def renamed(self, path: str, to: str) -> None:
        """A file was moved; a file open under the new path stays as it is."""
        if path in self._buffers and to not in self._buffers:
            self._buffers[path].path = to
            self._buffers = {buffer.path: buffer for buffer in self}

    def _remember(self) -> None:
        if self.shown is not None:
            self._before = [path for path in self._before if path != self.shown.path][-50:]
            self._before.append(self.shown.path)

    def _drop(self, buffer: Buffer) -> None:
        del self._buffers[buffer.path]
        self._before = [path for path in self._before if path != buffer.path]
