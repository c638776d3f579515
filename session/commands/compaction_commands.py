"""The user's commands for long dialogues: compact, show the ledger, remember and forget lines.

Also asks the model for the ledger, in a request of its own, when the window will soon be full.
"""

from __future__ import annotations

import asyncio
import re

from context.text.encoding import RankFileError
from session.base.events import Event, LineForgotten, LineRemembered, TurnEnded
from session.base.tasks import BackgroundTasks
from session.record.journal.recorder import Recorder
from session.setup.model_choice import ModelChoice
from session.turn.compaction.compact import LEAST_GAIN, History, as_it_stands, compact
from session.turn.compaction.model_summary import ASK, SummaryRequest
from session.turn.compaction.proposal import with_proposal
from session.turn.compaction.summary import remembered_block
from session.turn.compaction.summary_by_rules import summarize
from session.turn.past_turns import PastTurns
from session.turn.preparation import Preparation, Preparations
from session.turn.turn_memory import TurnMemory
from session.turn.turns import Turns
from session.wire.link.connection import Connection

_SHOWN = 72
"""Characters of a message's first line that are shown."""


def show_summary(past: PastTurns) -> str:
    """The summary of all turns of ``past``, and the compaction in force, as lines for the user."""
    lines: list[str] = []
    if past.turns:
        summary = with_proposal(summarize(past.turns, whole_last=True), past.proposed, past.turns)
        who = "rules, and a model's account" if summary.by == "model" else "rules"
        lines.append(f"Ledger of {summary.first} to {summary.through} (by {who})")
        lines.append(f"Last instruction: {summary.last}")
        lines += [f"Goal: {entry.text}" for entry in summary.goal]
        for section in summary.sections:
            lines.append(section.title)
            lines += [f"  {entry.block().rstrip()}" for entry in section.entries]
        lines.append("Your messages (kept word for word as long as they fit)")
        for message in summary.messages:
            first = message.text.strip().split("\n", 1)[0]
            cut = first if len(first) <= _SHOWN and first == message.text.strip() else first[:_SHOWN] + " …"
            lines.append(f"  - {message.turn} ({message.state}): {cut}")
    else:
        lines.append("Nothing was asked yet.")
    if past.remembered:
        lines.append("Remembered")
        lines += [f"  {number}: {text}" for number, text in past.remembered]
    if (compacted := past.compacted) is not None:
        lines.append(
            f"In force: the compaction up to {compacted.through}, "
            f"{compacted.before:,} to {compacted.after:,} tokens, by {compacted.by}"
        )
    else:
        lines.append("No compaction is in force: the model has the dialogue in its own words.")
    return "\n".join(lines)


LONGEST_LINE = 4_000
"""Most characters of a remembered line."""
LONGEST_LINES = 8_000
"""Most characters of all remembered lines together, since they are part of every window."""
_TURN = re.compile(r"t[0-9]+")
_NEVER = -1
"""Stands for the window in which the model was asked, if there is none."""


class CompactionError(Exception):
    """A command cannot be carried out; the message says why, and what to do."""


class CompactionCommands:
    """``Session.compaction``: compacting the dialogue, and the lines that survive every compaction."""

    def __init__(
        self,
        memory: TurnMemory,
        preparations: Preparations,
        choice: ModelChoice,
        turns: Turns,
        recorder: Recorder,
        tasks: BackgroundTasks,
        connection: Connection | None,
    ) -> None:
        """``connection`` is the one over which the model is asked for a summary; None if it is not asked."""
        self._memory = memory
        self._preparations = preparations
        self._choice = choice
        self._turns = turns
        self._publish = recorder.publish
        self._tasks = tasks
        self._connection = connection
        self._asked = _NEVER
        """``Conversation.starts`` at the last request for a summary: the model is asked once per window."""
        recorder.subscribe(self._after_turn, TurnEnded)

    async def compact(self) -> str:
        """Compact the dialogue now; the next turn begins a fresh window.

        Returns a line for the user, empty if an event tells the result. Raises CompactionError while a
        turn runs, and if there is no dialogue yet.
        """
        if self._turns.running:
            raise CompactionError("a turn is running: stop it, or compact when it has ended")
        if not self._past().turns:
            raise CompactionError("there is nothing to compact yet")
        return await self._turns.between(self._compact)

    async def _compact(self) -> str:
        memory, preparation = self._memory, self._preparations.now()
        past = memory.past_turns.past()
        try:
            await asyncio.to_thread(preparation.counter.load)
        except RankFileError as problem:
            return str(problem)
        now, made = await asyncio.to_thread(_compacted, past, preparation)
        memory.start_afresh()
        if made is not None and made.made is not None and made.tokens <= now.tokens * (1 - LEAST_GAIN):
            self._publish(made.made)
            return ""
        few = f"a ledger saves little of {now.tokens:,} tokens"
        return f"a fresh window comes next, with the dialogue as it is: {few}"

    async def summary(self) -> str:
        """The ledger of all turns so far, as text for the user."""
        return await asyncio.to_thread(show_summary, self._past())

    def remembered(self) -> str:
        """The remembered lines, as text for the user."""
        lines = self._past().remembered
        return "\n".join(f"{number}: {text}" for number, text in lines) or "nothing is remembered"

    @property
    def lines(self) -> tuple[int, ...]:
        """The numbers of the remembered lines."""
        return tuple(number for number, _ in self._past().remembered)

    def line(self, number: int) -> str:
        """The remembered line with that number; empty if there is none."""
        return dict(self._past().remembered).get(number, "")

    def remember(self, text: str) -> None:
        """Keep ``text`` word for word through every compaction.

        ``last``, or a turn's name as in the ledger (``t3``), stands for the user's message in that turn.
        Raises CompactionError if the line is remembered already, or too long.
        """
        past = self._past()
        kept = self._meant(text.strip(), past)
        for number, line in past.remembered:
            if line == kept:
                raise CompactionError(f"that is line {number} already")
        if len(kept) > LONGEST_LINE:
            raise CompactionError(f"that is {len(kept):,} characters; a line may have {LONGEST_LINE:,}")
        if sum(len(line) for _, line in past.remembered) + len(kept) > LONGEST_LINES:
            raise CompactionError(
                f"the lines would pass {LONGEST_LINES:,} characters: forget one first (/forget)"
            )
        number = self._memory.past_turns.next_line
        self._memory.line_news.append(remembered_block(((number, kept),)))
        self._publish(LineRemembered(line=number, text=kept))

    def forget(self, which: str) -> None:
        """Forget the line with that number, or ``all``. Raises CompactionError if there is none."""
        lines = dict(self._past().remembered)
        if which == "all" and lines:
            numbers = sorted(lines)
        elif which.isdecimal() and int(which) in lines:
            numbers = [int(which)]
        else:
            there = ", ".join(map(str, sorted(lines)))
            raise CompactionError(
                f"no line {which} is remembered; there are {there}" if there else "nothing is remembered"
            )
        for number in numbers:
            news = f"## The developer no longer needs line {number} of what to keep in mind\n"
            self._memory.line_news.append(news)
            self._publish(LineForgotten(line=number, text=lines[number]))

    def _wants_summary(self) -> bool:
        """Whether to ask the model for a summary now: once in each window, when it will soon be full."""
        conversation, preparation = self._memory.conversation, self._preparations.now()
        room = preparation.budget - preparation.instruction_tokens
        if self._asked == conversation.starts or conversation.tokens < ASK * room:
            return False
        self._asked = conversation.starts
        return True

    def _after_turn(self, event: Event) -> None:
        if isinstance(event, TurnEnded) and self._connection is not None:
            work = self._ask_if_wanted(self._connection)
            self._tasks.start(work, "asking the model for a summary of the conversation")

    async def _ask_if_wanted(self, connection: Connection) -> None:
        if self._wants_summary() and not await self._ask_for_summary(connection):
            # A first window is that full of the project's files alone, and the dialogue is still short.
            self._asked = _NEVER

    async def _ask_for_summary(self, connection: Connection) -> bool:
        """Ask the model in a request of its own, and publish the result; False if nothing was asked."""
        preparation = self._preparations.now()
        question = SummaryRequest(
            past=self._memory.past_turns.past(),
            room=preparation.dialogue_room,
            limit=int(ASK * (preparation.budget - preparation.instruction_tokens)),
            counter=preparation.counter,
            profile=self._choice.profile(),
            effort=next(iter(self._choice.model.efforts), None),
            price=self._choice.price,
            plan=self._choice.plan_title,
        )
        told = await question.put(connection)
        for event in told:
            self._publish(event)
        return bool(told)

    def _meant(self, text: str, past: PastTurns) -> str:
        if text == "last" and past.turns:
            return past.turns[-1].prompt.strip()
        if _TURN.fullmatch(text):
            for turn in past.turns:
                if turn.turn == text:
                    return turn.prompt.strip()
            raise CompactionError(f"no message is called {text}; /ledger names them")
        return text

    def _past(self) -> PastTurns:
        return self._memory.past_turns.past()


def _compacted(past: PastTurns, preparation: Preparation) -> tuple[History, History | None]:
    count = preparation.counter.count_kept
    return as_it_stands(past, count), compact(past, preparation.dialogue_room, count, most_whole=1)
