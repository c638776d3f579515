"""The history of prompts, with the current draft kept at its end."""

from __future__ import annotations


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
