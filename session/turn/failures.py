"""Says why a turn failed: a line for the user and a code for programs.

The background tasks of one turn's lane have one place that sees how each of them ends.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple, TypeVar

from session.base.tasks import fault_line, log_fault
from session.base.text.sanitize import clean_line
from session.project.edit_thread import EditThread
from session.wire.protocol.events import Finished
from session.wire.transport.errors import LinkError

_NO_TOOLS = re.compile(
    r"(?:not|n't|that) support (?:tool|function)|tools? param(?:eter)? requires", re.IGNORECASE
)
"""Matches the errors of servers whose model cannot call functions (Ollama, llama.cpp, OpenRouter)."""

INTERNAL = "internal"
"""The code of a fault in spark itself."""


class Failure(NamedTuple):
    """Why a turn failed: a line for the user, and a code for programs."""

    message: str
    code: str


class TurnFailedError(Exception):
    """The turn cannot go on; the message is for the user, ``code`` for programs."""

    def __init__(self, message: str, code: str) -> None:
        super().__init__(message)
        self.code = code


def unfinished(finished: Finished) -> Failure:
    """The reason why an answer ended before it was complete."""
    reason = clean_line(finished.reason or "")
    if "max_output_tokens" in reason:
        message = "the model reached its limit of output tokens; ask it to continue"
        return Failure(message, "max_output_tokens")
    if finished.status == "incomplete":
        message = f"the model stopped before the end of its answer ({reason or 'no reason given'})"
        return Failure(message, "incomplete")
    return Failure(reason or "the server reported that the answer failed", "server")


def explain(problem: BaseException) -> Failure:
    """The failure that ``problem`` means for the turn it ended."""
    if isinstance(problem, LinkError):
        message = clean_line(problem.message)
        if _NO_TOOLS.search(message):
            message += ' Set tools = false for it in config.toml, as in [models."NAME"].'
        return Failure(message, problem.kind.value)
    if isinstance(problem, TurnFailedError):
        return Failure(str(problem), problem.code)
    return Failure(fault_line("running the turn", problem), INTERNAL)


T = TypeVar("T")

_DOING = "landing edits"


class LaneTasks:
    """Runs a lane's tasks on the event loop, and its file work in the edit thread.

    ``fault`` is done once a task has raised; its result is the first exception. Every exception is logged
    with its traceback. Make and use it on the running event loop.
    """

    def __init__(self, thread: EditThread) -> None:
        self._thread = thread
        self._tasks: set[asyncio.Task[None]] = set()
        self.fault: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    def start(self, work: Coroutine[None, None, None]) -> None:
        """Run ``work`` in the background."""
        task = asyncio.create_task(work, name=_DOING)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    async def in_edit_thread(self, work: Callable[[], T]) -> T:
        """Do ``work`` in the edit thread, after what was given to it before, and return its result."""
        return await self._thread.run(work)

    async def watch(self, task: asyncio.Task[None]) -> None:
        """Wait until ``task`` has ended. If a background task raises first, ``task`` is cancelled.

        Raises TurnFailedError if a background task has raised.
        """
        ends: set[asyncio.Future[Any]] = {task, self.fault}
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        if self.fault.done():
            task.cancel()
            await asyncio.wait({task})
        self.check()

    def check(self) -> None:
        """Raise TurnFailedError if a background task has raised anything."""
        if self.fault.done():
            problem = self.fault.result()
            raise TurnFailedError(fault_line(_DOING, problem), INTERNAL) from problem

    async def settled(self) -> None:
        """Wait until no task is left."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (problem := task.exception()) is None:
            return
        log_fault(_DOING, problem)
        if not self.fault.done():
            self.fault.set_result(problem)
