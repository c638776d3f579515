"""The states of a redirect by touch, without I/O: the callers tell what happens, and the time.

Rules, which the table and the guards hold:

1. Only a hunk that landed in the running turn can be touched, and only one that stood on the screen for
   :data:`STOOD` seconds before the user put the cursor into it. A key that was on its way when the hunk
   landed, or a cursor that stood there already, touches nothing.
2. The first edit of its lines stops the turn. What is typed from there on is the user's change of the hunk.
3. Nothing is sent until the user saves. Then the lines before and after are, once, if they differ.
4. What the user gives up, undoes, closes or overtakes with another prompt is not sent, and stays in the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tui.editor.buffers.rows import Rows

STOOD = 0.4
"""Seconds for which a hunk must have been on the screen before the cursor is put into it."""


class State(StrEnum):
    """Where the user's hands are."""

    AWAY = "away"
    THERE = "there"
    TOUCHED = "touched"


class Signal(StrEnum):
    """What can happen."""

    PUT_THERE = "the cursor is put into a fresh hunk"
    PUT_ELSEWHERE = "the cursor is put somewhere else"
    EDITED = "the user edits the hunk's lines"
    REWRITTEN = "its lines change in another way"
    TURN_OVER = "the turn is over"
    SAVED = "the file is saved"
    GIVEN_UP = "the change is not to be sent"


TABLE: dict[State, dict[Signal, State]] = {
    State.AWAY: {Signal.PUT_THERE: State.THERE},
    State.THERE: {
        Signal.PUT_THERE: State.THERE,
        Signal.PUT_ELSEWHERE: State.AWAY,
        Signal.EDITED: State.TOUCHED,
        Signal.REWRITTEN: State.AWAY,
        Signal.TURN_OVER: State.AWAY,
        Signal.GIVEN_UP: State.AWAY,
    },
    State.TOUCHED: {Signal.SAVED: State.AWAY, Signal.GIVEN_UP: State.AWAY},
}
"""A signal that a state does not name changes nothing."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a hunk: rows ``start`` to ``end`` of ``path``, ``before`` the user touched them."""

    hunk: str
    path: str
    start: int
    end: int
    before: tuple[str, ...]

    def reached(self, rows: Rows, *, edges: bool) -> bool:
        """Whether a change is in these lines. With ``edges`` new lines right above or below them count too:
        the user adds them with the cursor in the first or the last line."""
        end = rows.row + len(rows.old)
        if rows.old:
            return rows.row < self.end and end > self.start
        return self.start <= rows.row <= self.end if edges else self.start < rows.row < self.end

    def after(self, rows: Rows, *, edges: bool) -> Lines:
        """The same lines after a change of the file."""
        end = rows.row + len(rows.old)
        if self.reached(rows, edges=edges):
            return replace(self, start=min(self.start, rows.row), end=max(self.end, end) + rows.growth)
        if end <= self.start:
            return replace(self, start=self.start + rows.growth, end=self.end + rows.growth)
        return self


@dataclass(frozen=True, slots=True)
class Change:
    """What the user changed in a hunk: its lines, of which the first is ``line`` (from 1)."""

    hunk: str
    path: str
    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]


class Touch:
    """The hunks of the running turn, and the one that the user is at."""

    def __init__(self) -> None:
        self.state = State.AWAY
        self.lines: Lines | None = None
        """The lines of the hunk that the user is at; None while away."""
        self._since: dict[str, float] = {}
        """When the hunks of the running turn came on the screen."""

    # The running turn.

    def appeared(self, hunk: str, now: float) -> None:
        """A hunk of the running turn landed, or its file came up just now."""
        self._since[hunk] = now

    def turn_over(self) -> None:
        """The turn is over: no hunk is fresh any more."""
        self._since.clear()
        self._signal(Signal.TURN_OVER)

    def fresh(self, hunk: str, now: float) -> bool:
        """Whether a hunk is of the running turn and has stood long enough to be meant."""
        return hunk in self._since and now - self._since[hunk] >= STOOD

    # The user's hands.

    def put(self, at: Lines | None, now: float) -> None:
        """The user put the cursor somewhere: into the lines of a landed hunk, or elsewhere (None)."""
        if at is None or not self.fresh(at.hunk, now):
            self._signal(Signal.PUT_ELSEWHERE)
        elif self._signal(Signal.PUT_THERE):
            self.lines = at

    def changed(self, path: str, rows: Rows, *, typed: bool) -> bool:
        """The text of an open file changed, by the user's own edit (``typed``) or in another way. True where
        this is the edit that stops the turn."""
        lines = self.lines
        if lines is None or path != lines.path:
            return False
        self.lines = lines.after(rows, edges=typed)
        if not lines.reached(rows, edges=typed):
            return False
        return self._signal(Signal.EDITED if typed else Signal.REWRITTEN) and typed

    def saved(self, path: str, text: Sequence[str]) -> Change | None:
        """The file was saved with this text; returns what is to be sent, if the lines are not as before."""
        lines = self.lines
        if lines is None or path != lines.path or not self._signal(Signal.SAVED):
            return None
        after = tuple(text[lines.start : lines.end])
        if after == lines.before:
            return None
        return Change(lines.hunk, lines.path, lines.start + 1, lines.before, after)

    def give_up(self, hunk: str = "") -> bool:
        """Send nothing, of ``hunk`` if one is named; true where something would have been sent."""
        touched = self.state is State.TOUCHED
        if self.lines is None or (hunk and hunk != self.lines.hunk):
            return False
        return self._signal(Signal.GIVEN_UP) and touched

    def _signal(self, signal: Signal) -> bool:
        """Go where the table says; false where the signal changes nothing."""
        follows = TABLE[self.state].get(signal)
        if follows is None:
            return False
        self.state = follows
        if follows is State.AWAY:
            self.lines = None
        return True
