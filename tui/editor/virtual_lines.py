"""What is drawn over the lines of a file and is not in it: the hunk in flight, the text of a suggestion, the
lines before a landed hunk, and what is on disk where unsaved text conflicts with it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from session.assist.suggest.suggestion import Insertion, Suggestion
from tui.editor.buffers.buffer import OpenConflict
from tui.screen.drawing.code import CodeStream, drawable, lexer_for
from tui.screen.drawing.plain import untabbed, visible
from tui.screen.drawing.rows import Span

SUGGESTED = "s"
"""The sign of a suggested line."""
Change = tuple[str, str]
"""The text before and after one change of a hunk."""


@dataclass(frozen=True, slots=True)
class Ghost:
    """``text`` is drawn at ``column`` of ``row``, ``lines`` before the row ``above``, and ``struck`` rows are
    to go. Rows and columns count from 0."""

    row: int = -1
    column: int = 0
    text: str = ""
    above: int = 0
    lines: tuple[str, ...] = ()
    struck: range = range(0)

    def at(self, row: int) -> tuple[int, str] | None:
        """What is drawn in a row, and at which column."""
        return (self.column, self.text) if row == self.row and self.text else None


NO_GHOST = Ghost()


def ghost_of(suggestion: Suggestion | None) -> Ghost:
    """How a suggestion is drawn."""
    if suggestion is None:
        return NO_GHOST
    if isinstance(suggestion, Insertion):
        first, *rest = suggestion.text.split("\n")
        place = suggestion.place
        return Ghost(place.row, len(place.left), first, place.row + 1, tuple(rest))
    after = suggestion.first + len(suggestion.old)
    return Ghost(above=after, lines=suggestion.new, struck=range(suggestion.first, after))


@dataclass(frozen=True, slots=True)
class DocRow:
    """A row of the document; ``removed`` when the hunk in flight deletes it."""

    row: int
    removed: bool = False


@dataclass(frozen=True, slots=True)
class GhostRow:
    """A line that is on the screen and not in the document: a new one of the hunk in flight, or with another
    ``sign`` what is on disk where the user's unsaved text conflicts with it, or a suggested one."""

    spans: tuple[Span, ...]
    sign: str = "+"


@dataclass(frozen=True, slots=True)
class Overlay:
    """Ghost lines between document rows, and the rows that the hunk removes.

    A *view row* counts document rows and ghost lines from the top. Rows and view rows count from 0.
    """

    inserts: tuple[tuple[int, tuple[GhostRow, ...]], ...] = ()
    """Pairs of the document row that follows and the ghost lines before it, sorted by row."""
    removed: frozenset[int] = frozenset()
    first: int | None = None
    """The first document row that the hunk touches; None when nothing is drawn."""
    tail: int = 0
    """The view row of the line typed last."""
    _starts: tuple[int, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        starts, shift = [], 0
        for row, ghosts in self.inserts:
            starts.append(row + shift)
            shift += len(ghosts)
        object.__setattr__(self, "_starts", tuple(starts))

    @property
    def ghosts(self) -> int:
        """The number of ghost lines."""
        return sum(len(ghosts) for _, ghosts in self.inserts)

    def at(self, view_row: int) -> DocRow | GhostRow:
        """The row at ``view_row``; a document row may be past the end of the document."""
        index = bisect_right(self._starts, view_row) - 1
        if index < 0:
            return DocRow(view_row, view_row in self.removed)
        inside = view_row - self._starts[index]
        row, ghosts = self.inserts[index]
        if inside < len(ghosts):
            return ghosts[inside]
        row += inside - len(ghosts)
        return DocRow(row, row in self.removed)

    def view_row(self, row: int) -> int:
        """The view row of document row ``row``."""
        return row + sum(len(ghosts) for before, ghosts in self.inserts if before <= row)

    def document_row(self, view_row: int) -> int:
        """The document row at ``view_row``, or the one below a ghost line."""
        at = self.at(view_row)
        while isinstance(at, GhostRow):
            view_row += 1
            at = self.at(view_row)
        return at.row

    def top(self, top: int, height: int) -> int:
        """The view row at the top of a pane of ``height`` rows that shows the line being typed: ``top``, if
        that does."""
        tail, first = self.tail, min(self.view_row(self.first or 0), self.tail)
        if top <= tail < top + height - 1 and not (first < top and tail - first < height - 2):
            return top
        top = max(0, first - height // 4)
        return tail - (2 * height) // 3 if tail >= top + height - 1 else top

    def with_ghost(self, ghost: Ghost) -> Overlay:
        """This overlay with the lines and the struck rows of a suggestion."""
        if ghost is NO_GHOST:
            return self
        lines = tuple(GhostRow(((visible(untabbed(text)), "muted"),), SUGGESTED) for text in ghost.lines)
        more = self.also([(ghost.above, lines)]) if lines else self
        return replace(more, removed=self.removed | frozenset(ghost.struck))

    def also(self, others: Sequence[tuple[int, tuple[GhostRow, ...]]]) -> Overlay:
        """This overlay with further ghost lines, which come behind its own."""
        if not others:
            return self
        inserts = dict(self.inserts)
        for row, ghosts in others:
            inserts[row] = (*inserts.get(row, ()), *ghosts)
        return replace(self, inserts=tuple(sorted(inserts.items())))


EMPTY = Overlay()


class HunkInFlight:
    """A hunk that is being typed: its lines so far, and the place it aims at."""

    def __init__(self, hunk: str, path: str, action: str) -> None:
        self.hunk, self.path, self.action = hunk, path, action
        self.aim: tuple[int, int] | None = (1, 1) if action == "add" else None
        """The first line and one past the last, from 1."""
        self.replaces = False
        """Whether it puts a whole new text in place of a file that is there."""
        self._lines: list[tuple[str, str]] = []
        self._open: tuple[str, str] | None = None
        self._code = CodeStream(lexer_for(path=path))
        self._ghosts: list[tuple[Span, ...]] = []
        self._coloured = 0
        """The number of lines, of any kind, that the colours cover."""

    def feed(self, kind: str, text: str) -> None:
        """Add a piece of a line; ``kind`` is `` ``, ``-`` or ``+``, and ``\\n`` ends the line."""
        *ended, rest = text.split("\n")
        for piece in ended:
            self._lines.append((kind, (self._open[1] if self._open else "") + piece))
            self._open = None
        if rest:
            self._open = (kind, (self._open[1] if self._open else "") + rest)

    def _colour(self) -> list[tuple[Span, ...]]:
        """The new lines so far with their colours; only what may have changed is lexed."""
        fresh, self._coloured = self._lines[self._coloured :], len(self._lines)
        self._code.append([text for kind, text in fresh if kind == "+"])
        first = self._code.rest
        tail = self._open[1] if self._open is not None and self._open[0] == "+" else None
        self._ghosts[first:] = [tuple(drawable(spans)) for spans in self._code.settle(tail)]
        return self._ghosts

    def displaced(self, line: int, by: int) -> None:
        """The file grew by ``by`` lines from ``line`` on, counted as when the hunk was aimed."""
        if self.aim is not None and self.action != "add" and self.aim[0] >= line:
            self.aim = (self.aim[0] + by, self.aim[1] + by)

    @property
    def growth(self) -> int:
        """The number of lines by which the file grows when the hunk lands as typed."""
        kinds = [kind for kind, _ in self._lines]
        return kinds.count("+") - kinds.count("-")

    def overlay(self, line_count: int) -> Overlay:
        """The hunk over a document of ``line_count`` lines; empty while its place is unknown."""
        if self.aim is None:
            return EMPTY
        row = first = min(max(0, self.aim[0] - 1), line_count)
        removed = set(range(line_count)) if self.replaces else set[int]()
        inserts: dict[int, list[GhostRow]] = {}
        ghosts = iter(self._colour())
        tail = row
        lines = self._lines if self._open is None else [*self._lines, self._open]
        shift = 0
        for kind, _ in lines:
            if kind == "+":
                inserts.setdefault(row, []).append(GhostRow(next(ghosts)))
                tail = row + shift
                shift += 1
            else:
                if kind == "-" and row < line_count:
                    removed.add(row)
                tail = row + shift
                row = min(row + 1, line_count)
        return Overlay(
            tuple((at, tuple(new)) for at, new in sorted(inserts.items())),
            frozenset(removed),
            first,
            tail,
        )


def before_drawn(
    lines: Sequence[str], start: int, hunk: str, changes: Sequence[Change]
) -> list[tuple[int, tuple[GhostRow, ...]]]:
    """The old lines of ``changes``, which are in order, each above its new lines in the text ``lines``, which
    are looked for from row ``start`` on; pairs of a row and what is drawn before it."""
    drawn: list[tuple[int, tuple[GhostRow, ...]]] = []
    row = start
    for old, new in changes:
        wanted = new.removesuffix("\n").split("\n") if new else []
        row = _found(lines, wanted, row)
        head = f"── before {hunk} ──" if old else f"── {hunk} added these lines ──"
        texts = old.removesuffix("\n").split("\n") if old else []
        rows = [GhostRow(((visible(head), "muted"),), " ")]
        rows += [GhostRow(((visible(untabbed(text.rstrip("\r"))), "removed"),), "-") for text in texts]
        drawn.append((row, tuple(rows)))
        row += len(wanted)
    return drawn


def _found(lines: Sequence[str], wanted: Sequence[str], start: int) -> int:
    """The first row from ``start`` on where ``wanted`` stands; ``start`` where it is changed or nothing."""
    wanted = [line.rstrip("\r") for line in wanted]
    if wanted:
        for row in range(start, min(len(lines), start + 400)):
            if list(lines[row : row + len(wanted)]) == wanted:
                return row
    return min(start, len(lines))


def theirs_drawn(conflict: OpenConflict) -> tuple[GhostRow, ...]:
    """The lines on disk where the user's unsaved text conflicts with them, drawn below the user's."""
    by = f"landed by {conflict.hunk}" if conflict.hunk else "changed outside of spark"
    by = f"{conflict.undone} undone" if conflict.undone else by
    lines = conflict.theirs or ("(the lines are deleted)",)
    rows = [f"── on disk, {by}; yours above ──", *map(untabbed, lines), "──"]
    return tuple(GhostRow(((visible(row), "warning"),), "!") for row in rows)
