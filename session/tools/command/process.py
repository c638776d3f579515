"""A program in a process group of its own: bounded in time, and gone as a whole when it is stopped.

The group is its own session, without a terminal. It ends with its leader: what the leader left behind
is ended too. A stop sends SIGTERM to all of it, and SIGKILL to what is still there a moment later.

A program may begin sessions of its own, which no signal to the group reaches. On Linux it can be run under
a supervisor (``supervisor.py``), which ends those as well, also where spark itself is killed.
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

GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
_REST_GRACE = 0.1
"""The same for what the leader leaves behind: the dead count too, until somebody has reaped them."""
_LINGER = 0.2
"""Seconds that output is waited for once the leader has ended: something may hold its pipe open."""
_LOOK = 0.01
_CHUNK = 65_536
_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_SUPERVISED_GRACE = 5.0
"""Seconds more that a supervisor is given: it ends by itself, and killing it would let others live on."""
_LIVE: set[int] = set()
"""The groups that run now, for an exit that nobody foresaw."""


@atexit.register
def _end_all() -> None:
    for group in _LIVE:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Exit:
    """How a program ended: its exit code, negative for a signal. ``cut``: its reader had enough."""

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
    """Run ``command`` in ``folder`` until it ends, ``seconds`` are over, ``take`` has had enough (it is
    given the output piece by piece, and answers whether it wants more), or the task is cancelled.

    Standard input is empty unless given; standard error goes with the output unless ``errors`` takes it.
    When this returns or raises, no process of the group is left; of one that is ``supervised`` (where that
    can be had) nothing that came of it at all. Raises OSError when it cannot be started.
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
        await group.end()
    return Exit(group.code, timed_out, group.cut)


def can_supervise() -> bool:
    """Whether there is what a supervisor needs: Linux, its ``/proc``, and a Python to run it."""
    there = Path("/proc/self/stat").exists() and _SUPERVISOR.is_file()
    return sys.platform == "linux" and bool(sys.executable) and there


class _Group:
    """A running group and the reading of its output, on the running loop."""

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
        _LIVE.add(process.pid)
        return process

    @property
    def code(self) -> int:
        code = self._process.returncode
        return code if code is not None else -signal.SIGKILL

    async def ended(self) -> None:
        """Wait until the leader has ended and its output is read, or the reader has had enough."""
        await asyncio.wait({self._exited, self._closed}, return_when=asyncio.FIRST_COMPLETED)
        if self.cut:
            return
        # A program may close its output long before it ends; one that ended may have lent it out.
        await asyncio.wait({self._exited})
        await asyncio.wait({self._closed}, timeout=_LINGER)

    async def end(self) -> None:
        """Leave nothing of the group; its leader is reaped."""
        try:
            self._signal(signal.SIGTERM)
            await self._patience()
        finally:
            self._signal(signal.SIGKILL)
            _LIVE.discard(self._process.pid)
        await asyncio.wait({self._exited})
        self._stop_reading()
        self._output.close()

    async def _patience(self) -> None:
        """Give the leader its time, then what it leaves behind a little more."""
        await asyncio.wait({self._exited}, timeout=self._grace)
        for _ in range(round(min(self._grace, _REST_GRACE) / _LOOK)):
            try:
                os.killpg(self._process.pid, 0)
            except OSError:
                break
            await asyncio.sleep(_LOOK)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

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
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._reaped)

    def _reaped(self) -> None:
        if not self._exited.done():
            self._exited.set_result(None)


class _Supervised(_Group):
    """A group whose leader is the supervisor: told to end, it ends all that came of the program, and
    itself."""

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
        """Leave nothing of it; the supervisor is reaped. Nobody waits for it where this is cancelled: it
        ends all the same."""
        os.close(self._control)
        try:
            await asyncio.wait({self._exited}, timeout=self._grace + _SUPERVISED_GRACE)
            if not self._exited.done():
                self._signal(signal.SIGKILL)
                await asyncio.wait({self._exited})
        finally:
            self._stop_reading()
            self._output.close()
