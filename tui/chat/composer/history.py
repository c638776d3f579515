"""What the user typed before: the history of prompts, with the current draft kept at its end, and on disk the
draft and the texts that ↑ brings back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from session.base.storage.private_files import StoreError

if TYPE_CHECKING:
    from session.project.prompts import Draft, PromptHistory


class History:
    """The prompts, oldest first, and behind the last one the draft."""

    def __init__(self, prompts: list[str]) -> None:
        self._prompts = list(dict.fromkeys(reversed(prompts)))[::-1]
        self._at = len(self._prompts)
        self._draft = ""

    @property
    def newest_first(self) -> list[str]:
        """The prompts, without the draft."""
        return self._prompts[::-1]

    def add(self, prompt: str) -> None:
        """Add a prompt that was sent or set aside."""
        if prompt in self._prompts:
            self._prompts.remove(prompt)
        self._prompts.append(prompt)
        self._at = len(self._prompts)
        self._draft = ""

    def step(self, by: int, shown: str) -> str | None:
        """The prompt ``by`` steps from the one shown; None at either end. If what was ``shown`` was changed,
        it becomes the draft: browsing the history loses nothing."""
        current = self._prompts[self._at] if self._at < len(self._prompts) else self._draft
        if shown != current or self._at == len(self._prompts):
            self._draft = shown
        target = self._at + by
        if not 0 <= target <= len(self._prompts):
            return None
        self._at = target
        return self._draft if target == len(self._prompts) else self._prompts[target]


class KeptTexts:
    """Keeps the composer's texts in the session's project; ``say`` tells why that failed, with a level."""

    def __init__(self, draft: Draft, prompts: PromptHistory, say: Callable[[str, str], None]) -> None:
        self._draft, self._prompts = draft, prompts
        self._say = say

    def keep_draft(self, text: str) -> str:
        """Save the draft; an empty one is removed. Returns why that failed, or nothing."""
        try:
            self._draft.write(text)
        except StoreError as problem:
            self._say(f"{problem}; until that is mended, what you type is lost when spark ends", "warning")
            return str(problem)
        return ""

    def remember(self, text: str) -> None:
        """Add what started no turn to the prompts: ↑ brings it back after a restart."""
        try:
            self._prompts.add(text)
        except StoreError as problem:
            self._say(f"{problem}; ↑ brings it back until spark ends, and not after that", "warning")
