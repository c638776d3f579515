"""Runs one turn, from the prompt to its last event.

The runner prepares the window, sends the request, feeds the answer to the lane and answers the model's
tool calls, until the model is owed nothing more. An interrupt takes effect before its call returns: from
then on nothing lands, and the turn's only event is its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from context.window.pieces import BudgetTooSmall
from edits.hunk import Hunk, Landed
from edits.report import Outcome, render
from session.base.events import (
    InstructionsUnused,
    Notice,
    PhaseChanged,
    PromptRead,
    Publisher,
    ReasoningDelta,
    TurnEnded,
)
from session.base.tasks import log_fault
from session.base.text.sanitize import clean, clean_line
from session.models.chosen import ChosenModel
from session.record.turn_cost import Tally
from session.tools.taint import sources_of
from session.turn.failures import INTERNAL, Failure, TurnFailedError, explain, unfinished
from session.turn.hunk_life import Answer
from session.turn.lane import ANSWER, About, Lane
from session.turn.money import MoneyBudget, Purse
from session.turn.prepared import PreparedRequest, Prepares
from session.turn.repair import Repairs, left_behind, quoted
from session.turn.response import CHARACTERS_PER_TOKEN, CUT, Response, about
from session.turn.tool_calls import Calls
from session.turn.turn import Phase, Signal, Turn
from session.turn.turn_memory import TurnMemory
from session.wire.input_items import (
    answered,
    call_ids,
    developer_message,
    is_call,
    item_text,
    report_messages,
)
from session.wire.instructions import PATCH_TOOL, TAKE_UP
from session.wire.link.connection import Connection
from session.wire.link.retries import Retries, Tries
from session.wire.protocol import events as wire
from session.wire.protocol.items import CustomToolCall, FunctionCall, Item, ServerItem, tool_output
from session.wire.transport.errors import LinkError, LinkProblem

MOST_LOSSES = Retries(most=3)
"""The limit on how often a turn resumes an answer that the connection lost."""
SHRUNK = 0.5
"""Share of the budget that a second window gets after the server refused the first one as too long."""
_READ_STEP = 0.02
"""The share of the request after which it is told again how much of it is read."""
MOST_ROUNDS = 60
"""Most rounds of tool calls in one turn. A model that needs more is assumed to go in circles."""

_LONGEST_QUOTE = 60
"""Characters that are quoted of what a model repeats."""
KEPT_ROOM = 2_000
"""Tokens of the budget that the tools' answers leave free."""


class Runner:
    """Runs one turn. :meth:`run` returns when its last event has been sent."""

    def __init__(
        self,
        turn: Turn,
        prompt: str,
        *,
        session: str,
        connection: Connection | None,
        offline: str,
        preparation: Prepares,
        memory: TurnMemory,
        lane: Lane,
        calls: Calls,
        chosen: ChosenModel,
        recorder: Publisher,
        money: MoneyBudget | None = None,
        attended: bool = False,
    ) -> None:
        """``offline`` says why there is no connection; it is empty when there is one. ``lane`` and ``calls``
        are those of this turn alone. ``money`` limits what it costs; without it, whoever runs it does. Where
        it is ``attended``, the user can agree to a turn over a limit."""
        self.turn = turn
        self.prompt = prompt
        self._session = session
        self._connection = connection
        self._offline = offline
        self._preparation = preparation
        self._memory = memory
        self._chosen = chosen
        self._publish = recorder.publish
        self._lane = lane
        self._calls = calls
        self._exchange: asyncio.Task[None] | None = None
        self._response = Response()
        self._tally = Tally(turn.name, chosen.model.name, chosen.price, plan=chosen.plan)
        self._money, self._attended = money, attended
        self._purse = Purse()
        self._sent_tokens = 0
        self._tries = Tries(MOST_LOSSES)
        self._failure: Failure | None = None
        self._thought = ""
        """The last character of the reasoning that was published."""
        self._told: set[str] = set()
        """The hunks of tools, whose ends the answers of their calls tell."""
        calls.land = self._land_made
        calls.sources = lane.sources = self._sources
        model = chosen.model
        self._repairs = Repairs(prompt, model.edit_format, model.brief)

    async def run(self) -> None:
        """Run the turn to its end, and note for the next turn how it ended.

        An exception of any kind ends the turn as failed.
        """
        for step in (self._converse, self._close_lane, self._settle_accounts):
            try:
                await step()
            except Exception as problem:  # noqa: BLE001 - the turn must end, whatever of ours is at fault
                self._fail(problem)
        message, code = self._failure or (None, None)
        # A fault after the last signal cannot change the phase any more; the turn still ends as failed.
        status = self.turn.phase.value if self._failure is None else "failed"
        self._publish(TurnEnded(turn=self.turn.name, status=status, message=message, code=code))

    async def _converse(self) -> None:
        """Run the exchange with the model in a task of its own, which an interrupt cancels."""
        if self.turn.over:  # it was interrupted before it could begin
            return
        self._exchange = asyncio.create_task(self._go(), name=f"turn {self.turn.name}")
        await self._lane.watch(self._exchange)
        if not self._exchange.cancelled():
            self._exchange.result()
        elif not self.turn.over:
            raise RuntimeError("the turn was cancelled without an interrupt")

    async def _close_lane(self) -> None:
        try:
            self._lane.finish_all(clean_end=False)
        finally:
            await self._lane.close()

    def _fail(self, problem: Exception) -> None:
        """End the turn as failed. The user is told the first failure."""
        failure = explain(problem)
        if failure.code == INTERNAL and not isinstance(problem, TurnFailedError):  # the lane logs its own
            log_fault(f"running turn {self.turn.name}", problem)
        elif self.turn.over:  # the user's interrupt came first
            return
        self._failure = self._failure or failure
        self._signal(Signal.FAIL)

    def interrupt(self, *, redirected: bool = False) -> None:
        """Stop at once: nothing more lands, nothing more is read, the server is told; where another prompt
        follows, perhaps by that."""
        if self.turn.over:
            return
        self._lane.stop()
        self._calls.stop()
        self._signal(Signal.INTERRUPT)
        if self._connection is not None:
            self._connection.redirect() if redirected else self._connection.drop()
        if self._exchange is not None:
            self._exchange.cancel()

    def answer(self, held: str, answer: Answer) -> bool:
        """Allow or decline a held hunk or tool call of this turn (see ``Lane.answer``, ``Calls.decide``)."""
        if self.turn.over:
            return False
        if self._lane.answer(held, answer):
            return True
        if answer.new is not None:
            return False
        return self._calls.decide(held, agreed=answer.land, rest=answer.rest, scope=answer.scope)

    def _signal(self, signal: Signal) -> None:
        if self.turn.advance(signal):
            self._publish(PhaseChanged(turn=self.turn.name, phase=self.turn.phase.value))

    async def _go(self) -> None:
        if self._connection is None:
            raise TurnFailedError(self._offline, "credentials")
        prepared = await self._prepare(commit=False)
        await self._ask_for_money(prepared)
        self._commit(prepared)
        self._started(prepared)
        rounds = 0
        shrunk = False
        while True:
            try:
                await self._one_response(self._connection)
            except LinkError as problem:
                if problem.kind is LinkProblem.CONTEXT and not shrunk:
                    shrunk = True
                    self._tell(await self._prepare(SHRUNK))
                    continue
                wait = self._tries.wait(problem) if self._response.begun else None
                if wait is None:
                    raise
                await self._resume_answer(self._connection, problem, wait)
                continue
            owed = await self._owed()
            owed += await self._repair(called=bool(owed))
            items = [*self._response.items, *owed]
            tokens = await asyncio.to_thread(self._tokens, items)
            self._response.kept = True
            self._memory.conversation.extend(items, tokens)
            if not owed:
                break
            rounds += 1
            self._watch_money()
            if rounds > MOST_ROUNDS:
                why = f"the model called tools {MOST_ROUNDS} times in a row without an end"
                raise TurnFailedError(f"{why}; what landed stays, and a new prompt goes on from it", "rounds")
            self._signal(Signal.CONTINUED)
        self._signal(Signal.SETTLED)

    async def _prepare(self, share: float = 1.0, *, commit: bool = True) -> PreparedRequest:
        try:
            prepared = await self._preparation.prepare(self.prompt, self._memory, share)
        except BudgetTooSmall as problem:
            raise TurnFailedError(str(problem), "budget") from problem
        if commit:
            self._commit(prepared)
        return prepared

    def _commit(self, prepared: PreparedRequest) -> None:
        """The request goes out: the conversation has it, and the lane knows what it is about."""
        prepared.commit(self._memory)
        files = self._memory.seen.shown.files
        shown = tuple(path for path, file in files.items() if file.lines is not None)
        self._lane.begin(About(self.prompt, shown, self._chosen.model.edit_format == "whole"))

    async def _ask_for_money(self, prepared: PreparedRequest) -> None:
        """Raise TurnFailedError where the turn would pass a limit that the user set, before it is sent."""
        if self._money is None:
            return
        least = prepared.least_cost(self._memory, self._preparation.instruction_tokens, self._chosen)
        purse = await self._money.purse(self.prompt, least, can_agree=self._attended)
        if isinstance(purse, str):
            raise TurnFailedError(purse, "cost")
        self._purse = purse

    def _watch_money(self, output_tokens: int = 0) -> None:
        """Stop, as by the user, where the turn is over its limit: by what its responses cost, and so many
        tokens of the one that streams."""
        price = self._chosen.price
        if price is None or self._purse.limit is None or self.turn.over:
            return
        why = self._purse.over(self._tally.cost + output_tokens * price.output / 1_000_000)
        if why:
            self._publish(Notice(level="warning", text=why))
            self.interrupt()

    def _tell(self, prepared: PreparedRequest) -> None:
        if prepared.compacted is not None:
            self._publish(prepared.compacted)
        for note in prepared.notes:
            self._publish(Notice(level="info", text=clean_line(note)))
        if unused := prepared.window.unapproved:
            self._publish(InstructionsUnused(paths=unused))

    def _started(self, prepared: PreparedRequest) -> None:
        self._sent_tokens = self._standing_tokens()
        self._publish(self._chosen.turn_started(self._session, self.turn.name, self._sent_tokens))
        self._tell(prepared)
        self._signal(Signal.SENT)

    async def _resume_answer(self, connection: Connection, why: LinkError, wait: float) -> None:
        """Resume an answer that the connection lost: keep what arrived, and tell the model where to go on."""
        self._lane.lose()
        await self._lane.settled()
        self._count(None)
        self._keep_partial_answer()
        memory = self._memory
        memory.unreported += self._fresh_outcomes()
        self._remember([*report_messages(memory.take_report()), developer_message(TAKE_UP)])
        self._signal(Signal.LOST)
        self._publish(Notice(level="warning", text=clean_line(why.saying(" Resuming the answer.").message)))
        await connection.pause(wait, why.message)

    async def _one_response(self, connection: Connection) -> None:
        """Stream one response into the lane and wait until its hunks have landed."""
        conversation = self._memory.conversation
        self._response = Response(len(self._lane.outcomes), call_ids(conversation.items))
        async for event in connection.respond(conversation.items):
            self._tally.saw(event)
            self._take(event)
            if self._response.finished is None:
                self._watch_money(self._response.streamed_tokens)
        finished = self._response.finished
        if finished is None:
            why = "the server ended the answer without saying whether it is whole"
            raise TurnFailedError(f"{why}; what landed stays: ask it to go on", "closed")
        whole = finished.status == "completed"
        self._lane.finish_all(clean_end=whole)
        if whole:
            self._signal(Signal.ANSWERED)
        await self._lane.settled()
        if not whole:
            raise TurnFailedError(*unfinished(finished))
        self._response.complete(finished)
        if self._response.unread and not self._response.items:
            raise TurnFailedError("the server's answer is in a form that spark cannot read", "unread")

    def _take(self, event: wire.WireEvent) -> None:
        self._response.answered = self._response.answered or not isinstance(event, wire.ServerError)
        self._response.begun = self._response.begun or not isinstance(event, wire.NOT_BEGUN)
        self._response.streamed += len(event.text) if isinstance(event, wire.CONTENT) else 0
        match event:
            case wire.TextDelta(text=text):
                self._signal(Signal.ARRIVED)
                self._response.text.append(text)
                self._lane.feed(ANSWER, text)
                self._stop_loop(text)
            case wire.ReasoningDelta(text=text):
                self._signal(Signal.ARRIVED)
                self._stop_loop(text)
                self._publish(ReasoningDelta(turn=self.turn.name, text=clean(text, self._thought)))
                self._thought = text[-1:]
            case wire.ToolInputDelta(item_id=source, text=text):
                self._signal(Signal.ARRIVED)
                self._response.tool_text += len(text)
                if event.custom and event.name in ("", PATCH_TOOL):
                    self._lane.feed(source, text)
            case wire.ItemDone(item=item, item_id=source):
                self._item_done(item, source)
            case wire.Finished(usage=usage):
                self._response.finished = event
                self._count(usage)
            case wire.ServerError(message=message, code=code):
                raise TurnFailedError(clean_line(message), code or "server")
            case wire.Steered(unread=unread):
                self._tally.estimate(0, unread // CHARACTERS_PER_TOKEN)
            case wire.Garbled(of_message=lost):
                self._response.unread += lost
            case wire.PromptRead(tokens=tokens, total=total):
                self._read_so_far(tokens, total)
            case wire.Created():
                pass

    def _read_so_far(self, tokens: int, total: int) -> None:
        """Tell how much of the request is read, in steps that can be seen."""
        if tokens >= total or tokens - self._response.read >= total * _READ_STEP:
            self._response.read = tokens
            self._publish(PromptRead(turn=self.turn.name, tokens=tokens, total=total))

    def _stop_loop(self, text: str) -> None:
        """End a turn of a small model whose answer goes in a loop; the server is told to stop."""
        loop = self._response.loop
        if not self._chosen.model.brief or not loop.take(text):
            return
        if self._connection is not None:
            self._connection.drop()
        said = clean_line(loop.what)[:_LONGEST_QUOTE]
        why = f"the model repeats itself ({said!r}), so it was stopped"
        raise TurnFailedError(f"{why}; what landed stays: ask in other words, or for less at once", "loop")

    def _item_done(self, item: ServerItem, source: str) -> None:
        self._response.item_done(item)
        if item.get("type") == "custom_tool_call":
            self._lane.finish(source, clean_end=True)

    def _count(self, usage: wire.TokenUsage | None) -> None:
        """Add a response to the turn's tokens, estimated where the server does not report them."""
        if (link := self._connection) is not None:
            self._tally.timed(link.first_token_seconds, link.times[1])
        if usage is not None:
            self._tally.count(usage)
        else:
            output = self._response.estimated_tokens(self._preparation.count)
            self._tally.estimate(self._standing_tokens(), output)
        self._publish(self._tally.event())

    def _standing_tokens(self) -> int:
        """The tokens of a request that would be sent now."""
        return self._preparation.instruction_tokens + self._memory.conversation.tokens

    def _remember(self, items: list[Item]) -> None:
        tokens = about([item_text(item) for item in items], self._preparation.count)
        self._memory.conversation.extend(items, tokens)

    def _tokens(self, items: list[Item]) -> int:
        return sum(self._preparation.count(item_text(item)) for item in items)

    async def _owed(self) -> list[Item]:
        """The outputs that the calls of this response are owed: reports on hunks, and answers of tools."""
        calls = [item for item in self._response.items if is_call(item)]
        outputs = {
            call["call_id"]: self._patched(call) for call in calls if call["type"] == "custom_tool_call"
        }
        if functions := [call for call in calls if call["type"] == "function_call"]:
            outputs |= await self._called(functions)
        return answered(calls, outputs, CUT)

    def _patched(self, call: CustomToolCall) -> str:
        memory = self._memory
        if call["name"] != PATCH_TOOL:
            return f"There is no freeform tool called {call['name']}; there is only {PATCH_TOOL}."
        fresh = self._fresh_outcomes()
        self._repairs.saw(fresh)
        memory.unreported += fresh
        return memory.take_report() or "The patch held no edit, or its edits are reported above."

    async def _called(self, functions: Sequence[FunctionCall]) -> dict[str, str]:
        """The answers of the tools by call id, within the tokens that the window has room for."""
        memory = self._memory
        self._signal(Signal.CALLED)
        said = sum(self._preparation.count(item_text(item)) for item in self._response.items)
        room = self._chosen.model.budget - self._standing_tokens() - said - KEPT_ROOM
        answers = self._response.answers
        await self._calls.answer(functions, room, answers)
        memory.seen = memory.seen.having_read((each.source, each.whole) for each in answers.readings)
        return answers.texts

    async def _repair(self, *, called: bool) -> list[Item]:
        """What a model is asked after an answer in whose text hunks were refused, or that changed nothing.
        Notes how the hunks ended that no patch call has reported."""
        fresh = self._fresh_outcomes()
        self._memory.unreported += fresh
        answer = "".join(item_text(item) for item in self._response.items)
        names = self._repairs.rename
        left = await self._left_behind(names[0]) if names is not None else {}
        asked = self._repairs.next(fresh, answer, called=called, left=left)
        if asked is None:
            if told := self._repairs.told(fresh, answer, called=called):
                self._publish(Notice(level="warning", text=told))
            return []
        if asked.notice:
            self._publish(Notice(level="info", text=asked.notice))
        text = self._preparation.file_text
        shown = quoted({path: await asyncio.to_thread(text, path) for path in asked.files})
        report = "\n".join(part for part in (self._memory.take_report(), shown) if part)
        self._lane.begin(replace(self._lane.about, whole=True))
        words = asked.bare if asked.files and not shown else asked.words
        return [*report_messages(report), developer_message(words)]

    async def _left_behind(self, old: str) -> dict[str, list[str]]:
        """The lines with the name ``old`` in the files that the model was shown or has changed."""
        changed = [each.path for each in self._lane.outcomes if isinstance(each, Landed)]
        paths = dict.fromkeys((*self._lane.about.shown, *changed))
        text = self._preparation.file_text
        return left_behind(old, {path: await asyncio.to_thread(text, path) for path in paths})

    def _fresh_outcomes(self) -> list[Outcome]:
        first, self._response.first_outcome = self._response.first_outcome, len(self._lane.outcomes)
        return [each for each in self._lane.outcomes[first:] if each.hunk not in self._told]

    async def _sources(self, text: str) -> Sequence[str]:
        """The parts of ``text`` that the user never typed, with where they come from."""
        answers = self._response.answers.texts.items()
        made = [*self._response.items, *(tool_output(call, said, custom=False) for call, said in answers)]
        items, typed = (*self._memory.conversation.items, *made), tuple(self._memory.typed.texts)
        return await asyncio.to_thread(sources_of, text, items, typed, self._preparation.file_text)

    async def _land_made(self, hunks: Sequence[Hunk]) -> str:
        """Land what a tool wrote, held and reviewed like any edit, and report to the model on it."""
        known = {each.hunk for each in self._lane.outcomes}
        for hunk in hunks:
            self._lane.land(hunk)
        await self._lane.settled()
        made = [each for each in self._lane.outcomes if each.hunk not in known]
        self._told |= {each.hunk for each in made}
        return "What became of what it wrote:\n" + render(made).partition("\n")[2]

    async def _settle_accounts(self) -> None:
        """Note for the next turn how this one ended, unless it was completed."""
        memory = self._memory
        if self.turn.phase is Phase.COMPLETED:
            return
        if not self._sent_tokens:
            if self.turn.phase is Phase.INTERRUPTED:
                memory.unsent.append(self.prompt)
            return
        if not self._response.kept:
            stopped = self.turn.phase is Phase.INTERRUPTED
            if self._response.finished is None and (self._response.answered or stopped):
                self._count(None)
            self._keep_partial_answer()
        memory.unreported += self._fresh_outcomes()
        ended = "interrupted by the developer" if self.turn.phase is Phase.INTERRUPTED else "cut off"
        memory.cut_short = f"Your last answer was {ended} before its end."

    def _keep_partial_answer(self) -> None:
        self._response.kept = True
        if items := self._response.partial_items():
            self._remember(items)
