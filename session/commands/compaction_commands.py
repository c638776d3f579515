"""What the user does with the dialogue by hand (compact it, keep lines for ever), and the ledger that a model
is asked for beside the conversation."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from context.text.tokens import RankFileError
from session.compaction.ledger import remembered_block
from session.compaction.model_ledger import ASK, Ask, LedgerQuestion
from session.compaction.packing import LEAST_GAIN, History, as_it_stands, compact
from session.compaction.view import show_ledger
from session.events import Event, LineForgotten, LineRemembered
from session.memory.past_turns import Past
from session.memory.turn_memory import Memory
from session.models.catalogue import Price
from session.protocol.request import RequestProfile
from session.turn.preparation import Preparation

LONGEST_LINE = 4_000
"""Characters of a line that is kept; …"""
LONGEST_LINES = 8_000
"""… and of all of them: they stand in every window."""
_TURN = re.compile(r"t[0-9]+")


class DialogueError(Exception):
    """A command that cannot be done; the message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class DialogueParts:
    """What the dialogue's commands work with. ``between_turns`` runs a piece of work after the turn before
    has wholly ended and before the next begins; ``ask`` is ``Connection.aside``, None where nobody is to be
    asked; ``profile`` gives the requests' fields, ``effort`` the least effort that the model knows."""

    memory: Memory
    preparation: Callable[[], Preparation]
    profile: Callable[[], RequestProfile]
    effort: Callable[[], str | None]
    price: Callable[[], Price | None]
    ask: Ask | None
    running: Callable[[], bool]
    between_turns: Callable[[Callable[[], Awaitable[str]]], Awaitable[str]]
    send: Callable[[Event], None]


class Dialogue:
    """The dialogue of a session, for its user."""

    def __init__(self, parts: DialogueParts) -> None:
        self._parts = parts
        self._asked = -1
        """The start of the conversation in which the model was asked; it is asked once in each."""

    async def compact(self) -> str:
        """Compact now: the next turn begins a fresh window. Returns a line for the person, empty where the
        event tells it. Raises DialogueError while a turn runs, and before any was asked."""
        if self._parts.running():
            raise DialogueError("a turn runs: compact when it has ended, or stop it first")
        if not self._past().turns:
            raise DialogueError("there is nothing to compact yet")
        return await self._parts.between_turns(self._compact)

    async def _compact(self) -> str:
        memory, preparation = self._parts.memory, self._parts.preparation()
        past = memory.exchanges.past()
        try:
            await asyncio.to_thread(preparation.counter.load)
        except RankFileError as problem:
            return str(problem)
        now, made = await asyncio.to_thread(_compacted, past, preparation)
        memory.start_afresh()
        if made is not None and made.made is not None and made.tokens <= now.tokens * (1 - LEAST_GAIN):
            self._parts.send(made.made)
            return ""
        few = f"a ledger saves little of {now.tokens:,} tokens"
        return f"a fresh window comes next, with the dialogue as it is: {few}"

    async def ledger(self) -> str:
        """The ledger of all turns so far, as text to read: what would stand in their place now."""
        return await asyncio.to_thread(show_ledger, self._past())

    def remembered(self) -> str:
        """The lines that are kept, as text to read."""
        lines = self._past().remembered
        return "\n".join(f"{number}: {text}" for number, text in lines) or "nothing is remembered"

    @property
    def lines(self) -> tuple[int, ...]:
        """The numbers of the lines that are kept."""
        return tuple(number for number, _ in self._past().remembered)

    def line(self, number: int) -> str:
        """The line of that number; empty where there is none."""
        return dict(self._past().remembered).get(number, "")

    def remember(self, text: str) -> None:
        """Keep ``text`` word for word through every compaction; ``last``, or a turn's name as the ledger
        shows it (``t3``), keeps that message of the user's. Raises DialogueError where it cannot be kept."""
        past = self._past()
        kept = self._meant(text.strip(), past)
        for number, line in past.remembered:
            if line == kept:
                raise DialogueError(f"that is line {number} already")
        if len(kept) > LONGEST_LINE:
            raise DialogueError(f"that is {len(kept):,} characters; a line may have {LONGEST_LINE:,}")
        if sum(len(line) for _, line in past.remembered) + len(kept) > LONGEST_LINES:
            raise DialogueError(
                f"the lines would pass {LONGEST_LINES:,} characters: forget one first (/forget)"
            )
        number = self._parts.memory.exchanges.next_line
        self._parts.memory.line_news.append(remembered_block(((number, kept),)))
        self._parts.send(LineRemembered(line=number, text=kept))

    def forget(self, which: str) -> None:
        """Keep the line of that number no longer, or ``all``. Raises DialogueError where there is none."""
        lines = dict(self._past().remembered)
        if which == "all" and lines:
            numbers = sorted(lines)
        elif which.isdecimal() and int(which) in lines:
            numbers = [int(which)]
        else:
            there = ", ".join(map(str, sorted(lines)))
            raise DialogueError(
                f"no line {which} is remembered; " + (f"there are {there}" if there else "none is")
            )
        for number in numbers:
            news = f"## The developer no longer needs line {number} of what to keep in mind\n"
            self._parts.memory.line_news.append(news)
            self._parts.send(LineForgotten(line=number, text=lines[number]))

    def wants_ledger(self) -> bool:
        """After a turn: whether the model is to be asked for the ledger now, since the window will run full
        soon; once a window."""
        conversation, preparation = self._parts.memory.conversation, self._parts.preparation()
        room = preparation.budget - preparation.instruction_tokens
        if self._parts.ask is None or self._asked == conversation.starts or conversation.tokens < ASK * room:
            return False
        self._asked = conversation.starts
        return True

    async def after_turn(self) -> None:
        """Ask the model for the ledger if the window will run full soon."""
        if self.wants_ledger():
            await self.ask_for_ledger()

    async def ask_for_ledger(self) -> None:
        """Ask the model for the ledger, beside whatever else goes on; what came of it is an event."""
        parts, preparation = self._parts, self._parts.preparation()
        if parts.ask is None:
            return
        question = LedgerQuestion(
            past=parts.memory.exchanges.past(),
            room=preparation.dialogue_room,
            limit=int(ASK * (preparation.budget - preparation.instruction_tokens)),
            count=preparation.counter.count_kept,
            profile=parts.profile(),
            effort=parts.effort(),
            price=parts.price(),
        )
        for told in await question.put(parts.ask):
            parts.send(told)

    def _meant(self, text: str, past: Past) -> str:
        if text == "last" and past.turns:
            return past.turns[-1].prompt.strip()
        if _TURN.fullmatch(text):
            for turn in past.turns:
                if turn.turn == text:
                    return turn.prompt.strip()
            raise DialogueError(f"no message is called {text}; /ledger names them")
        return text

    def _past(self) -> Past:
        return self._parts.memory.exchanges.past()


async def after(before: asyncio.Task[Any] | None, work: Callable[[], Awaitable[str]]) -> str:
    """What ``work`` gives, once ``before`` is over."""
    if before is not None:
        await asyncio.wait({before})
    return await work()


def _compacted(past: Past, preparation: Preparation) -> tuple[History, History | None]:
    count = preparation.counter.count_kept
    return as_it_stands(past, count), compact(past, preparation.dialogue_room, count, most_whole=1)
