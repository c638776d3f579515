"""What the editor's keys do beyond its own text: history, tabs, finding, symbols, the user's own editor."""

from __future__ import annotations

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
    from tui.front.port import SessionPort


class EditorHands:
    """See :class:`tui.editor.keys.Hands`."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        overlays: OverlayControl,
        background: BackgroundTasks,
        session: SessionPort,
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
