"""Runs a command's event loop, and ends the process although a task or a thread of it never ends.

``asyncio.run`` waits for every task and every worker thread, without a limit, and Python for every thread.

It keeps little freed memory too: the C library would keep a pool for each thread, and large pieces in it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, NoReturn, TypeVar

from session.base.closing import LONGEST, Limit

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3
"""``M_ARENA_MAX`` of glibc's mallopt(3): the most pools of free memory, eight for each core otherwise. And
``M_MMAP_THRESHOLD``: from how many bytes on a piece is taken from the system alone."""
LARGE = 128 * 1024
"""Bytes of a piece that goes back to the system as soon as it is freed. That is what glibc begins with, but
after each larger piece that is freed it would take that size, up to 32 MB."""


def keep_little_freed_memory() -> None:
    """Let threads that start from now on share one pool, and large pieces that are freed go back to the
    system, if the C library is able to (glibc is).

    Threads that work in turns, as Python's do, gain little from a pool each, and what one of them has freed
    is of no use to another then. A thread that was started before keeps its pool, so this comes first. Of
    large pieces some are taken at once where an answer of a megabyte is sent again after a cut: kept in the
    pool, small ones soon lie between them.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    try:
        library = ctypes.CDLL(None)
        library.mallopt(_ARENA_MAX, 1)
        library.mallopt(_MMAP_THRESHOLD, LARGE)
    except (AttributeError, OSError):
        # Other C libraries lack this function.
        return


T = TypeVar("T")
PROMPTLY = 0.5
"""Seconds that tasks and worker threads have to end once the user has left the screen."""

_OF_THREADS = ("threading", "concurrent.futures.thread")
"""The modules whose functions only run or wait for the work of a thread."""


def run(work: Coroutine[Any, Any, T], patience: float = LONGEST) -> T:
    """Run ``work`` as ``asyncio.run`` does, but leave behind what does not end within ``patience`` seconds
    after it."""
    keep_little_freed_memory()  # before any thread is started
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
    return await limit.wait(loop.shutdown_default_executor(), _worker_threads)


def _worker_threads() -> str:
    """The worker threads, each by the function it was given and the one it is in."""
    frames = sys._current_frames()
    named = [each.ident for each in threading.enumerate() if each.name.startswith("asyncio_")]
    at_work = [_names(frames[ident]) for ident in named if ident in frames]
    return f"worker threads ({', '.join(filter(None, at_work))})"


def _names(frame: FrameType | None) -> str:
    """The outermost and the innermost function of a worker thread; empty where it has nothing to do."""
    names: list[str] = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module not in _OF_THREADS:
            names.append(f"{module}.{frame.f_code.co_name}")
        frame = frame.f_back
    return " in ".join(dict.fromkeys([*names[:1], *names[-1:]]))


def end(code: int) -> NoReturn:
    """End the process without taking down the interpreter: that waits for threads that were left behind, and
    takes longer than all the rest of quitting."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(code)
