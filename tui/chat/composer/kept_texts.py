"""What the user typed and did not send, kept on disk: the draft, and texts that ↑ brings back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from session.base.storage.private_files import StoreError

if TYPE_CHECKING:
    from tui.front.port import SessionPort


class KeptTexts:
    """Keeps the composer's texts in the session's project; ``say`` tells why that failed, with a level."""

    def __init__(self, session: SessionPort, say: Callable[[str, str], None]) -> None:
        self._session = session
        self._say = say

    def keep_draft(self, text: str) -> str:
        """Save the draft; an empty one is removed. Returns why that failed, or nothing."""
        try:
            self._session.draft.write(text)
        except StoreError as problem:
            self._say(f"{problem}; until that is mended, what you type is lost when spark ends", "warning")
            return str(problem)
        return ""

    def remember(self, text: str) -> None:
        """Add what started no turn to the prompts: ↑ brings it back after a restart."""
        try:
            self._session.prompts.add(text)
        except StoreError as problem:
            self._say(f"{problem}; ↑ brings it back until spark ends, and not after that", "warning")
