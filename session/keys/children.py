"""Short helper processes that give a key: no terminal, no input but what is given, a time limit.

What such a process prints is a secret: it is in no message, repr or log of ours.
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
"""What a pipe holds. A process that prints more waits for a reader until its time is over."""


class ChildError(Exception):
    """The process could not be run to its end; the message says why, as the end of a sentence."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that ended by itself: its exit code, and what it wrote to standard output."""

    code: int
    output: bytes = field(repr=False)


async def run_child(arguments: Sequence[str], *, seconds: float, given: bytes = b"") -> Ended:
    """Run a program without a shell, ``given`` on its standard input, and wait for at most ``seconds``.

    It has no terminal to ask on, and starts in the home folder: what the project holds is not on its
    way. When its time is over, or the caller is cancelled, it is killed with all that it started.
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
