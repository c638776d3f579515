"""What a session offers about its window: pinning, taking out, and telling what is in it and why."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

from context.project.snapshot import Snapshot
from context.text.tokens import RankFileError
from context.window.pieces import BudgetTooSmall
from session.events import Event
from session.memory.past_turns import Past
from session.memory.turn_memory import Memory
from session.memory.window_report import Explanation, missing, parts_of
from session.project.pins import PinCommands, Pins, holders
from session.turn.preparation import Preparation


class ContextCommands(PinCommands):
    """``Session.context``: commands and explanations, from a thread both."""

    def __init__(
        self,
        pins: Pins,
        memory: Memory,
        snapshot: Callable[[], Snapshot],
        preparation: Callable[[], Preparation],
        send: Callable[[Event], None],
    ) -> None:
        super().__init__(pins, snapshot, send)
        self._memory = memory
        self._preparation = preparation

    async def explain(self, draft: str | None) -> Explanation:
        """The window that ``draft`` would be sent with now, beside what the model holds already; with
        None, the window as it was last sent.

        It is built from what is known of the project now, and nothing is changed by it.
        """
        await self._pins.settled()
        # The running turn changes the memory on this loop while the thread reads: it reads a copy.
        return await asyncio.to_thread(
            _explain,
            self._preparation(),
            self._memory.copied(),
            self._memory.exchanges.past(),
            draft,
            self.pinned,
            self.removed,
        )


def _explain(
    preparation: Preparation,
    memory: Memory,
    past: Past,
    draft: str | None,
    pinned: tuple[str, ...],
    removed: tuple[str, ...],
) -> Explanation:
    try:
        preparation.counter.load()  # in no time where it is done already; an upper bound would mislead
    except RankFileError as problem:
        return Explanation(budget=preparation.budget, problem=str(problem))
    snapshot = preparation.project.snapshot
    known, total = preparation.project.progress
    pins, removals = holders(pinned, snapshot), holders(removed, snapshot)
    frame = Explanation(
        budget=preparation.budget,
        pins=MappingProxyType(pins),
        removals=MappingProxyType({path: by for path, by in removals.items() if path not in pins}),
        known=known,
        total=total,
        complete=snapshot.complete,
    )
    held = preparation.instruction_tokens + memory.conversation.tokens
    if draft is None:
        last = memory.account.last
        if last is None:
            return replace(
                frame, problem="nothing has been sent yet since the conversation was started afresh"
            )
        parts, tokens, left_out = memory.account.parts(), held, last.left_out
    else:
        try:
            prepared = preparation.prepare_now(draft, memory, past)
        except BudgetTooSmall as problem:
            return replace(frame, problem=str(problem))
        earlier = () if prepared.afresh else parts_of(memory.account.pieces, earlier=True)
        parts = (*earlier, *parts_of(prepared.window.pieces, earlier=False))
        tokens = prepared.tokens + (preparation.instruction_tokens if prepared.afresh else held)
        left_out = prepared.window.left_out
    talk = max(0, tokens - sum(part.tokens for part in parts))
    return replace(frame, tokens=tokens, parts=parts, talk=talk, left_out=missing(left_out))
