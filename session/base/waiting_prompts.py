"""The prompts that wait, as the events of a session tell: one for a hunk, the others for turns to come.

Two prompts may have the same text, so each is known by its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from session.base import events as said


class WaitingPrompts:
    """Follows a session from its start, or from any later event on: then only older prompts are unknown."""

    def __init__(self) -> None:
        self._after_hunk = ""
        self._queued: list[str] = []
        self._older = 0
        """How many prompts before these wait, of which no event told."""

    def take(self, event: said.Event) -> bool:
        """Follow one event; return whether other prompts wait now."""
        from session.base import events as said  # the first frame does not wait for it

        before = self.listed
        match event:
            case said.PromptQueued(text=text, when="hunk"):
                self._after_hunk = text
            case said.PromptQueued(text=text, waiting=waiting):
                self._queued.append(text)
                self._count(waiting)
            case said.PromptsUnqueued(number=0):
                self._after_hunk = ""
            case said.PromptsUnqueued(texts=texts, waiting=waiting, number=None):
                for text in texts:
                    self._drop(text)
                self._count(waiting)
            case said.PromptsUnqueued(number=int(number), waiting=waiting):
                at = number - self._older - 1
                del self._queued[max(0, at) : max(0, at + 1)]
                self._count(waiting)
            case said.PromptSubmitted(waiting=waiting):
                # What waits for a hunk is this prompt, or was overtaken by it and is queued next.
                self._after_hunk = ""
                del self._queued[: max(0, len(self._queued) - waiting)]
                self._count(waiting)
            case _:
                pass
        return self.listed != before

    @property
    def listed(self) -> list[tuple[int, str]]:
        """The prompts and their numbers, in the order in which they are sent: 0 waits for a hunk."""
        first = [(0, self._after_hunk)] if self._after_hunk else []
        return [*first, *enumerate(self._queued, self._older + 1)]

    def take_back(self, number: int | None) -> list[said.PromptsUnqueued]:
        """Take out the prompt with this number, or without one all; return what the session will tell."""
        from session.base import events as said

        texts = [text for at, text in self.listed if at and number in (None, at)]
        told: list[said.PromptsUnqueued] = []
        if self._after_hunk and not number:
            waiting = self._older + len(self._queued)
            told.append(said.PromptsUnqueued((self._after_hunk,), waiting, 0))
        if texts:
            left = 0 if number is None else self._older + len(self._queued) - 1
            told.append(said.PromptsUnqueued(tuple(texts), left, number))
        for event in told:
            self.take(event)
        return told

    def _count(self, waiting: int) -> None:
        self._older = max(0, waiting - len(self._queued))

    def _drop(self, text: str) -> None:
        """Take out the first prompt with this text: journals of earlier versions tell no more."""
        if text in self._queued:
            self._queued.remove(text)
        elif text == self._after_hunk:
            self._after_hunk = ""
