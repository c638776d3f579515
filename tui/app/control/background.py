"""Runs the app's background tasks, and is the one place that sees how they fail."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from session.base.storage.error_log import log_file


class BackgroundTasks:
    """Tasks that run beside the screen. One that raises is told in a line and logged; the app goes on."""

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        """``tell`` shows a line to the user, with its level as of a notice."""
        self._tell = tell
        self._tasks: set[asyncio.Task[None]] = set()
        self._over = False

    def start(
        self,
        work: Coroutine[Any, Any, None],
        name: str,
        *,
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Run ``work``; ``name`` says what it does, as in "saving the file". ``failed`` is for work that the
        app cannot do without: it gets the line that is told otherwise. Nothing is started after
        :meth:`stop`."""
        if self._over:
            work.close()
            return
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._done(task, failed))

    def restart(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Run ``work`` in place of the task with the same name, which is cancelled."""
        self.cancel(name)
        self.start(work, name)

    def cancel(self, name: str) -> None:
        """Cancel the tasks with this name."""
        for task in self._tasks:
            if task.get_name() == name:
                task.cancel()

    def stop(self) -> None:
        """The screen goes away: start nothing any more, and cancel every task but the one that calls."""
        self._over = True
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()

    async def close(self) -> None:
        """Cancel every task, and wait for their ends."""
        tasks = set(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    @contextmanager
    def guarding(self, name: str) -> Iterator[None]:
        """Tell and log what is raised inside, and go on."""
        try:
            yield
        except Exception as problem:  # noqa: BLE001 (a fault of any kind is told and logged)
            self._tell(fault(name, problem), "error")

    def _done(self, task: asyncio.Task[None], failed: Callable[[str], None] | None) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        problem = task.exception()
        if problem is None:
            return
        line = fault(task.get_name(), problem)
        if failed is not None:
            failed(line)
        else:
            self._tell(line, "error")


def fault(doing: str, problem: BaseException) -> str:
    """Log a fault of the program with its traceback, and return the line that tells it to the user."""
    # Imported here: it brings the session's events along, which the first frame does not wait for.
    from session.base.tasks import fault_line, log_fault

    log_fault(doing, problem)
    file = log_file()
    return fault_line(doing, problem) + (f"; details are in {file}" if file is not None else "")
