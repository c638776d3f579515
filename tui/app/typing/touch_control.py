"""Redirects by touch in the app: follows hunks, cursor and text, stops the turn, sends the note.

The prompt that a redirect by touch sends: what the user changed in a hunk, as a small diff.

The states of a redirect by touch, without I/O: the callers tell what happens, and the time.

Rules, which the table and the guards hold:

1. Only a hunk that landed in the running turn can be touched, and only one that stood on the screen for
   :data:`STOOD` seconds before the user put the cursor into it. A key that was on its way when the hunk
   landed, or a cursor that stood there already, touches nothing.
2. The first edit of its lines stops the turn. What is typed from there on is the user's change of the hunk.
3. Nothing is sent until the user saves. Then the lines before and after are, once, if they differ.
4. What the user gives up, undoes, closes or overtakes with another prompt is not sent, and stays in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from time import monotonic
from typing import TYPE_CHECKING

from session.base.events import Event, HunkLanded, HunkUndone, PromptSubmitted, TurnEnded
from tui.app.panes.layout import Panes
from tui.editor.buffers.buffer import Buffer
from tui.editor.buffers.rows import Rows

if TYPE_CHECKING:
    from session.session import Session
    from tui.editor.shown_file import ShownFile


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


MOST_LINES = 60
"""Lines of the diff that are sent; the model can see the file itself."""


def note(change: Change) -> str:
    """What is sent: the hunk, its place, and the lines before and after."""
    lines = diff_lines(change.before, change.after)
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines = [*lines[:half], f" ({len(lines) - 2 * half} more lines)", *lines[-half:]]
    fence = fence_around(lines)
    place = f"{change.path}, line {change.line}"
    return "\n".join(
        [f"I changed your hunk {change.hunk} in {place}:", f"{fence}diff", *lines, fence, "Go on from there."]
    )


def diff_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Both texts as lines of a diff, with one line of context at most beside a change."""
    lines: list[str] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(1):
        for tag, start, end, begin, stop in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[start:end]]
            else:
                lines += [f"-{line}" for line in before[start:end]]
                lines += [f"+{line}" for line in after[begin:stop]]
    return lines


def fence_around(lines: Sequence[str]) -> str:
    """A fence of backticks that nothing in ``lines`` ends."""
    runs = (len(run) for line in lines for run in re.findall("`+", line))
    return "`" * max(3, 1 + max(runs, default=0))


class TouchControl:
    """Between the editor and the session."""

    def __init__(self, panes: Panes, session: Session, file: ShownFile, stop: Callable[[], None]) -> None:
        """``stop`` stops the running turn."""
        self._editor = panes.editor
        self._status = panes.status
        self._session = session
        self._file = file
        self._stop = stop
        self._touch = Touch()
        self._landed: dict[str, str] = {}
        """The hunks that landed in the running turn, with their files."""
        self._turn = ""
        self._shown = ""
        """The file that the editor showed last."""
        self._stops = False
        """Whether the edit under way stops the turn."""
        self._editor.on_put = file.on_put = self._put
        self._editor.on_typed.append(self._typed)
        file.changes.append(self._changed)
        file.texts.append(self._file_shown)

    def take(self, event: Event) -> None:
        """Follow the running turn."""
        match event:
            case PromptSubmitted(turn=turn):
                self._turn = turn
                self._landed.clear()
                self._touch.turn_over()
                self.give_up()
            case HunkLanded(turn=turn) if turn == self._turn:
                path = event.moved_to or event.path
                self._landed[event.hunk] = path
                self._touch.appeared(event.hunk, monotonic())
            case HunkUndone(hunk=hunk):
                self._landed.pop(hunk, None)
                self.give_up(hunk)
            case TurnEnded(turn=turn) if turn == self._turn:
                self._landed.clear()
                self._touch.turn_over()
            case _:
                pass

    def give_up(self, hunk: str = "") -> bool:
        """Send nothing of what was changed; true where something would have been sent."""
        given_up = self._touch.give_up(hunk)
        self._tell()
        return given_up

    def _file_shown(self, buffer: Buffer) -> None:
        """Another file came up: its hunks must stand for a moment, too, before they can be touched."""
        if self._file.path == self._shown:
            return
        self._shown, now = self._file.path, monotonic()
        for hunk, path in self._landed.items():
            if path == self._shown:
                self._touch.appeared(hunk, now)

    def closed(self, buffer: Buffer) -> None:
        """A file was closed, and with it what was changed there."""
        if self._touch.lines is not None and self._touch.lines.path == buffer.path:
            self.give_up()

    def _put(self) -> None:
        """The user put the cursor somewhere."""
        mark, buffer = self._file.marked_here(), self._editor.buffer
        lines = None
        if mark is not None and self._session.running:
            before = tuple(buffer.lines[mark.start : mark.end])
            lines = Lines(mark.hunk, buffer.path, mark.start, mark.end, before)
        self._touch.put(lines, monotonic())

    def _changed(self, buffer: Buffer, rows: Rows) -> None:
        if not self._session.running:
            self._touch.turn_over()
        typed = self._editor.typing and buffer is self._editor.buffer
        self._stops = self._touch.changed(buffer.path, rows, typed=typed) or self._stops

    def _typed(self, rows: Rows) -> None:
        """The user's edit is whole now."""
        if self._stops:
            self._stops = False
            self._stop()
            self._tell()

    def saved(self, buffer: Buffer) -> str:
        """Send what was changed, now that it is on disk; returns what is to be said of it."""
        touched = self._touch.lines
        change = self._touch.saved(buffer.path, buffer.lines)
        self._tell()
        if change is not None:
            self._session.submit(note(change), typed="")
            return f"sent what you changed in {change.hunk}"
        if touched is not None and self._touch.state is State.AWAY:
            return f"{touched.hunk} is as it was: nothing was sent"
        return ""

    def _tell(self) -> None:
        lines = self._touch.lines
        touched = lines is not None and self._touch.state is State.TOUCHED
        self._status.show(touched=lines.hunk if lines is not None and touched else "")
