"""Runs short helper programs that print a key: without a terminal, with a time limit.

Their output is a secret, so it appears in no message, repr or log.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

_MOST_BYTES = 65_536
"""The size of a pipe. A program that prints more blocks until its time limit."""


class ChildError(Exception):
    """The program did not run to its end; the message is the end of a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that ended by itself: its exit code and its standard output."""

    code: int
    output: bytes = field(repr=False)


async def run_child(arguments: Sequence[str], *, seconds: float, given: bytes = b"") -> Ended:
    """Run a program without a shell, with ``given`` as its standard input, for at most ``seconds``.

    It starts in the home folder, so that it finds nothing of the project, and has no terminal to ask on.
    When the time is over or the caller is cancelled, it is killed with everything it started.
    Raises ChildError.
    """
    ours, theirs = os.pipe()
    try:
        try:
            child = await asyncio.create_subprocess_exec(
                *arguments,
                stdin=asyncio.subprocess.PIPE if given else asyncio.subprocess.DEVNULL,
                stdout=theirs,
                stderr=asyncio.subprocess.DEVNULL,
                cwd=home if (home := Path.home()).is_dir() else "/",
                start_new_session=True,
            )
        except FileNotFoundError:
            raise ChildError("was not found") from None
        except (OSError, ValueError) as problem:
            said = problem.strerror if isinstance(problem, OSError) else "a null character in its name"
            raise ChildError(f"cannot be run: {said}") from None
        finally:
            os.close(theirs)
        try:
            async with asyncio.timeout(seconds):
                if child.stdin is not None:
                    child.stdin.write(given)
                    with contextlib.suppress(ConnectionError):
                        await child.stdin.drain()
                    child.stdin.close()
                code = await child.wait()
        except TimeoutError:
            raise ChildError(f"did not end within {seconds:g} s") from None
        finally:
            if child.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                await child.wait()
        os.set_blocking(ours, False)
        with contextlib.suppress(BlockingIOError):
            return Ended(code, os.read(ours, _MOST_BYTES))
        return Ended(code, b"")
    finally:
        os.close(ours)
