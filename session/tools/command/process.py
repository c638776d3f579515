"""Runs a program in a process group of its own, with a time limit, and stops it as a whole.

The group is a session of its own without a terminal. When its leader ends, the other processes are ended as
well. A stop sends SIGTERM to all of them, and SIGKILL a moment later to those that are left.

A program may start sessions of its own, which signals to the group do not reach. On Linux it can run under a
supervisor (``supervisor.py``), which ends those as well, even when spark itself is killed.

Signals to whole process groups. Those that still run when spark ends are killed.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from session.base.tasks import over

RUNNING: set[int] = set()
"""The groups that must not outlive spark, by the id of their first process."""


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a group; does nothing where none is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


@atexit.register
def _end_all() -> None:
    for group in RUNNING:
        signal_group(group, signal.SIGKILL)


GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
_REST_GRACE = 0.1
"""The same for processes that outlive the leader; dead ones count until they are reaped."""
_LINGER = 0.2
"""Seconds to wait for output after the leader has ended: another process may hold the pipe open."""
_LOOK = 0.01
_CHUNK = 65_536
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_SUPERVISED_GRACE = 5.0
"""Extra seconds for a supervisor: it ends by itself, and killing it would leave its processes running."""


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a program: its exit code, negative for a signal. ``cut``: its reader stopped it."""

    code: int
    timed_out: bool = False
    cut: bool = False


async def run_group(
    command: Sequence[str],
    *,
    folder: Path,
    environ: Mapping[str, str],
    seconds: float,
    take: Callable[[bytes], bool],
    stdin: IO[bytes] | None = None,
    errors: IO[bytes] | None = None,
    grace: float = GRACE,
    supervised: bool = False,
) -> Exit:
    """Run ``command`` in ``folder`` until it ends, ``seconds`` are over, ``take`` stops it, or the task is
    cancelled. ``take`` gets the output piece by piece and returns whether it wants more.

    Standard input is empty unless given; standard error joins the output unless ``errors`` is given. When
    this returns or raises, however often it is cancelled, no process of the group is left; with
    ``supervised``, where the system supports it, no descendant at all. Raises OSError if the command cannot
    be started.
    """
    kind = _Supervised if supervised and can_supervise() else _Group
    group = kind(command, folder, environ, take, stdin, errors, grace)
    timed_out = False
    try:
        async with asyncio.timeout(seconds):
            await group.ended()
    except TimeoutError:
        timed_out = True
    finally:
        ending = asyncio.ensure_future(group.end())
        cancelled = await over(ending)
        ending.result()
        if cancelled:
            raise asyncio.CancelledError
    return Exit(group.code, timed_out, group.cut)


def can_supervise() -> bool:
    """Whether a supervisor can run here: it needs Linux, ``/proc`` and a Python interpreter."""
    there = Path("/proc/self/stat").exists() and _SUPERVISOR.is_file()
    return sys.platform == "linux" and bool(sys.executable) and there


class _Group:
    """A running group, and the reader of its output on the running event loop."""

    def __init__(
        self,
        command: Sequence[str],
        folder: Path,
        environ: Mapping[str, str],
        take: Callable[[bytes], bool],
        stdin: IO[bytes] | None,
        errors: IO[bytes] | None,
        grace: float,
    ) -> None:
        self._grace = grace
        self._loop = asyncio.get_running_loop()
        self._take = take
        self.cut = False
        self._process = self._start(
            command,
            cwd=folder,
            env=dict(environ),
            stdin=stdin if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors if errors is not None else subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        self._exited = self._loop.create_future()
        self._closed = self._loop.create_future()
        assert self._process.stdout is not None
        self._output = self._process.stdout
        os.set_blocking(self._output.fileno(), False)
        self._loop.add_reader(self._output.fileno(), self._read)
        threading.Thread(target=self._wait, name="wait for a tool", daemon=True).start()

    def _start(self, command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, **how)
        RUNNING.add(process.pid)
        return process

    @property
    def code(self) -> int:
        code = self._process.returncode
        return code if code is not None else -signal.SIGKILL

    async def ended(self) -> None:
        """Wait until the leader has ended and its output is read, or the reader has stopped it."""
        await asyncio.wait({self._exited, self._closed}, return_when=asyncio.FIRST_COMPLETED)
        if self.cut:
            return
        # A program may close its output long before it ends, or leave it open in a child.
        await asyncio.wait({self._exited})
        await asyncio.wait({self._closed}, timeout=_LINGER)

    async def end(self) -> None:
        """End all processes of the group and reap the leader."""
        try:
            signal_group(self._process.pid, signal.SIGTERM)
            await self._patience()
        finally:
            signal_group(self._process.pid, signal.SIGKILL)
            RUNNING.discard(self._process.pid)
        await self._reap()

    async def _reap(self) -> None:
        """Wait for the leader, which is about to end, and read no more."""
        await asyncio.wait({self._exited})
        self._stop_reading()
        self._output.close()

    async def _patience(self) -> None:
        """Wait for the leader, then a little longer for processes that outlive it."""
        await asyncio.wait({self._exited}, timeout=self._grace)
        for _ in range(round(min(self._grace, _REST_GRACE) / _LOOK)):
            try:
                os.killpg(self._process.pid, 0)
            except OSError:
                break
            await asyncio.sleep(_LOOK)

    def _read(self) -> None:
        try:
            piece = os.read(self._output.fileno(), _CHUNK)
        except BlockingIOError:
            return
        except OSError:
            piece = b""
        if not piece:
            self._stop_reading()
        elif not self.cut and not self._take(piece):
            self.cut = True
            self._stop_reading()

    def _stop_reading(self) -> None:
        if not self._closed.done():
            self._closed.set_result(None)
            self._loop.remove_reader(self._output.fileno())

    def _wait(self) -> None:
        self._process.wait()
        with contextlib.suppress(RuntimeError):  # the loop is closed and nobody waits
            self._loop.call_soon_threadsafe(self._reaped)

    def _reaped(self) -> None:
        if not self._exited.done():
            self._exited.set_result(None)


class _Supervised(_Group):
    """A group whose leader is the supervisor, which ends all descendants of the program and then itself."""

    def _start(self, command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
        control, self._control = os.pipe()
        line = [sys.executable, "-I", "-S", str(_SUPERVISOR), str(control), str(self._grace), *command]
        try:
            return subprocess.Popen(line, **how, pass_fds=(control,))
        except OSError:
            os.close(self._control)
            raise
        finally:
            os.close(control)

    async def end(self) -> None:
        """End all descendants, which the supervisor does, and reap it."""
        os.close(self._control)
        await asyncio.wait({self._exited}, timeout=self._grace + _SUPERVISED_GRACE)
        if not self._exited.done():
            signal_group(self._process.pid, signal.SIGKILL)
        await self._reap()
