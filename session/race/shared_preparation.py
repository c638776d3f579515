"""One preparation for all attempts of a race, so that their requests share a prefix."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from session.turn.memory.turn_memory import TurnMemory
from session.turn.preparation import Preparation, PreparedRequest
from session.wire.input_items import developer_message


class SharedPreparation:
    """Prepares once, with the first attempt that asks; the others get the same request."""

    def __init__(self, preparation: Preparation) -> None:
        self.base = preparation
        self._alone = asyncio.Lock()
        self._prepared: PreparedRequest | None = None

    async def prepare(self, prompt: str, memory: TurnMemory) -> PreparedRequest:
        """The request, as :meth:`Preparation.prepare` makes it."""
        async with self._alone:
            if self._prepared is None:
                self._prepared = await self.base.prepare(prompt, memory)
            return self._prepared


class AttemptPreparation:
    """The preparation of one attempt: the shared request, and after it the attempt's own hint."""

    def __init__(self, shared: SharedPreparation, hint: str) -> None:
        self._shared = shared
        self._hint = hint
        self.prepared: PreparedRequest | None = None
        """The request as it went out last."""

    @property
    def instruction_tokens(self) -> int:
        """See :class:`Prepares`."""
        return self._shared.base.instruction_tokens

    def count(self, text: str) -> int:
        """See :class:`Prepares`."""
        return self._shared.base.count(text)

    async def prepare(self, prompt: str, memory: TurnMemory, share: float = 1.0) -> PreparedRequest:
        """See :class:`Prepares`. A smaller share is prepared for the attempt alone."""
        shared = self._shared
        whole = share == 1.0
        made = await (shared.prepare(prompt, memory) if whole else shared.base.prepare(prompt, memory, share))
        if self._hint:
            tokens = made.tokens + self.count(self._hint)
            made = replace(made, items=(*made.items, developer_message(self._hint)), tokens=tokens)
        self.prepared = made
        return made
