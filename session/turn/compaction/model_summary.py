"""Asks the model for a summary of the dialogue, in a request of its own.

Nothing waits for the reply: if it is not there when a window is needed, the summary is made by rules.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from context.text.tokens import Counter
from session.base.events import LedgerProposed, Notice, Usage
from session.base.tasks import computed
from session.base.text.sanitize import clean_line
from session.models.catalogue import Price
from session.record.turn_cost import Tally
from session.turn.compaction.compact import Room, as_it_stands
from session.turn.compaction.proposal import ProposalError, dialogue_for_model, read_reply
from session.turn.past_turns import PastTurns
from session.wire.instructions import ledger_instructions
from session.wire.link.connection import Connection
from session.wire.protocol import events as wire
from session.wire.protocol.items import text_of, user_message
from session.wire.protocol.request import RequestProfile
from session.wire.transport.errors import LinkError

ASK = 0.65
"""Share of the budget, without instructions and tools, at which the model is asked."""
_MOST_READ = 1_000_000
"""Characters of an answer; what is longer is no summary, and its end is not waited for."""
_WORTH = 0.8
"""Share of the target below which the dialogue will not need a summary soon."""
_LONGEST_ANSWER = 4_000
"""Most tokens of the answer, its reasoning included."""


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """A request for the summary of ``past``.

    ``limit`` is the most tokens of the dialogue in it. ``profile`` is that of the conversation; ``effort``
    replaces its effort, if it has one.
    """

    past: PastTurns
    room: Room
    limit: int
    counter: Counter
    profile: RequestProfile
    effort: str | None
    price: Price | None
    plan: str = ""

    async def put(self, connection: Connection) -> tuple[LedgerProposed | Notice | Usage, ...]:
        """Ask over ``connection``, and return the events to publish.

        These are the usage, and the checked reply or the reason why there is none. Nothing is asked if the
        dialogue is so short that a summary would not pay.
        """
        text = await computed(self._text)
        if not text:
            return ()
        profile = self._profile()
        try:
            reply, counted = await _answer(connection.ask_in_parallel(profile, (user_message(text),)))
        except LinkError as problem:
            return (_made_by_rules(problem.message),)
        tally = Tally(f"{self.past.turns[-1].turn} ledger", profile.model, self.price, plan=self.plan)
        if counted is not None:
            tally.count(counted)
        else:
            tally.estimate(
                self.counter.count_kept(profile.instructions) + self.counter.count_kept(text),
                self.counter.count_kept(reply),
            )
        usage = tally.event()
        tokens = usage.input_tokens, usage.output_tokens
        try:
            return usage, await computed(read_reply, reply, self.past.turns, tokens)
        except ProposalError as problem:
            why = f"the model's reply cannot be used: {problem} ({tokens[0]:,} + {tokens[1]:,} tokens)"
            return usage, _made_by_rules(why)

    def _text(self) -> str:
        if as_it_stands(self.past, self.counter.count_kept).tokens < _WORTH * self.room.target:
            return ""
        return dialogue_for_model(self.past.turns, self.limit, self.counter.count_kept)

    def _profile(self) -> RequestProfile:
        key = self.profile.prompt_cache_key
        return replace(
            self.profile,
            instructions=ledger_instructions().text,
            tools=(),
            effort=self.effort if self.profile.effort is not None else None,
            prompt_cache_key=f"{key}-ledger" if key else None,
            include=(),
            max_output_tokens=_LONGEST_ANSWER,
        )


def _made_by_rules(why: str) -> Notice:
    return Notice(level="info", text=clean_line(f"The ledger is made by rules: {why}"))


async def _answer(events: AsyncGenerator[wire.WireEvent, None]) -> tuple[str, wire.TokenUsage | None]:
    """The text of an answer, and its tokens if the server reports them."""
    words: list[str] = []
    room = _MOST_READ
    usage: wire.TokenUsage | None = None
    async with contextlib.aclosing(events) as stream:
        async for event in stream:
            match event:
                case wire.Created():
                    words.clear()
                case wire.TextDelta(text=text):
                    words.append(text)
                    room -= len(text)
                    if room < 0:
                        break
                case wire.Finished(output=output, usage=counted):
                    whole = "".join(text_of(item) for item in output if item.get("type") == "message")
                    words = [whole] if whole else words
                    usage = counted
                case _:
                    pass
    return "".join(words), usage
