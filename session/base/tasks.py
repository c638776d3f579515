"""Runs the background tasks of a session and of its link, and reports every one that fails."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import Any, TypeVar

from session.base.events import Event, Notice
from session.base.text.sanitize import clean_line

T = TypeVar("T")

_LOGGER = logging.getLogger("spark.session")
_LINK_LOGGER = logging.getLogger("spark.link")


def fault_line(doing: str, problem: BaseException) -> str:
    """One line for the user about an unexpected exception. ``doing`` names the work that failed, as in
    "reading the project"."""
    detail = clean_line(f"{type(problem).__name__}: {problem}".removesuffix(": "))
    return f"spark itself failed while {doing} ({detail})"


def log_fault(doing: str, problem: BaseException) -> None:
    """Write the exception with its traceback to the log."""
    _LOGGER.error("failed while %s", doing, exc_info=problem)


async def computed(work: Callable[..., T], *arguments: object) -> T:
    """What ``work`` returns, or raises, while the event loop goes on.

    It runs in a thread that the end of spark does not wait for, as it would for a worker thread: ``work``
    takes seconds on a busy machine, cannot be stopped, and leaves nothing half done.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(set_end: Callable[[Any], None], end: object) -> None:
        if not done.done():
            set_end(end)

    def run() -> None:
        set_end: Callable[[Any], None] = done.set_result
        end: object
        try:
            end = work(*arguments)
        except Exception as problem:  # noqa: BLE001 (raised again for who waits)
            set_end, end = done.set_exception, problem
        with contextlib.suppress(RuntimeError):  # the loop is closed and nobody waits
            loop.call_soon_threadsafe(tell, set_end, end)

    threading.Thread(target=run, name="computes", daemon=True).start()
    return await done


async def over(work: asyncio.Future[Any]) -> bool:
    """Wait until ``work`` has ended, however often the caller is cancelled meanwhile. Returns whether it was:
    CancelledError is to be raised then, once all is cleared up."""
    cancelled = False
    while not work.done():
        try:
            await asyncio.wait({work})
        except asyncio.CancelledError:
            cancelled = True
    return cancelled


async def imported(name: str) -> None:
    """Import a module while the event loop goes on. Raises what the import raises."""
    await computed(import_module, name)


class BackgroundTasks:
    """Runs the tasks of one session. A task that raises is logged and told to the user in one line; the
    session goes on without it.

    All methods are called on the event loop.
    """

    def __init__(self, publish: Callable[[Event], None]) -> None:
        self._publish = publish
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The event loop whose faults are told here."""
        self._handler: Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object] | None = None
        """The exception handler that the event loop had before."""
        self._closed = False

    def start(self, work: Coroutine[Any, Any, T], doing: str, *, consequence: str = "") -> asyncio.Task[T]:
        """Run ``work`` in the background. ``doing`` names it in the log and for the user, as in "reading the
        project"; ``consequence`` tells the user what its failure means for the session. Once the tasks are
        closed nothing begins: a timer may still be due then."""
        task = asyncio.create_task(work, name=doing)
        if self._closed:
            task.cancel()
        self._tasks.add(task)
        task.add_done_callback(lambda ended: self._ended(ended, doing, consequence))
        return task

    def watch_loop(self) -> None:
        """Report exceptions in callbacks, and those of tasks that nobody waited for, until :meth:`close`.

        Otherwise asyncio would write them to standard error.
        """
        self._loop = asyncio.get_running_loop()
        self._handler = self._loop.get_exception_handler()
        self._loop.set_exception_handler(self._loop_fault)

    async def close(self) -> None:
        """Cancel what still runs, and wait for it to end."""
        self._closed = True
        running = list(self._tasks)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        if self._loop is not None:
            self._loop.set_exception_handler(self._handler)
            self._loop = None

    def _loop_fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        if problem is None:
            _LOGGER.error("asyncio: %s", context["message"])
            return
        task = context.get("task") or context.get("future")
        doing = (
            f"running {task.get_name()}" if isinstance(task, asyncio.Task) else "working in the background"
        )
        # A task that is thrown away may be found by the garbage collector in any thread.
        with contextlib.suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(self._tell, doing, problem, "")

    def _ended(self, task: asyncio.Task[Any], doing: str, consequence: str) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (problem := task.exception()) is None:
            return
        self._tell(doing, problem, consequence)

    def _tell(self, doing: str, problem: BaseException, consequence: str) -> None:
        log_fault(doing, problem)
        line = fault_line(doing, problem)
        self._publish(Notice(level="error", text=f"{line}; {consequence}" if consequence else line))


class LinkTasks:
    """Runs the tasks of the link. Every exception that none of them expected is logged, and then given to
    ``fault`` with the name of what failed.

    All calls on the event loop.
    """

    def __init__(self, fault: Callable[[str, BaseException], None]) -> None:
        self._fault = fault
        self._tasks: set[asyncio.Task[Any]] = set()

    def run(
        self, work: Coroutine[Any, Any, T], name: str, then: Callable[[T], None] | None = None
    ) -> asyncio.Task[T]:
        """Start ``work``; ``then`` gets its result, unless it was cancelled or failed."""
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(lambda done: self._ended(done, then))
        return task

    def report(self, name: str, error: BaseException) -> None:
        """Log an unexpected ``error`` and hand it on."""
        _LINK_LOGGER.error("The task %r of the link failed", name, exc_info=error)
        self._fault(name, error)

    async def close(self) -> None:
        """Wait until no task runs."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _ended(self, task: asyncio.Task[T], then: Callable[[T], None] | None) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self.report(task.get_name(), error)
        elif then is not None:
            then(task.result())
