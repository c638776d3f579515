"""What the keys of a pane do beyond it: those of the editor (history, tabs, finding, symbols, the user's own
editor) and of the chat (copy a text, go to a hunk, show a whole output).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from textual.app import App

from tui.app.control.background import BackgroundTasks
from tui.app.control.file_control import FileControl
from tui.app.control.find_control import FindControl
from tui.app.control.overlay_control import OverlayControl
from tui.app.panes.layout import Panes
from tui.front.keys.keymap import shown
from tui.screen.terminal.lending import EditorProblem, edit_outside, editor_command, given_back

if TYPE_CHECKING:
    from session.session import Session
    from tui.chat.chat import ChatView
    from tui.screen.clipboard import Clipboard


class EditorHands:
    """See :class:`tui.editor.keys.Hands`."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        overlays: OverlayControl,
        background: BackgroundTasks,
        session: Session,
        files: FileControl,
        find: FindControl,
        refactor: Callable[[], Coroutine[None, None, None]],
    ) -> None:
        """``refactor`` asks what to do with the selected lines."""
        self._app = app
        self._panes = panes
        self._overlays = overlays
        self._background = background
        self._session = session
        self._find = find
        self.undo, self.redo = files.undo, files.redo
        self.refactor = refactor
        self.next_tab, self.close_tab = files.next_tab, files.close_tab

    async def find(self) -> None:
        """Find a text in the file."""
        self._find.open()

    async def symbol(self) -> None:
        """Have the user pick a definition of the file, and go there."""
        editor, say = self._panes.editor, self._panes.status.say
        if not editor.path:
            return
        buffer = editor.buffer
        found = await self._session.files.definitions(buffer.path, buffer.text)
        if not found:
            say(f"no definitions are known in {buffer.path}")
            return
        lines = {f"{each.name}  {each.kind} :{each.head + 1}": each.head for each in found}

        def picked(label: str | None) -> None:
            if label is not None and editor.buffer is buffer:
                editor.reveal(min(lines[label], editor.document.line_count - 1))

        self._overlays.pick_symbol(tuple(lines), picked)

    async def outside(self) -> None:
        """Edit the text in the user's own editor, which has the terminal meanwhile; a turn goes on."""
        self._background.start(self._outside(), "editing in another editor")

    async def _outside(self) -> None:
        editor, say = self._panes.editor, self._panes.status.say
        buffer = editor.buffer
        if not buffer.path:
            say("no file is open")
            return
        if buffer.read_only:
            say(f"cannot edit {buffer.path}: it is read-only", "warning")
            return
        text, row = buffer.text, editor.cursor_location[0]
        try:
            command = editor_command(self._session.root)
            with given_back(self._app):
                edited = await edit_outside(command, buffer.path, text, row + 1)
        except EditorProblem as problem:
            say(str(problem), "error")
            return
        if edited == text:
            say("nothing was changed")
            return
        # A hunk may have landed in the file meanwhile: the user's lines win, as with any unsaved text.
        merged = await self._session.files.merge(text, edited, buffer.text)
        buffer.put(merged.text)
        say(f"edited in {PurePosixPath(command[0]).name}, unsaved: {shown('save')} saves")


class ChatControl:
    """See :class:`tui.chat.reading_keys.ChatHands`."""

    def __init__(
        self,
        clipboard: Clipboard,
        show_hunk: Callable[[str], None],
        say: Callable[[str], None],
        session: Session,
        chat: ChatView,
        background: BackgroundTasks,
    ) -> None:
        self._clipboard = clipboard
        self._show_hunk = show_hunk
        self._say = say
        self._session = session
        self._chat = chat
        self._background = background

    def copy(self, text: str) -> None:
        """Copy a text."""
        self._clipboard.copy(text)

    def say(self, text: str) -> None:
        """Tell the user something in one line."""
        self._say(text)

    async def name_hunks(self) -> None:
        """Say behind each landed hunk which definition it is in, once: to look for all of them after each
        turn would take longer from turn to turn."""
        shown = {hunk: self._chat.hunk_named(hunk) for hunk in self._session.hunks.undoable.landed}
        unnamed = [hunk for hunk, entry in shown.items() if entry is not None and entry.symbol is None]
        found = await self._session.hunks.symbols(unnamed)
        for hunk in unnamed:
            self._chat.name_hunk(hunk, found.get(hunk, ""))

    def go_to_hunk(self, hunk: str) -> None:
        """Show a hunk in its file."""
        self._show_hunk(hunk)

    def output(self, call: str, shown: Callable[[str], None]) -> None:
        """Give ``shown`` the whole output of a call or command, or tell that it is not kept."""
        self._background.start(self._output(call, shown), "reading an output")

    async def _output(self, call: str, shown: Callable[[str], None]) -> None:
        text = await asyncio.to_thread(self._session.outputs.text, call)
        if text is None:
            self._say("its output is not kept any more: outputs are kept while spark runs")
        elif not text.strip():
            self._say("it printed nothing")
        else:
            shown(text)
