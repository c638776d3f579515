"""Ctrl+C and quitting, without losing what was typed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual.app import App
from textual.widgets import TextArea

from session.storage.line_files import StoreError
from tui.control.overlay_control import OverlayControl
from tui.keys.key_order import after_typing_at_last
from tui.panes.chat.chat import ChatView
from tui.panes.layout import Panes

if TYPE_CHECKING:
    from tui.clipboard.clipboard import Clipboard
    from tui.control.file_control import FileControl
    from tui.panes.editor.shown_file import ShownFile
    from tui.port import SessionPort

TWICE = 1.5
"""Seconds within which a second Ctrl+C quits."""


class QuitControl:
    """Leaves the app once the session is closed."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        overlays: OverlayControl,
        session: SessionPort,
        shown_file: ShownFile,
        files: FileControl,
        clipboard: Clipboard,
    ) -> None:
        self._app = app
        self._panes = panes
        self._overlays = overlays
        self._session = session
        self._shown_file = shown_file
        self._files = files
        self._clipboard = clipboard
        self._last_cancel = 0.0
        """When Ctrl+C was pressed last, on the loop's clock; 0 where that one did something."""

    def cancel(self) -> None:
        """Close what lies over the panes, copy the selection, or set the draft aside; again: quit."""
        after_typing_at_last(self._app, self._cancel)

    def disarm(self) -> None:
        """Another key came: the next Ctrl+C is a first one again."""
        self._last_cancel = 0.0

    def quit(self) -> None:
        """Quit."""
        after_typing_at_last(self._app, self._quit)

    def leave(self, code: int) -> None:
        """Quit with an exit code because of a signal: nobody can be asked about unsaved changes."""
        self._app.call_later(self._leave, code)

    def keep_draft(self, text: str) -> None:
        """Save the draft to disk."""
        try:
            self._session.save_draft(text)
        except StoreError as problem:
            self._panes.status.say(str(problem), "warning")

    async def _cancel(self) -> None:
        now = asyncio.get_running_loop().time()
        again, self._last_cancel = now - self._last_cancel < TWICE, now
        focused, status = self._app.focused, self._panes.status
        if self._overlays.uncover():
            self._last_cancel = 0.0
        elif isinstance(focused, TextArea | ChatView) and focused.selected_text:
            self._clipboard.copy(focused.selected_text)
            self._last_cancel = 0.0
        elif again:
            await self._quit()
        else:
            kept = self._panes.composer.set_aside()
            told = "draft set aside (↑ brings it back); " if kept else ""
            status.say(f"{told}Ctrl+C again quits")

    async def _quit(self) -> None:
        """Quit, keeping the draft; unsaved texts in the editor are asked about."""
        await self._shown_file.order.settled()
        if self._files.ask_before_quitting(self.quit_at_once):
            await self._leave(0)

    def quit_at_once(self) -> None:
        """Quit; nothing has to be asked any more."""
        self._app.call_later(self._leave, 0)

    def detach(self, code: int) -> None:
        """Leave the screen with an exit code, and the session open."""
        self._app.call_later(self._detach, code)

    async def _leave(self, code: int) -> None:
        self._files.flush()
        self.keep_draft(self._panes.composer.draft)
        await self._session.close()
        self._app.exit(return_code=code)

    async def _detach(self, code: int) -> None:
        self._files.flush()
        self.keep_draft(self._panes.composer.draft)
        self._app.exit(return_code=code)
