"""Asks in a line under the panes what to do with the selected lines, and has it done."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.widgets import Input

from tui.app.control.background import BackgroundTasks
from tui.app.panes.layout import Panes
from tui.front.keys.key_order import run_key_in_order
from tui.front.keys.keymap import shown
from tui.screen.drawing.plain import visible

if TYPE_CHECKING:
    from session.session import Session


class RefactorBar(Input):
    """The sentence, under the panes. Enter gives it, Esc gives it up."""

    DEFAULT_CSS = "RefactorBar { height: 1; }"

    def __init__(self, title: str, answered: Callable[[str | None], None]) -> None:
        """``title`` says which lines are meant; it stands there until something is typed."""
        # What is typed before the focus is told must not be selected by it, and replaced by the next key.
        super().__init__(placeholder=title, select_on_focus=False, compact=True, id="refactor")
        self.cursor_blink = False
        self._answered = answered

    async def on_key(self, event: events.Key) -> None:
        """See :mod:`tui.front.keys.key_order`."""
        if event.key in ("enter", "escape"):
            event.stop()
            event.prevent_default()
            self._answered(self.value if event.key == "enter" else None)
        else:
            await run_key_in_order(self, event)


class RefactorControl:
    """Refactors the selection in the editor."""

    def __init__(self, app: App[int], panes: Panes, background: BackgroundTasks, session: Session) -> None:
        self._app = app
        self._panes = panes
        self._background = background
        self._session = session
        self._bar: RefactorBar | None = None

    async def open(self) -> None:
        """Ask for the sentence, unless the selected lines cannot be refactored now."""
        editor, say = self._panes.editor, self._panes.status.say
        if self._bar is not None:
            self._bar.focus()
            return
        if not editor.path:
            say("no file is open")
            return
        buffer = editor.buffer
        if buffer.read_only:
            say(f"cannot rewrite lines of {visible(buffer.path)}: it is read-only", "warning")
            return
        if buffer.dirty:
            say(
                f"{visible(buffer.path)} has unsaved text: {shown('save')} saves it, then try again",
                "warning",
            )
            return
        first, last = self._rows()
        path, selected = buffer.path, tuple(buffer.lines[first : last + 1])

        def answered(sentence: str | None) -> None:
            self._background.start(self._close(), "closing the bar")
            if sentence is not None:
                self._start(path, first + 1, selected, sentence)

        lines = f"line {first + 1}" if first == last else f"lines {first + 1}–{last + 1}"
        title = f"Rewrite {lines} of {visible(path)}: what to do with them, in a sentence"
        screen = self._app.screen_stack[0]
        self._bar = RefactorBar(title, answered)
        mounted = screen.mount(self._bar, before="#find-bar")
        screen.set_focus(self._bar)  # before anything is awaited: the next key of the same read goes there
        await mounted

    async def _close(self) -> None:
        bar, self._bar = self._bar, None
        self._app.screen_stack[0].set_focus(self._panes.editor)
        if bar is not None:
            await bar.remove()

    def _start(self, path: str, line: int, selected: tuple[str, ...], sentence: str) -> None:
        from session.assist.refactor import RefactorError

        try:
            running = self._session.assist.refactors.start(path, line, selected, sentence)
        except RefactorError as problem:
            self._panes.status.say(str(problem), "error")
            return
        self._panes.editor.follow()
        told = f"rewriting {visible(path)} · {shown('interrupt')} stops it"
        self._panes.status.say(told, stays=True)
        running.add_done_callback(lambda _: self._panes.status.unsay(told))

    def _rows(self) -> tuple[int, int]:
        """The first and the last selected row; a row of which nothing is selected is none of them."""
        start, end = sorted(self._panes.editor.selected)
        last = end[0] - 1 if end[0] > start[0] and end[1] == 0 else end[0]
        return start[0], last
