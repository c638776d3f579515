"""What the chat's keys do beyond the chat: copy a text, go to a hunk."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tui.clipboard.clipboard import Clipboard
    from tui.control.hunk_control import HunkControl
    from tui.panes.chat.chat import ChatView
    from tui.port import SessionPort


class ChatControl:
    """See :class:`tui.panes.chat.reading_keys.ChatHands`."""

    def __init__(
        self,
        clipboard: Clipboard,
        hunks: HunkControl,
        say: Callable[[str], None],
        session: SessionPort,
        chat: ChatView,
    ) -> None:
        self._clipboard = clipboard
        self._hunks = hunks
        self._say = say
        self._session = session
        self._chat = chat

    def copy(self, text: str) -> None:
        """Copy a text."""
        self._clipboard.copy(text)

    def say(self, text: str) -> None:
        """Tell the user something in one line."""
        self._say(text)

    async def name_hunks(self) -> None:
        """Say behind each landed hunk which definition it is in."""
        for hunk, symbol in (await self._session.hunks.symbols()).items():
            self._chat.name_hunk(hunk, symbol)

    def go_to_hunk(self, hunk: str) -> None:
        """Show a hunk in its file."""
        self._hunks.show(hunk)
