"""Ctrl+C and quitting, without losing what was typed and without waiting for what never ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rich.text import Text
from textual.app import App
from textual.widgets import TextArea

from session.base.closing import Limit
from session.base.text.sanitize import clean
from tui.app.control.background import BackgroundTasks
from tui.app.control.overlay_control import OverlayControl
from tui.app.panes.layout import Panes
from tui.chat.chat import ChatView
from tui.front.keys.key_order import after_typing, after_typing_at_last, typed
from tui.front.keys.keymap import shown
from tui.screen.drawing.plain import visible

if TYPE_CHECKING:
    from session.base.closing import Closing
    from tui.app.control.file_control import FileControl
    from tui.chat.composer.history import KeptTexts
    from tui.editor.shown_file import ShownFile
    from tui.screen.clipboard import Clipboard

TWICE = 1.5
"""Seconds within which a second Ctrl+C quits."""
BEFORE = 0.5
"""Seconds that the keys and files before the quitting key have to be done."""
CLOSING = 0.6
"""Seconds that the session has to close, before it is hurried."""


class QuitControl:
    """Leaves the app once the session is closed."""

    def __init__(
        self,
        app: App[int],
        panes: Panes,
        overlays: OverlayControl,
        background: BackgroundTasks,
        close: Callable[[], Awaitable[None]],
        closing: Closing,
        shown_file: ShownFile,
        files: FileControl,
        clipboard: Clipboard,
        kept: KeptTexts,
    ) -> None:
        self._app = app
        self._panes = panes
        self._overlays = overlays
        self._background = background
        self._close = close
        self._closing = closing
        self._shown_file = shown_file
        self._files = files
        self._clipboard = clipboard
        self._kept = kept
        self.leaving = False
        """Whether the app is being left: the next key that quits hurries it."""
        self._before: Limit | None = None
        """While a quitting key waits for the keys and files before it."""
        self._last_cancel = 0.0
        """When Ctrl+C was pressed last, on the loop's clock; 0 where that one did something."""

    def cancel(self) -> None:
        """Close what lies over the panes, copy the selection, or set the draft aside; again: quit."""
        if not self._hurried():
            after_typing_at_last(self._app, self._cancel)

    def disarm(self) -> None:
        """Another key came: the next Ctrl+C is a first one again."""
        self._last_cancel = 0.0

    def quit(self) -> None:
        """Quit, keeping the draft; unsaved texts in the editor are asked about. Once more: at once."""
        if self._hurried():
            return
        reached, decided = asyncio.Event(), asyncio.Event()

        async def in_turn() -> None:
            reached.set()
            await decided.wait()  # the next key goes to what is asked then

        after_typing(self._app, in_turn)
        self._background.start(self._quit(reached, decided), "quitting")

    def leave(self, code: int) -> None:
        """Quit with an exit code because of a signal: nobody can be asked about unsaved changes."""
        self._background.start(self._after_keys(self._leave, code), "quitting")

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
            self.quit()
        else:
            kept = self._panes.composer.set_aside()
            told = "draft set aside (↑ brings it back); " if kept else ""
            status.say(f"{told}{shown('cancel')} again quits")
            if kept:
                self._kept.remember(kept)

    def _hurried(self) -> bool:
        """Hurry what waits already; false where nothing does."""
        if self.leaving:
            self._closing.hurry()
        elif self._before is not None:
            self._before.hurry()
        return self.leaving or self._before is not None

    async def _quit(self, reached: asyncio.Event, decided: asyncio.Event) -> None:
        self._before = limit = Limit(BEFORE)
        try:
            await limit.wait(reached.wait(), "the keys before")
            await limit.wait(self._shown_file.order.settled(), "files that are read or saved")
            asked = not self._files.ask_before_quitting(self.quit_at_once)
        finally:
            self._before = None
            decided.set()
        if not asked:
            await self._leave(0)

    def quit_at_once(self) -> None:
        """Quit; nothing has to be asked any more."""
        self._background.start(self._leave(0), "quitting")

    def detach(self, code: int) -> None:
        """Leave the screen with an exit code, and the session open."""
        self._background.start(self._after_keys(self._detach, code), "leaving the screen")

    async def _after_keys(self, leave: Callable[[int], Awaitable[None]], code: int) -> None:
        await Limit(BEFORE).wait(typed(self._app), "the keys before")
        await leave(code)

    async def _leave(self, code: int) -> None:
        if self.leaving:
            return
        self.leaving = True
        self._files.flush()
        lost = self._lost_draft()
        timer = asyncio.get_running_loop().call_later(CLOSING, self._closing.hurry)
        try:
            await self._close()
        finally:
            timer.cancel()
            self._app.exit(return_code=code, message=lost)

    async def _detach(self, code: int) -> None:
        self._files.flush()
        self._app.exit(return_code=code, message=self._lost_draft())

    def _lost_draft(self) -> Text | None:
        """The draft as it is printed where it could not be kept: the screen is about to go."""
        draft = self._panes.composer.draft
        problem = self._kept.keep_draft(draft)
        if not problem or not draft.strip():
            return None
        return Text(f"spark: {visible(problem)}; your draft was not kept. It was:\n{clean(draft)}")
