"""A program that runs a command as its child, and when the command ends, ends all its descendants.

    python -I -S supervisor.py CONTROL GRACE COMMAND [ARGUMENT …]

On Linux it makes itself the reaper of its descendants (``PR_SET_CHILD_SUBREAPER``, prctl(2)): a process
that loses its parent becomes its child, even in another session. When the command ends, SIGTERM arrives, or
the pipe on the descriptor ``CONTROL`` closes because the caller closed it or was killed, every descendant
gets SIGTERM and, ``GRACE`` seconds later, SIGKILL. Then it exits with the command's exit code or signal. It
imports nothing of spark, so it starts in a few milliseconds and cannot disturb spark's other children.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import select
import signal
import sys
import time

TYPE_CHECKING = False  # that of typing, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
REST_GRACE = 0.1
"""Seconds from SIGTERM to SIGKILL for processes that outlive the command, if GRACE is not less."""
_MOST = 3.0
"""Seconds after which a process that cannot be killed, such as another user's, is given up."""
_LOOK = 0.005
NOT_STARTED = 127


def main(control: int, grace: float, command: list[str]) -> int:
    """Run ``command`` and return its status as ``waitpid`` does."""
    prctl = ctypes.CDLL(None).prctl
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    reading, writing = os.pipe()
    for end in (reading, writing):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: stopped.append(number))
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    child = os.fork()
    if child == 0:
        _become(command, prctl)
    _let_go_of_output()
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    poll.register(control, select.POLLHUP)
    while (status := _reap().get(child)) is None and not stopped:
        if any(ready == control for ready, _ in poll.poll()):
            break
        _drain(reading)
    ended = _end_all(min(grace, REST_GRACE) if status is not None else grace)
    return ended.get(child, signal.SIGKILL) if status is None else status


def _become(command: list[str], prctl: Callable[..., int]) -> None:
    """In the child: become the command, in a session of its own that dies with the supervisor."""
    try:
        os.setsid()
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these
            signal.signal(number, signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as problem:
        os.write(2, f"{command[0]}: {problem.strerror}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _let_go_of_output() -> None:
    """Close our ends of the output, so that its reader sees the end when the command closes its own."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)


def _drain(reading: int) -> None:
    with contextlib.suppress(BlockingIOError):
        os.read(reading, 4_096)


def _reap() -> dict[int, int]:
    """The status of each child that has ended."""
    ended = {}
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            ended[found[0]] = found[1]
    except ChildProcessError:
        pass
    return ended


def _end_all(grace: float) -> dict[int, int]:
    """End every descendant, and return the status of the children."""
    ended: dict[int, int] = {}
    now = time.monotonic()
    kill_at, until = now + grace, now + grace + _MOST
    told: set[int] = set()
    while _has_children(ended) and (now := time.monotonic()) < until:
        for process in _descendants():
            if now >= kill_at:
                _signal(process, signal.SIGKILL)
            elif process not in told:
                told.add(process)
                _signal(process, signal.SIGTERM)
                _signal(process, signal.SIGCONT)  # a stopped process receives no SIGTERM
        time.sleep(_LOOK)
    return ended


def _has_children(ended: dict[int, int]) -> bool:
    """Whether any child is left; adds the others to ``ended``."""
    ended |= _reap()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _signal(process: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(process, number)


def _descendants() -> list[int]:
    """All running descendants of this process."""
    children: dict[int, list[int]] = {}
    with os.scandir("/proc") as entries:
        processes = [int(entry.name) for entry in entries if entry.name.isdigit()]
    for process in processes:
        state, parent = _stat(process)
        if state not in (b"", b"Z", b"X"):
            children.setdefault(parent, []).append(process)
    found, look = [], [os.getpid()]
    while look:
        more = children.get(look.pop(), [])
        found += more
        look += more
    return found


def _stat(process: int) -> tuple[bytes, int]:
    """The state and the parent of a process (proc_pid_stat(5)); the state is empty if it is gone."""
    try:
        file = os.open(f"/proc/{process}/stat", os.O_RDONLY)
    except OSError:
        return b"", 0
    try:
        fields = os.read(file, 4_096).rpartition(b") ")[2].split(b" ", 2)
    except OSError:
        return b"", 0
    finally:
        os.close(file)
    return (fields[0], int(fields[1])) if len(fields) == 3 else (b"", 0)


def _end_as(status: int) -> None:
    """Exit with the command's exit code or signal."""
    if os.WIFSIGNALED(status):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    _end_as(main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:]))
