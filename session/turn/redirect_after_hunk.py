"""A prompt that redirects the turn as soon as the hunk that is being typed has ended.

States: nothing waits; a prompt waits for one hunk. What ends the hunk (it landed, was refused or held)
sends the prompt; of one that was cut off, the end of the next. A turn that ends by itself sends it too.
Another prompt that is sent meanwhile has overtaken it: then it waits for the next turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from session.base.events import (
    Event,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    PromptQueued,
    PromptSubmitted,
    PromptsUnqueued,
    TurnEnded,
)

if TYPE_CHECKING:
    from session.turn.turns import Turns


class AfterHunk:
    """The prompt that waits, if any. All methods are called on the event loop."""

    KINDS: ClassVar[tuple[type[Event], ...]] = (
        HunkOpened,
        HunkDropped,
        HunkLanded,
        HunkRefused,
        HunkHeld,
        PromptSubmitted,
        TurnEnded,
    )
    """The events that :meth:`take` looks at."""

    def __init__(self, turns: Turns, publish: Callable[[Event], None]) -> None:
        self._turns = turns
        self._publish = publish
        self._open: dict[str, None] = {}
        """The hunks that are being typed or landed, the oldest first."""
        self._waiting = ""
        self._for = ""

    def submit(self, text: str) -> None:
        """Redirect with ``text`` once the hunk that is being typed has ended; at once where none is. A prompt
        that waits already is sent with it."""
        if not (self._open and self._turns.running):
            self._turns.submit(text)
            return
        self._waiting = f"{self._waiting}\n\n{text}" if self._waiting else text
        self._for = next(iter(self._open))
        self._publish(PromptQueued(text=self._waiting, waiting=1, when="hunk"))

    def take_back(self) -> list[str]:
        """Take back the prompt that waits, if any: it is not sent."""
        text, self._waiting = self._waiting, ""
        if text:
            self._publish(PromptsUnqueued(texts=(text,), waiting=len(self._turns.queued), number=0))
        return [text] if text else []

    def take(self, event: Event) -> None:
        """Follow the events of the session."""
        match event:
            case HunkOpened(hunk=hunk):
                self._open[hunk] = None
            case HunkDropped(hunk=hunk):
                # Cut off: the user stopped the turn, or the answer is resumed and another hunk comes.
                self._open.pop(hunk, None)
                self._for = "" if hunk == self._for else self._for
            case HunkLanded() | HunkRefused() | HunkHeld():
                self._open.pop(event.hunk, None)
                if self._waiting and self._for in ("", event.hunk):
                    self._soon(self._turns.submit)
            case PromptSubmitted() if self._waiting:
                self._soon(self._turns.queue)
            case TurnEnded(status=status):
                self._open.clear()
                if self._waiting and status != "interrupted":
                    self._soon(self._turns.submit)
            case _:
                pass

    def _soon(self, send: Callable[[str], None]) -> None:
        """Send what waits once the event that allows it has been handled everywhere."""
        text, self._waiting = self._waiting, ""
        asyncio.get_running_loop().call_soon(send, text)
