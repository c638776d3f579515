"""Runs a race as one turn: connections and checks around ``race_rules.py``, then the landing."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from context.window.pieces import BudgetTooSmall
from session.base.events import (
    AttemptEnded,
    AttemptStarted,
    Event,
    Notice,
    PhaseChanged,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from session.base.storage.private_files import StoreError
from session.base.tasks import log_fault
from session.base.text.sanitize import clean, clean_line
from session.project.edit_thread import EditThread
from session.race.attempt import Attempt
from session.race.attempt_files import AttemptFiles
from session.race.attempt_life import State
from session.race.attempt_maker import AttemptMaker
from session.race.judge import Judge
from session.race.plan import Estimate, RacePlan, estimate, estimate_later
from session.race.race_events import (
    attempt_again,
    attempt_answered,
    attempt_checked,
    attempt_progress,
    baseline_checked,
    race_ended,
    race_started,
    race_usage,
    request_of,
)
from session.race.race_rules import (
    BASELINE,
    Again,
    Checked,
    Cut,
    Decided,
    Effect,
    Ended,
    Race,
    RunCheck,
)
from session.race.take_runner import land, rehearse
from session.turn.failures import INTERNAL, Failure, TurnFailedError, explain
from session.turn.hunk_life import Answer
from session.turn.lane import Lane
from session.turn.money import MoneyBudget, Purse, dollars
from session.turn.turn import Phase, Signal, Turn
from session.turn.turn_memory import TurnMemory

LOOK_SECONDS = 0.2
"""Seconds between two looks at the limits, and between two reports on how far the attempts are."""
MONEY_SECONDS = 5.0
"""Seconds between two looks at what other sessions spend."""
LEAST_SILENCE, TIMES_ANSWER = 30.0, 3.0
"""Seconds without anything new of an answer, and how many times as long as the slowest whole answer took,
after which it is given up."""
NO_WINNER = "no_winner"
"""The code of a turn whose race nobody won."""


class RaceRunner:
    """Runs one race. :meth:`run` returns when its last event has been sent; nothing runs on then."""

    def __init__(
        self,
        turn: Turn,
        prompt: str,
        lane: Lane,
        *,
        session: str,
        plan: RacePlan,
        maker: AttemptMaker,
        judge: Judge,
        memory: TurnMemory,
        thread: EditThread,
        publish: Callable[[Event], None],
        landing: Callable[[str, int], None],
        keep: Callable[[], Awaitable[None]],
        money: MoneyBudget,
        attended: bool,
    ) -> None:
        """``landing`` is called with the turn and the winner once hunks of it have landed, ``keep`` at the
        end.
        Where it is ``attended``, the user can agree to what it costs by ``money``."""
        self._money, self._attended = money, attended
        self._purse = Purse()
        self._keep = keep
        self.turn = turn
        self.prompt = prompt
        self.plan = plan
        self.attempts: dict[int, Attempt] = {}
        self.race = Race(
            len(plan.variations),
            plan.checks,
            slots=plan.slots,
            judge_all=plan.judge_all,
            rounds=plan.rounds,
            goals=plan.goals,
        )
        self._memory = memory
        self._lane = lane
        self._session = session
        self._maker = maker
        self._judge = judge
        self._landing = landing
        self._thread = thread
        self._publish = publish
        self._began = time.monotonic()
        self._decided: asyncio.Future[Decided] = asyncio.get_running_loop().create_future()
        self._checks: dict[RunCheck, float] = {}
        """When each check that runs began."""
        self._answered: list[float] = []
        """Seconds from the beginning to each whole answer."""
        self._tasks: dict[asyncio.Task[None], int] = {}
        """The attempts and checks that run, with the attempt that each is about."""
        self._told: dict[int, tuple[int, int, int]] = {}
        self._kept = 0
        """The output tokens that the conversation goes on with."""
        self._failure: Failure | None = None
        self._effects: deque[Effect] = deque()
        self._carrying_out = False
        self._early: list[Event] | None = []
        """What came before the race was told of: it is told afterwards, or never; None from then on."""

    async def run(self) -> None:
        """Run the race to its end. An exception of any kind ends it as failed."""
        for step in (self._compete, self._land_winner, self._clear_up):
            try:
                await step()
            except Exception as problem:  # noqa: BLE001 - the turn must end, whatever of ours is at fault
                self._fail(problem)
        if self.race.over and self.attempts:
            await self._keep()
        taken = [usage for each in self.attempts.values() for usage in each.meter.usage]
        self._publish(race_usage(self.turn.name, taken, self._kept))
        if self.turn.phase is not Phase.COMPLETED:
            self._memory.unsent.append(self.prompt)
        message, code = self._failure or (None, None)
        status = self.turn.phase.value if self._failure is None else "failed"
        self._publish(TurnEnded(turn=self.turn.name, status=status, message=message, code=code))

    def interrupt(self, *, redirected: bool = False) -> None:
        """Stop at once: every socket is closed before this returns, and nothing more lands."""
        if self.turn.over:
            return
        self._lane.stop()
        self._signal(Signal.INTERRUPT)
        self._take(self.race.abandon("stopped"))

    def answer(self, held: str, answer: Answer) -> bool:
        """Allow or decline a held hunk of the winner (see ``Lane.answer``)."""
        return not self.turn.over and self._lane.answer(held, answer)

    @property
    def files(self) -> Callable[[str], AttemptFiles]:
        """Gives the project's files as they are now, to place an attempt's edits in."""
        return self._maker.files

    # -- the race ------------------------------------------------------------------------------

    async def _compete(self) -> None:
        if self.turn.over:
            return
        self._take(self.race.begin())
        try:
            prepared = await self._maker.first.prepare(self.prompt, self._memory)
        except BudgetTooSmall as problem:
            raise TurnFailedError(str(problem), "budget") from problem
        if self._stopped():
            return
        standing = self._maker.first.base.instruction_tokens + self._memory.conversation.tokens
        likely = estimate(self.plan.asked, prepared.tokens + standing)
        self._hold_limits(likely)
        await self._ask_for_money(likely)
        if self._stopped():
            return
        self._start(prepared.tokens + standing, likely)
        looking = asyncio.create_task(self._look(), name="following a race")
        try:
            await asyncio.wait({self._decided})
        finally:
            looking.cancel()
            await asyncio.wait({looking})
        if not looking.cancelled():
            looking.result()

    def _hold_limits(self, likely: Estimate) -> None:
        plan = self.plan
        over = plan.limits.tokens is not None and likely.tokens > plan.limits.tokens
        dear = plan.limits.cost is not None and (likely.cost or 0.0) > plan.limits.cost
        if over or dear:
            raise TurnFailedError(
                f"{len(plan.variations)} attempts would take {likely}, which is over the limit of "
                f"{plan.limits}: ask for fewer attempts, or change [attempts] or [budget] in config.toml",
                "limit",
            )

    async def _ask_for_money(self, likely: Estimate) -> None:
        """Raise TurnFailedError where the user has not agreed to what the race is likely to cost."""
        plan, count = self.plan, len(self.plan.variations)
        purse = await self._money.purse(
            self.prompt,
            likely.cost,
            can_agree=self._attended,
            attempts=count,
            own_limit=plan.limits.cost,
        )
        if isinstance(purse, str):
            raise TurnFailedError(purse, "cost")
        self._purse = purse

    def _start(self, input_tokens: int, likely: Estimate) -> None:
        plan, first = self.plan, self.plan.variations[0].chosen
        self._later = estimate_later(plan.asked, input_tokens)
        self._publish(first.turn_started(self._session, self.turn.name, input_tokens))
        limited = replace(plan, limits=replace(plan.limits, cost=self._purse.limit))
        self._publish(race_started(self.turn.name, limited, input_tokens, likely, self._later))
        early, self._early = self._early or [], None
        for event in early:
            self._publish(event)
        if self.race.over:  # a check cannot judge: nothing is asked of the model
            return
        self._signal(Signal.SENT)
        for number in range(1, len(plan.variations) + 1):
            attempt = self._maker.make(number, self.turn, partial(self._sent, number))
            self.attempts[number] = attempt
            self._run("attempt", self._answer(attempt, attempt.run()), number)

    def _sent(self, number: int, event: TurnStarted) -> None:
        if self.attempts[number].answers:  # its later answers are told of when they are asked for
            return
        hint = self.plan.variations[number - 1].hint
        self._publish(
            AttemptStarted(
                turn=self.turn.name, attempt=number, model=event.model, effort=event.effort, hint=hint
            )
        )
        self._signal(Signal.ARRIVED)

    async def _answer(self, attempt: Attempt, answering: Coroutine[None, None, str]) -> None:
        """Let one attempt answer, and have it judged."""
        began = time.monotonic()
        why = await answering
        if self.race.over:
            return
        if why:
            self._take(self.race.failed(attempt.number, clean_line(why)))
            return
        self._answered.append(time.monotonic() - began)
        result = await asyncio.to_thread(attempt.answers[-1].change.result)
        self._progress(attempt)
        self._publish(attempt_answered(self.turn.name, attempt, result))
        self._take(self.race.answered(attempt.number, result, clean_line(attempt.meter.refusals)))

    def _ask_again(self, again: Again) -> None:
        """Have a red attempt answer again, unless that would pass a limit."""
        attempt, limits = self.attempts[again.attempt], self.plan.limits
        tokens, cost = self._tokens() + self._later.tokens, self._cost() + (self._later.cost or 0.0)
        if limits.tokens is not None and tokens > limits.tokens:
            why = f"another answer would pass the limit of {limits.tokens:,} tokens"
        elif reached := self._spent(cost):
            why = f"no other answer: {reached}"
        else:
            self._publish(attempt_again(self.turn.name, attempt, again.answer, again.judgements[0]))
            answering = attempt.run_again(request_of(again.judgements))
            self._run("attempt", self._answer(attempt, answering), attempt.number)
            return
        self._take(self.race.failed(attempt.number, why))

    async def _check(self, run: RunCheck) -> None:
        self._checks[run] = time.monotonic()
        try:
            if run.attempt == BASELINE:
                verdict = await self._judge.baseline(run.check)
                self._tell(baseline_checked(self.turn.name, verdict))
            else:
                answer = self.attempts[run.attempt].answers[self.race.lives[run.attempt].answer - 1]
                verdict = await self._judge.attempt(run.check, answer.change)
        finally:
            del self._checks[run]
        self._take(self.race.checked(run.attempt, run.check, verdict))

    async def _look(self) -> None:
        """Tell how far the attempts are, and hold the limits."""
        limits = self.plan.limits
        looked = time.monotonic()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if time.monotonic() - looked > MONEY_SECONDS:
                with suppress(StoreError):
                    await self._money.refresh()
                looked = time.monotonic()
            if why := self._spent(self._cost()):
                self._take(self.race.stop_streaming(why))
            for attempt in self.attempts.values():
                self._progress(attempt)
            self._pass_over()
            if limits.tokens is not None and self._tokens() > limits.tokens:
                self._take(self.race.stop_streaming(f"the limit of {limits.tokens:,} tokens is reached"))
            if limits.seconds is not None and time.monotonic() - self._began > limits.seconds:
                self._take(self.race.stop(f"the limit of {limits.seconds / 60:g} minutes is reached"))

    def _spent(self, cost: float) -> str:
        """The limit that a race that costs so much would pass; empty for none."""
        limit = self._purse.limit
        if limit is not None and cost > limit:
            return f"the limit of {dollars(limit)} is reached"
        return "" if self._purse.agreed else self._money.reached(cost)

    def _pass_over(self) -> None:
        """Give the slot of a slow check to another one, and give up an answer that has stopped coming."""
        now = time.monotonic()
        for run, began in list(self._checks.items()):
            if run.attempt != BASELINE and self._judge.is_slow(run.check, now - began):
                self._take(self.race.overtime(run))
        if not self._answered:
            return
        longest = max(LEAST_SILENCE, TIMES_ANSWER * max(self._answered))
        for attempt in self.attempts.values():
            if self.race.lives[attempt.number].state is State.STREAMING and attempt.meter.silent > longest:
                attempt.cut()
                why = f"nothing came of its answer for {longest:.0f} s, and others were whole long before"
                self._take(self.race.failed(attempt.number, why))

    def _take(self, effects: Sequence[Effect]) -> None:
        """Carry out what the race decided, after what is carried out already."""
        self._effects.extend(effects)
        if self._carrying_out:
            return
        self._carrying_out = True
        try:
            while self._effects:
                self._carry_out(self._effects.popleft())
        finally:
            self._carrying_out = False

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case RunCheck():
                self._run("check", self._check(effect), effect.attempt)
            case Cut(attempt=number):
                self._cut(number)
            case Checked(attempt=number, answer=answer, judgement=judgement):
                self._publish(attempt_checked(self.turn.name, number, answer, judgement))
            case Again():
                self._ask_again(effect)
            case Ended(attempt=number, state=state, why=why):
                attempt = self.attempts.get(number)
                tokens = attempt.meter.tokens if attempt is not None else 0
                life = self.race.lives[number]
                if attempt is not None:
                    attempt.keep(life.answer)
                    attempt.close()
                if state is State.GREEN and not self.race.all_green(life):
                    state = State.RED  # as red as before
                self._tell(
                    AttemptEnded(
                        turn=self.turn.name,
                        attempt=number,
                        status=str(state),
                        tokens=tokens,
                        why=why,
                        answer=life.answer,
                        answers=life.asked,
                    )
                )
            case Decided():
                self._decide(effect)

    def _cut(self, number: int) -> None:
        attempt = self.attempts.get(number)
        if attempt is not None:
            attempt.cut()
        for task, about in self._tasks.items():
            if about == number and task.get_name() == "check":
                task.cancel()

    def _decide(self, decided: Decided) -> None:
        for task in self._tasks:
            if task.get_name() == "check" and task is not asyncio.current_task():
                task.cancel()
        took = time.monotonic() - self._began
        self._tell(race_ended(self.turn.name, self.race, decided, list(self.attempts.values()), took))
        if not self._decided.done():
            self._decided.set_result(decided)

    # -- the end -------------------------------------------------------------------------------

    async def _land_winner(self) -> None:
        if self.turn.over:
            return
        decided = self._decided.result()
        if not decided.winner:
            best = f"; the best is attempt {decided.best} (/try take {decided.best})" if decided.best else ""
            raise TurnFailedError(f"{decided.why}{best}", self._common_code())
        winner = self.attempts[decided.winner]
        self._signal(Signal.ANSWERED)
        judged = self.race.lives[decided.winner].result
        files = self.files(f"{self.turn.name}.w")
        result = await self._thread.run(lambda: rehearse(winner.change.edits, files))
        if self._stopped():
            return
        if result.key != judged.key:
            text = "the project changed during the race: the checks judged the winner without those changes"
            self._publish(Notice(level="warning", text=text))
        if decided.why:
            self._publish(Notice(level="warning", text=clean_line(f"the winner leaves {decided.why}")))
        winner.remember(self._memory)
        self._kept = winner.kept_tokens
        self._publish(TextDelta(turn=self.turn.name, text=clean(winner.said)))
        try:
            await land(winner.change.edits, self._lane, lambda: self._landing(self.turn.name, winner.number))
        finally:
            self._memory.unreported += self._lane.outcomes
        self._signal(Signal.SETTLED)

    async def _clear_up(self) -> None:
        """End everything that still runs."""
        await self._lane.close()
        for attempt in self.attempts.values():
            attempt.cut()
        for task in self._tasks:
            if task.get_name() == "check":
                task.cancel()
        while self._tasks:
            await asyncio.wait(list(self._tasks))
        await self._judge.close()
        for attempt in self.attempts.values():
            await attempt.closed()

    def _fail(self, problem: Exception) -> None:
        failure = explain(problem)
        if failure.code == INTERNAL:
            log_fault(f"running the race {self.turn.name}", problem)
        elif self.turn.over:
            return
        self._failure = self._failure or failure
        self._signal(Signal.FAIL)
        self._take(self.race.abandon("the race failed"))

    def _common_code(self) -> str:
        """The code for a race without a winner: that of the attempts where all failed for one reason."""
        ends = [attempt.meter.ended for attempt in self.attempts.values()]
        codes = {end.code if end is not None and end.status == "failed" else None for end in ends}
        return (codes.pop() if len(codes) == 1 else None) or NO_WINNER

    # -- small parts ---------------------------------------------------------------------------

    def _stopped(self) -> bool:
        return self.turn.over  # it may have changed between any two steps

    def _run(self, name: str, work: Coroutine[None, None, None], number: int) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks[task] = number
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task]
        if not task.cancelled() and (problem := task.exception()) is not None:
            self._fail(problem if isinstance(problem, Exception) else RuntimeError(str(problem)))

    def _tell(self, event: Event) -> None:
        """Tell of the race, but nothing before its start: what shows races knows no attempt until then."""
        if self._early is None:
            self._publish(event)
        else:
            self._early.append(event)

    def _progress(self, attempt: Attempt) -> None:
        meter = attempt.meter
        now = (meter.output_tokens, meter.hunks, meter.refused)
        if self._told.get(attempt.number) != now:
            self._told[attempt.number] = now
            self._publish(attempt_progress(self.turn.name, attempt))

    def _tokens(self) -> int:
        return sum(attempt.meter.tokens for attempt in self.attempts.values())

    def _cost(self) -> float:
        return sum(attempt.cost() for attempt in self.attempts.values())

    def _signal(self, signal: Signal) -> None:
        if self.turn.advance(signal):
            self._publish(PhaseChanged(turn=self.turn.name, phase=self.turn.phase.value))
