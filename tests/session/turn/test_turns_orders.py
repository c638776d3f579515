"""The order of turns as a machine: what the user does, which turn runs, and what it was told."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from session.base.events import Event, Notice, PromptQueued, PromptSubmitted, PromptsUnqueued
from session.base.tasks import BackgroundTasks
from session.base.waiting_prompts import WaitingPrompts
from session.turn import turns
from session.turn.turn import Signal, Turn
from session.turn.turns import RunsTurn, Turns


class Run:
    """A turn that ends when a test says so, or soon after it was interrupted."""

    def __init__(self, name: str, prompt: str, log: list[str]) -> None:
        self.turn, self.prompt = Turn(name), prompt
        self.end = asyncio.Event()
        self._log = log

    async def run(self) -> None:
        self._log.append(f"{self.turn.name}{' over' if self.turn.over else ''}: {self.prompt}")
        if not self.turn.over:
            await self.end.wait()
        if not self.turn.over:
            for signal in (Signal.SENT, Signal.ANSWERED, Signal.SETTLED):
                self.turn.advance(signal)
        self._log.append(f"{self.turn.name} ended")

    def interrupt(self, *, redirected: bool = False) -> None:
        if self.turn.advance(Signal.INTERRUPT):
            self._log.append(f"{self.turn.name} {'redirected' if redirected else 'stopped'}")
        self.end.set()

    def answer(self, held: str, answer: Any) -> bool:
        return held == self.turn.name


class Maker:
    """Makes the runs of a test."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.runs: list[Run] = []

    def choose(self, text: str, *, redirect: bool) -> None:
        pass

    def set_up_connection(self) -> None:
        pass

    def runner(self, name: str, prompt: str) -> Run:
        self.runs.append(Run(name, prompt, self.log))
        return self.runs[-1]

    def as_chosen_now(self, runner: RunsTurn) -> RunsTurn:
        return runner


class Order(Turns):
    """Turns whose runs are those of the test, and of which all is noted."""

    def __init__(self) -> None:
        self.told: list[Event] = []
        maker = Maker()
        self.log, self.runs = maker.log, maker.runs
        super().__init__(maker, self.told.append, BackgroundTasks(self.told.append), 3)

    def begin_between(self, name: str, work: asyncio.Event, *, of_session: bool) -> Awaitable[str]:
        async def doing() -> str:
            self.log.append(f"{name} begins")
            await work.wait()
            self.log.append(f"{name} ends")
            return name

        return self.between(doing, of_session=of_session)


async def calm(rounds: int = 20) -> None:
    for _ in range(rounds):
        await asyncio.sleep(0)


STEPS: dict[str, Callable[[Order, asyncio.Event], object]] = {
    "submit": lambda order, work: order.submit("p"),
    "queue": lambda order, work: order.queue("q"),
    "stop": lambda order, work: order.interrupt(),
    "end": lambda order, work: order.runs[-1].end.set(),
    "work": lambda order, work: order.begin_between("work", work, of_session=True),
    "apart": lambda order, work: order.begin_between("work", work, of_session=False),
    "done": lambda order, work: work.set(),
}
ORDERS: list[tuple[str, str]] = [
    ("submit end", "t4: p, t4 ended"),
    ("submit stop", "t4: p, t4 stopped, t4 ended"),
    ("stop submit end stop", "t4: p, t4 ended"),
    ("submit submit end", "t4: p, t4 redirected, t4 ended, t5: p, t5 ended"),
    ("submit submit submit", "t4: p, t4 redirected, t4 ended, t5: p, t5 redirected, t5 ended, t6: p"),
    ("queue end", "t4: q, t4 ended"),
    ("submit queue queue end end", "t4: p, t4 ended, t5: q, t5 ended, t6: q"),
    ("submit queue stop end", "t4: p, t4 stopped, t4 ended, t5: q, t5 ended"),
    ("submit queue stop+queue end", "t4: p, t4 stopped, t4 ended, t5: q, t5 ended, t6: q"),
    ("submit+submit end", "t4 redirected, t4 over: p, t4 ended, t5: p, t5 ended"),
    ("submit queue submit end", "t4: p, t4 redirected, t4 ended, t5: p, t5 ended, t6: q"),
    # Work between turns: it waits for the turn before it, and the turns after it wait for it.
    ("work submit", "work begins"),
    ("work submit done end", "work begins, work ends, t4: p, t4 ended"),
    ("submit work end", "t4: p, t4 ended, work begins"),
    ("submit work submit done", "t4: p, t4 redirected, t4 ended, work begins, work ends, t5: p"),
    # A turn that stopped while it waits ends at once only where the work is not the session's.
    ("work submit stop", "work begins, t4 stopped"),
    ("work submit stop done", "work begins, t4 stopped, work ends, t4 over: p, t4 ended"),
    ("apart submit stop", "work begins, t4 stopped, t4 over: p, t4 ended"),
    ("apart submit stop done submit", "work begins, t4 stopped, t4 over: p, t4 ended, work ends, t5: p"),
    ("apart submit stop submit", "work begins, t4 stopped, t4 over: p, t4 ended"),
    ("apart submit submit done", "work begins, t4 redirected, t4 over: p, t4 ended, work ends, t5: p"),
    ("apart submit", "work begins"),
]  # fmt: skip


async def test_what_a_turn_left_in_circles_is_collected_when_it_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "gc", gc)
    order = Order()
    order.submit("p")
    await calm()
    circle = Run("circle", "", [])
    circle.__dict__["itself"], left = circle, weakref.ref(circle)
    del circle
    order.runs[-1].end.set()
    gc.disable()
    try:
        await calm()
        assert left() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(("steps", "log"), ORDERS, ids=[row[0] for row in ORDERS])
async def test_turns_run_one_after_the_other(steps: str, log: str) -> None:
    order, work = Order(), asyncio.Event()
    for together in steps.split():
        for step in together.split("+"):
            STEPS[step](order, work)
        await calm()
    assert order.log == log.split(", ")
    work.set()
    for run in order.runs:
        run.end.set()
    async with asyncio.timeout(20):
        await order.close()


PROMPTS = ("submit", "queue", "unqueue", "stop", "end")


@pytest.mark.parametrize("first", PROMPTS)
async def test_what_waits_is_told_right_in_every_order(first: str) -> None:
    for rest in product(PROMPTS, repeat=3):
        order, waiting, told = Order(), WaitingPrompts(), 0
        given: list[str] = []
        taken: list[str] = []
        for number, step in enumerate((first, *rest)):
            match step:
                case "submit" | "queue":
                    given.append(f"{step} {number}")
                    getattr(order, step)(given[-1])
                case "unqueue":
                    taken += order.unqueue(None if number % 2 else 1)
                case "stop":
                    order.interrupt()
                case _ if order.runs:
                    order.runs[-1].end.set()
            await calm(4)
            for event in order.told[told:]:
                waiting.take(event)
            told = len(order.told)
            assert waiting.listed == list(enumerate(order.queued, 1)), (first, *rest)
        while order.running or order.queued:
            order.runs[-1].end.set()
            await calm(4)
        await order.settled()
        sent = [event.text for event in order.told if isinstance(event, PromptSubmitted)]
        assert sorted([*sent, *taken]) == sorted(given), "a prompt was lost or sent twice"
        queued = [text for text in sent if text.startswith("queue")]
        assert queued == sorted(queued), "the queue lost its order"


async def test_what_is_told_of_prompts() -> None:
    order = Order()
    order.submit("a", typed="A")
    order.queue("b")
    order.queue("c")
    assert (bool(order.running), bool(order.busy)) == (True, True) and order.queued == ("b", "c")
    order.submit("d")
    assert order.unqueue(1) == ["b"] and order.unqueue(2) == []
    await calm()
    assert order.told == [
        PromptSubmitted("t4", "a", "prompt", waiting=0, typed="A"),
        PromptQueued("b", 1),
        PromptQueued("c", 2),
        PromptSubmitted("t5", "d", "redirect", waiting=2),
        PromptsUnqueued(("b",), waiting=1, number=1),
    ]
    assert order.answer("t5", SimpleNamespace()) and not order.answer("t4", SimpleNamespace())  # type: ignore[arg-type] # The run takes any.
    order.interrupt()
    assert (bool(order.running), bool(order.busy)) == (False, True)
    await order.close()
    assert not list(order.queued) and len(order.runs) == 2, "what is queued is dropped"
    await order.settled()


async def test_nothing_settles_before_the_last_turn_has() -> None:
    order = Order()
    await order.settled()
    assert not order.answer("t4", SimpleNamespace())  # type: ignore[arg-type] # There is none to take it.
    order.submit("a")
    order.queue("b")
    settled = asyncio.create_task(order.settled())
    await calm()
    order.runs[0].end.set()
    await calm()
    assert not settled.done() and [run.prompt for run in order.runs] == ["a", "b"]
    order.runs[1].end.set()
    await settled


@pytest.mark.parametrize("stopped", [False, True])
async def test_the_first_turn_waits_for_the_tools_unless_it_is_stopped(stopped: bool) -> None:
    order, started = Order(), asyncio.Event()
    tools = asyncio.create_task(_until(started))
    order.expect_tools(tools)
    order.submit("a")
    await calm()
    assert order.log == [] and [event for event in order.told if isinstance(event, Notice)]
    if stopped:
        order.interrupt()
    else:
        started.set()
    await calm()
    assert order.log[-1 if not stopped else 1] == ("t4 over: a" if stopped else "t4: a")
    order.submit("b")
    await calm()
    assert order.log[-1] == "t5: b", "only the first waits"
    order.runs[-1].end.set()
    await order.close()
    started.set()
    await tools


async def _until(event: asyncio.Event) -> None:
    await event.wait()


async def test_a_turn_may_be_run_by_something_else() -> None:
    order = Order()

    def make(name: str, text: str) -> Run:
        return Run(name, f"race of {text}", order.log)

    order.submit("a", make)
    await calm()
    order.submit("b")
    await calm()
    assert order.log == ["t4: race of a", "t4 redirected", "t4 ended", "t5: b"]
    order.runs[-1].end.set()
    await order.close()
