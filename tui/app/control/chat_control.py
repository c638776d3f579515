"""What the chat's keys do beyond the chat: copy a text, go to a hunk, show a whole output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.app.control.background import BackgroundTasks
    from tui.app.control.hunk_control import HunkControl
    from tui.chat.chat import ChatView
    from tui.front.port import SessionPort
    from tui.screen.clipboard import Clipboard


class ChatControl:
    """See :class:`tui.chat.reading_keys.ChatHands`."""

    def __init__(
        self,
        clipboard: Clipboard,
        hunks: HunkControl,
        say: Callable[[str], None],
        session: SessionPort,
        chat: ChatView,
        background: BackgroundTasks,
    ) -> None:
        self._clipboard = clipboard
        self._hunks = hunks
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
        self._hunks.show(hunk)

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
