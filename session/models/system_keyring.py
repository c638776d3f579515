"""The system's keyring (Secret Service, Keychain and others), through the package ``keyring`` if installed.

Each access is a short process with a time limit (``keyring_child.py``), because a keyring may wait for the
user and its libraries are slow to load. A keyring that is missing, locked or silent is not used.

Runs short helper programs that print a key: without a terminal, with a time limit.

Their output is a secret, so it appears in no message, repr or log.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from session.base.text.wording import install_command

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
    from session.base.programs import command_outside  # the first frame is drawn without `context`

    ours, theirs = os.pipe()
    try:
        try:
            child = await asyncio.create_subprocess_exec(
                *command_outside(arguments, Path.cwd()),
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


SERVICE = "spark"
"""The service under which keys are stored, with the provider as the user name."""
SECONDS = 5.0

_CHILD = Path(__file__).with_name("keyring_child.py")


class KeyringError(Exception):
    """No keyring can be used now; the message says why in a few words."""


def is_installed() -> bool:
    """Whether the package is installed; imports nothing."""
    return find_spec("keyring") is not None


async def look(*, seconds: float = SECONDS) -> str:
    """The name of the keyring that would be used. Raises KeyringError if there is none."""
    return str((await _ask("look", "", seconds=seconds))["backend"])


async def read(provider: str, *, seconds: float = SECONDS) -> str | None:
    """The key stored for ``provider``; None if there is none. Raises KeyringError."""
    secret = (await _ask("read", provider, seconds=seconds)).get("secret")
    return secret if isinstance(secret, str) else None


async def store(provider: str, secret: str, *, seconds: float = SECONDS) -> str:
    """Store ``secret`` and return the keyring's name. Raises KeyringError."""
    answer = await _ask("store", provider, given=secret.encode("utf-8"), seconds=seconds)
    if await read(provider, seconds=seconds) != secret:
        raise KeyringError("it does not give back what is stored in it")
    return str(answer["backend"])


async def erase(provider: str, *, seconds: float = SECONDS) -> bool:
    """Delete the key; false if there was none. Raises KeyringError."""
    return "erased" not in await _ask("erase", provider, seconds=seconds)


async def _ask(action: str, provider: str, *, seconds: float, given: bytes = b"") -> dict[str, Any]:
    if not is_installed():
        raise KeyringError(f"the package keyring is not installed ({install_command('keyring')})")
    command = [sys.executable, "-P", str(_CHILD), action, SERVICE, provider]
    try:
        ended = await run_child(command, seconds=seconds, given=given)
    except ChildError as problem:
        raise KeyringError(f"it {problem}") from None
    try:
        answer = json.loads(ended.output)
    except (ValueError, RecursionError):
        # The invalid output may contain the key.
        raise KeyringError(f"its process failed (exit code {ended.code})") from None
    if not isinstance(answer, dict) or "backend" not in answer:
        raise KeyringError(str(answer.get("why", "it failed")) if isinstance(answer, dict) else "it failed")
    return answer
