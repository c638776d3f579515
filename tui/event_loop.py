"""Runs a command's event loop, and ends the process although a task or a thread of it never ends.

``asyncio.run`` waits for every task and every worker thread, without a limit, and Python for every thread.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from session.closing import LONGEST, Limit

T = TypeVar("T")
PROMPTLY = 0.5
"""Seconds that tasks and worker threads have to end once the user has left the screen."""


def run(work: Coroutine[Any, Any, T], patience: float = LONGEST) -> T:
    """Run ``work`` as ``asyncio.run`` does, but leave behind what does not end within ``patience`` seconds
    after it."""
    runner = asyncio.Runner()
    try:
        return runner.run(work)
    finally:
        if runner.run(_settled(patience)):
            runner.close()


async def _settled(patience: float) -> bool:
    """End all tasks and worker threads; false if one is left behind."""
    loop, limit = asyncio.get_running_loop(), Limit(patience)
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    names = ", ".join(sorted(task.get_name() for task in tasks))
    if tasks and not await limit.wait(asyncio.wait(tasks), f"the tasks {names}"):
        return False
    await limit.wait(loop.shutdown_asyncgens(), "generators")
    return await limit.wait(loop.shutdown_default_executor(), "worker threads")


def end(code: int) -> NoReturn:
    """End the process without taking down the interpreter: that waits for threads that were left behind, and
    takes longer than all the rest of quitting."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code)
