"""The undo history of one open file: what the user typed, what the model's hunks did, what others wrote.

A step holds the rows that it changed, exactly. Steps are taken back from the last on, so each finds the
text as it left it. A hunk's step is taken back through the ledger, which decides what that does to the
text; where this is not the step's own reverse, the difference is added to the step before, so that the
steps below stay exact. Nothing here changes a text: the callers do, and tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tui.editor.buffers.rows import Place, Rows, composed

Selected = tuple[Place, Place]
"""Where a selection began, and where the cursor is."""

MOST_STEPS = 1000
_PASSED_OVER = 2
"""Refusals after which a step is passed over."""
JOIN_WITHIN = 2.0
"""Seconds within which characters typed one after the other are one step."""
JOIN_LENGTH = 100
"""Characters after which typing begins another step."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step. With ``hunk`` it is that hunk of the model, landed or (``undid``) undone; without, it was
    typed, or came from outside of spark."""

    rows: Rows
    hunk: str = ""
    undid: bool = False
    refusals: int = 0
    """How often the ledger refused to take it back; after the second time the steps before it come first."""
    outside: bool = False
    before: Selected | None = None
    after: Selected | None = None
    time: float = 0.0

    @property
    def typed(self) -> bool:
        """Whether the user typed it."""
        return not self.hunk and not self.outside


class History:
    """The steps of one file. ``expecting`` is the hunk step that is being taken back or made again."""

    def __init__(self) -> None:
        self._done: list[Step] = []
        self._undone: list[Step] = []
        self._undone_before: list[Step] = []
        """What could be made again before the last change that came from outside of spark."""
        self._expected: Step | None = None
        self._length = 0
        """The number of steps when it was asked for."""
        self._undone_then: list[Step] = []
        """What could be made again when it was asked for."""
        self._open = False
        """Whether the next character may join the last step."""

    @property
    def last(self) -> Step | None:
        """What undo takes back next."""
        return self._done[-1] if self._done else None

    @property
    def next(self) -> Step | None:
        """What redo makes again next."""
        return self._undone[-1] if self._undone else None

    def seed(self, hunks: Sequence[str]) -> None:
        """The file was opened with these hunks in it, the oldest first: each can be taken back."""
        self._done = [Step(Rows(0, (), ()), hunk) for hunk in hunks]

    # What happened to the text.

    def typed(self, rows: Rows, before: Selected, after: Selected, now: float) -> None:
        """The user changed the text."""
        self._undone.clear()
        step = Step(rows, before=before, after=after, time=now)
        last = self.last
        if self._open and last is not None and _joins(last, step):
            self._done[-1] = replace(
                last, rows=Rows(rows.row, last.rows.old, rows.new), after=after, time=now
            )
        else:
            self._push(step)
        self._open = _is_character(rows)

    def break_off(self) -> None:
        """Let the next character begin a step of its own."""
        self._open = False

    def came(self, rows: Rows, lines: Sequence[str], *, hunk: str = "", undid: bool = False) -> None:
        """The text became ``lines`` by a change of the file on disk: a hunk that landed or was undone, or
        with no hunk somebody else's."""
        self._open = False
        expected = self._expected
        if expected is not None and expected.hunk == hunk:
            self._expected = None
            rows = self._with_early(rows, lines)
            if expected is self.last and expected.undid != undid:
                self._taken_back(rows, lines)
                return
            if expected is self.next and expected.undid == undid:
                self._undone.pop()
                self._push(replace(expected, rows=rows))
                return
        last = self.last
        if hunk and rows.empty and last is not None and last.outside:
            # The file was seen to have changed before the hunk was told of.
            self._done[-1] = replace(last, hunk=hunk, undid=undid, outside=False)
            self._undone = _without(self._undone_before, hunk, undid)
            self._undone = _rebased(self._undone, last.rows)
            return
        if hunk:
            self._undone = _without(self._undone, hunk, undid)
        if not rows.empty:
            self._undone_before = self._undone
            self._undone = _rebased(self._undone, rows)
        if hunk or not rows.empty:
            self._push(Step(rows, hunk, undid, outside=not hunk))

    def _with_early(self, rows: Rows, lines: Sequence[str]) -> Rows:
        """``rows`` with what was seen of the same change before it was told of."""
        while len(self._done) > self._length and self._done[-1].outside:
            rows = composed(self._done.pop().rows, rows, lines)
            self._undone = list(self._undone_then)
        return rows

    def _taken_back(self, rows: Rows, lines: Sequence[str]) -> None:
        step = self._done.pop()
        self._undone.append(step)
        rest = composed(step.rows, rows, lines)
        if rest.empty:
            return
        # What is made again later must not find another text than it was undone from.
        self._undone = [step]
        if self._done:
            below = self._done[-1]
            self._done[-1] = replace(below, rows=composed(below.rows, rest, lines))

    # Undo and redo.

    def expect(self, step: Step | None) -> None:
        """The ledger is asked to take this step back, or to make it again; None: it refused."""
        self._expected, self._length, self._undone_then = step, len(self._done), list(self._undone)

    def refused(self, step: Step) -> bool:
        """The ledger refused to take the last step back. Where it did so before, the steps before it come
        first, as far as they touch other rows. Whether another step is taken back next."""
        self._expected = None
        if self.last is not step:
            return False
        self._open = False
        at = len(self._done) - 1
        self._done[at] = replace(step, refusals=min(step.refusals + 1, _PASSED_OVER))
        if not step.refusals:
            return False
        while at and self._done[at - 1].refusals < _PASSED_OVER:
            swapped = _swapped(self._done[at - 1], self._done[at])
            if swapped is None:
                break
            self._done[at - 1 : at + 1] = swapped
            at -= 1
        return self._done[-1].refusals < _PASSED_OVER

    def took_back(self) -> Step:
        """The last step, which the caller took back in the text."""
        self._open = False
        step = self._done.pop()
        self._undone.append(step)
        return step

    def made_again(self) -> Step:
        """The step that the caller made again in the text."""
        self._open = False
        step = self._undone.pop()
        self._done.append(step)
        return step

    def forget_undone(self) -> None:
        """Nothing can be made again: the text is not what it was."""
        self._undone.clear()

    def _push(self, step: Step) -> None:
        self._done.append(step)
        if len(self._done) > MOST_STEPS:
            del self._done[: len(self._done) - MOST_STEPS]


def _is_character(rows: Rows) -> bool:
    return len(rows.old) == 1 == len(rows.new) and abs(len(rows.new[0]) - len(rows.old[0])) == 1


def _joins(last: Step, step: Step) -> bool:
    """Whether a character belongs to the typing just before it."""
    if not last.typed or last.after != step.before or step.time - last.time > JOIN_WITHIN:
        return False
    one, other = last.rows, step.rows
    if one.row != other.row or len(one.old) != 1 or len(one.new) != 1 or not _is_character(other):
        return False
    grew = len(one.new[0]) - len(one.old[0])
    grows = len(other.new[0]) - len(other.old[0])
    return grew * grows > 0 and abs(grew) < JOIN_LENGTH


def _swapped(first: Step, second: Step) -> tuple[Step, Step] | None:
    """Two steps the other way round; None where they changed the same rows."""
    one, other = first.rows, second.rows
    if other.row >= one.row + len(one.new):
        return replace(second, rows=replace(other, row=other.row - one.growth)), first
    if other.row + len(other.old) <= one.row:
        moved = replace(one, row=one.row + other.growth)
        return second, replace(first, rows=moved, before=None, after=None)
    return None


def _without(undone: Sequence[Step], hunk: str, undid: bool) -> list[Step]:
    """The undone steps without those that have now been done in another way: they cannot be done twice."""
    return [step for step in undone if (step.hunk, step.undid) != (hunk, undid)]


def _rebased(undone: Sequence[Step], rows: Rows) -> list[Step]:
    """The undone steps (the next one last) after a change of the text below them; those that it overlaps,
    and all behind them, are dropped."""
    kept: list[Step] = []
    for step in reversed(undone):
        own = step.rows
        if rows.row + len(rows.old) <= own.row:
            kept.append(replace(step, rows=replace(own, row=own.row + rows.growth), before=None, after=None))
        elif rows.row >= own.row + len(own.old):
            kept.append(step)
            rows = replace(rows, row=rows.row + own.growth)
        else:
            break
    return kept[::-1]
