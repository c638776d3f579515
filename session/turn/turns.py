"""Runs the turns of a session one after the other: prompts, redirects, and queued prompts."""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Protocol

from session.base.events import (
    Event,
    HunkDropped,
    HunkHeld,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    Notice,
    PromptQueued,
    PromptSubmitted,
    PromptsUnqueued,
    TurnEnded,
)
from session.base.tasks import BackgroundTasks
from session.turn.hunk_life import Answer
from session.turn.turn import Turn


class RunsTurn(Protocol):
    """What runs one turn: a :class:`session.turn.runner.Runner`, or a race of attempts."""

    turn: Turn
    prompt: str

    async def run(self) -> None:
        """Run the turn to its end; returns when its last event has been sent."""
        ...

    def interrupt(self, *, redirected: bool = False) -> None:
        """Stop at once; ``redirected`` says that another turn follows."""
        ...

    def answer(self, held: str, answer: Answer) -> bool:
        """Allow or decline a held hunk or tool call. False when it is not held (any more)."""
        ...


MakeRunner = Callable[[str, str], RunsTurn]
"""Makes what runs a turn, from its name and its prompt."""


class MakesTurns(Protocol):
    """What the turns are made by: a :class:`session.turn.turn_maker.TurnMaker`."""

    def choose(self, text: str, *, redirect: bool) -> None:
        """Choose the model for a prompt, and set up the connection for it."""
        ...

    def set_up_connection(self) -> None:
        """Set up the connection for the present choice. No answer is streaming on it."""
        ...

    def runner(self, name: str, prompt: str) -> RunsTurn:
        """What runs the turn ``name``."""
        ...

    def as_chosen_now(self, runner: RunsTurn) -> RunsTurn:
        """``runner``, or one made anew where the model or the tools changed while it waited for its turn."""
        ...


class Turns:
    """Runs one turn at a time. All methods are called on the event loop."""

    def __init__(
        self, maker: MakesTurns, publish: Callable[[Event], None], tasks: BackgroundTasks, ended: int
    ) -> None:
        """``ended`` is the number of a resumed session's last turn."""
        self._maker = maker
        self._publish = publish
        self._tasks = tasks
        self._number = ended
        self._runner: RunsTurn | None = None
        self._last: asyncio.Task[Any] | None = None
        """The last turn, or the last work between turns. The next turn waits for it."""
        self._queued: deque[str] = deque()
        self._coming_tools: asyncio.Task[None] | None = None
        self._interrupted: asyncio.Future[None] | None = None
        self._apart: asyncio.Task[Any] | None = None
        """The work between turns that an interrupted turn need not wait for."""

    @property
    def running(self) -> bool:
        """Whether a turn runs."""
        return self._runner is not None and not self._runner.turn.over

    @property
    def busy(self) -> bool:
        """Whether a turn runs or is queued."""
        return self.running or bool(self._queued)

    async def settled(self) -> None:
        """Wait until no turn runs, and none is queued."""
        while (last := self._last) is not None and not last.done():
            await asyncio.wait({last})

    def submit(self, text: str, make: MakeRunner | None = None, *, typed: str | None = None) -> None:
        """Begin a turn, which ``make`` runs if given. If another runs, this is a redirect: that turn is
        interrupted, and this one begins once it has wholly ended. ``typed`` is what of ``text`` the user
        typed, where that is not all of it."""
        redirect = self.running
        self._interrupt(redirected=redirect)
        self._number += 1
        name = f"t{self._number}"
        kind = "redirect" if redirect else "prompt"
        self._publish(PromptSubmitted(name, text, kind, waiting=len(self._queued), typed=typed))
        self._maker.choose(text, redirect=redirect)
        runner = (make or self._maker.runner)(name, text)
        before, self._runner = self._last, runner
        self._last = self._tasks.start(self._run(self._runner, before), f"running turn {name}")

    def queue(self, text: str) -> None:
        """Submit a prompt after the running turn and those queued before it; at once when there are none."""
        if not self.running and not self._queued:
            self.submit(text)
            return
        self._queued.append(text)
        self._publish(PromptQueued(text=text, waiting=len(self._queued)))

    @property
    def queued(self) -> tuple[str, ...]:
        """The prompts that wait for the running turn to end, oldest first."""
        return tuple(self._queued)

    def unqueue(self, number: int | None = None) -> list[str]:
        """Take back the queued prompt with this number, from 1, or without one all of them, oldest first:
        they are not sent."""
        if number is None:
            texts = list(self._queued)
            self._queued.clear()
        elif 1 <= number <= len(self._queued):
            texts = [self._queued[number - 1]]
            del self._queued[number - 1]
        else:
            texts = []
        if texts:
            self._publish(PromptsUnqueued(tuple(texts), waiting=len(self._queued), number=number))
        return texts

    def interrupt(self) -> None:
        """Stop the running turn: when this returns nothing more of it lands. No-op without one."""
        self._interrupt(redirected=False)

    def _interrupt(self, *, redirected: bool) -> None:
        if self._runner is not None:
            self._runner.interrupt(redirected=redirected)
        if self._interrupted is not None and not self._interrupted.done():
            self._interrupted.set_result(None)

    def answer(self, held: str, answer: Answer) -> bool:
        """Allow or decline a held hunk or tool call. False when it is not held (any more), or is a hunk that
        is not whole yet and cannot be edited."""
        return self._runner is not None and self._runner.answer(held, answer)

    def between(self, work: Callable[[], Awaitable[str]], *, of_session: bool = True) -> Awaitable[str]:
        """Do ``work`` once the last turn has wholly ended, and return its line for the user. Turns submitted
        after this call wait for it. One that is interrupted ends at once where the work is not
        ``of_session``: then it changes nothing that a turn changes too."""
        doing = asyncio.create_task(
            self._after(self._last, work, of_session=of_session), name="between turns"
        )
        self._last = doing
        return asyncio.shield(doing)

    async def _after(
        self, before: asyncio.Task[Any] | None, work: Callable[[], Awaitable[str]], *, of_session: bool
    ) -> str:
        if before is not None:
            await asyncio.wait({before})
        self._apart = None if of_session else asyncio.current_task()
        return await work()

    def expect_tools(self, coming: asyncio.Task[None] | None) -> None:
        """Have the first turn wait until ``coming`` is done, if there is something to wait for."""
        self._coming_tools = coming

    def choice_changed(self) -> None:
        """Use the present choice of model and tools for the next requests. A running turn keeps its own."""
        if not self.running:
            self._maker.set_up_connection()

    async def close(self) -> None:
        """Drop the queue, interrupt the running turn, and wait until it has ended."""
        self._queued.clear()
        self.interrupt()
        if self._last is not None:
            await asyncio.wait({self._last})

    async def _wait_for_tools(self, runner: RunsTurn) -> None:
        """The first turn waits for the tools that are still being started; an interrupt ends the wait."""
        tools, self._coming_tools = self._coming_tools, None
        if tools is None or tools.done() or runner.turn.over:
            return
        self._publish(Notice(level="info", text="waiting for the tools of the MCP servers"))
        await self._until(tools)

    async def _until(self, doing: asyncio.Task[Any]) -> None:
        """Return once ``doing`` is done, or the turn in hand is interrupted."""
        self._interrupted = asyncio.get_running_loop().create_future()
        await asyncio.wait({doing, self._interrupted}, return_when=asyncio.FIRST_COMPLETED)

    async def _run(self, runner: RunsTurn, before: asyncio.Task[Any] | None) -> None:
        """Run one turn once the one before has wholly ended; then submit the next queued prompt."""
        if before is not None:
            if not runner.turn.over:
                await self._until(before)
            if before is not self._apart:
                await asyncio.wait({before})
        await self._wait_for_tools(runner)
        if runner is self._runner and not runner.turn.over:
            runner = self._runner = self._maker.as_chosen_now(runner)
        await runner.run()
        if before is not None:
            await asyncio.wait({before})  # the next turn waits for this one alone
        gc.collect()
        if self._queued and self._runner is runner:
            self.submit(self._queued.popleft())


class AfterHunk:
    """A prompt that redirects the turn as soon as the hunk that is being typed has ended.

    States: nothing waits; a prompt waits for one hunk. What ends the hunk (it landed, was refused or held)
    sends the prompt; of one that was cut off, the end of the next. A turn that ends by itself sends it too.
    Another prompt that is sent meanwhile has overtaken it: then it waits for the next turn.
    All methods are called on the event loop.
    """

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
