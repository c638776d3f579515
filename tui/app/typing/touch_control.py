"""Redirects by touch in the app: follows hunks, cursor and text, stops the turn, sends the note."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

from session.base.events import Event, HunkLanded, HunkUndone, PromptSubmitted, TurnEnded
from tui.app.panes.layout import Panes
from tui.app.typing.touch import Lines, State, Touch
from tui.app.typing.touch_note import note
from tui.editor.buffers.buffer import Buffer
from tui.editor.buffers.rows import Rows

if TYPE_CHECKING:
    from tui.editor.shown_file import ShownFile
    from tui.front.port import SessionPort


class TouchControl:
    """Between the editor and the session."""

    def __init__(self, panes: Panes, session: SessionPort, file: ShownFile, stop: Callable[[], None]) -> None:
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
