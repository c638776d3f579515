"""What was prepared for a turn's request, and who prepares it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from context.text.safe import HIDDEN
from context.text.tokens import Counter
from context.window.pieces import Window
from session.base.events import DialogueCompacted
from session.models.chosen import ChosenModel
from session.turn.money import least_cost
from session.turn.turn_memory import TurnMemory
from session.wire.protocol.items import Item


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """What a turn will add to the conversation, and its tokens. Nothing is changed by making it:
    an interrupted preparation leaves no trace. ``notes`` are lines for the user."""

    items: tuple[Item, ...]
    tokens: int
    window: Window
    notes: tuple[str, ...]
    compacted: DialogueCompacted | None
    """The compaction that was needed, if any; to be told once the request is sent."""
    afresh: bool
    """Whether a new window is started, with the conversation so far as history."""
    reported: int
    files: Mapping[str, str | None]
    unsent: int
    kept: int
    """Number of remembered-line notices included."""

    def least_cost(self, memory: TurnMemory, standing: int, chosen: ChosenModel) -> float | None:
        """The dollars that the request costs at least, before :meth:`commit`; None where the price is
        unknown. ``standing`` are the tokens of instructions and tools. What was sent before is taken to be in
        the server's cache."""
        held = 0 if self.afresh else memory.conversation.tokens
        fresh, cached = (self.tokens, standing + held) if held else (self.tokens + standing, 0)
        return least_cost(chosen.price, fresh, cached, chosen.model.token_ratio)

    def commit(self, memory: TurnMemory) -> None:
        """The request goes out: ``memory`` now holds what it tells the model."""
        if self.afresh:
            memory.start_afresh()
        memory.seen = memory.seen.after(self.window.shown)
        memory.sent_windows.take(self.window)
        memory.edited_files.told(self.files)
        memory.reported(self.reported)
        memory.told_unread |= {left.path for left in self.window.left_out}
        memory.told_hidden |= {piece.path for piece in self.window.pieces if HIDDEN in piece.why}
        del memory.unsent[: self.unsent]
        del memory.line_news[: self.kept]
        memory.conversation.extend(self.items, self.tokens)


class Prepares(Protocol):
    """What a turn's runner needs of a preparation (a ``Preparation``, or what attempts share)."""

    @property
    def counter(self) -> Counter:
        """Counts tokens as the model does."""
        ...

    @property
    def instruction_tokens(self) -> int:
        """Tokens of what is sent with every request: the instructions and the tools."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        ...

    def file_text(self, path: str) -> str | None:
        """The text of a project's file as the model may be shown it, from disk; None where there is none."""
        ...

    async def prepare(self, prompt: str, memory: TurnMemory, share: float = 1.0) -> PreparedRequest:
        """The items for ``prompt``. Raises context.pieces.BudgetTooSmall."""
        ...
