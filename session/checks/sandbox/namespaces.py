"""A program that runs a command inside a sandbox made of Linux namespaces.

    python -I -S namespaces.py PACKAGES PLAN COMMAND [ARGUMENT …]

``PACKAGES`` is the folder that holds spark's packages, and ``PLAN`` the file with what ``plan.py`` makes, in
the format of ``marshal``. Each command waits for this program to start, so it imports only what is built into
the interpreter: no ``json``, ``signal``, ``contextlib``, ``re`` or ``enum``.

Three processes take part. The *watch* enters new namespaces, starts the first process of the new PID
namespace, and ends it when a limit is passed or when standard input closes, which happens at the latest when
spark dies. The *first process* builds the file tree, starts the command and reaps; when it ends, the kernel
ends everything in the namespace. The *command* runs without capabilities, with an empty standard input.

The result goes to the file ``report`` in the sandbox's folder: a line with the end (``exit``, ``memory``,
``disk``, ``processes``, ``stopped`` or ``failed``), and then why.
"""

from __future__ import annotations

import marshal
import os
import resource
import select
import sys
import time

if __name__ == "__main__":
    sys.path.append(sys.argv[1])

from session.checks.sandbox import kernel, shared_memory, tree

TYPE_CHECKING = False  # that of typing, which is slow to import
if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # what the module signal is made of, without its enums

PLAN = "plan"
"""The file below the sandbox's folder that holds the plan."""
REPORT = "report"
"""The file below the sandbox's folder that the result is written to."""
LOOK_MS = 100
"""Milliseconds between two looks at the limits."""
LOOK_CLOSELY_SECONDS = 1.0
LOOK_CLOSELY_SHARE = 20
"""A close look is taken once in so many seconds, and in so many times what it takes."""
NOT_STARTED = 127
_PAGE = resource.getpagesize()
_CONTROL = 0
_STOPS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(plan: dict[str, Any], command: list[str]) -> int:
    """Run ``command`` and return its exit code, or 128 plus the number of the signal that ended it."""
    report = os.open(os.path.join(plan["box"], REPORT), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    box = os.open(plan["box"], os.O_RDONLY | os.O_DIRECTORY)
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        sockets, unplaced = tree.bound_sockets()
        _enter_namespaces(network=plan["network"])
        first = os.fork()
    except OSError as problem:
        return _ended(report, "failed", problem.strerror or str(problem), NOT_STARTED)
    if first == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
        _first_process(plan, command, sockets, report, unplaced=unplaced)
    return _watch(_Group(first, processes), plan["limits"], box, report)


def _enter_namespaces(*, network: bool) -> None:
    user, group = os.getuid(), os.getgid()
    flags = kernel.NEW_USER | kernel.NEW_MOUNTS | kernel.NEW_PIDS | kernel.NEW_IPC | kernel.NEW_UTS
    kernel.unshare(flags if network else flags | kernel.NEW_NETWORK)
    kernel.map_own_user(user, group)


def _first_process(
    plan: dict[str, Any], command: list[str], sockets: list[str], report: int, *, unplaced: bool
) -> None:
    """Build the tree, start the command and wait for it. Never returns."""
    try:
        kernel.die_with_parent(signal.SIGKILL)
        if not plan["network"]:
            kernel.raise_loopback()
        tree.build(plan, sockets, unplaced=unplaced)
        child = os.fork()
        if child == 0:
            _become(plan, command)
        kernel.close_to_others()
        while (ended := os.wait())[0] != child:
            pass
        os._exit(_code(ended[1]))
    except OSError as problem:
        _ended(report, "failed", problem.strerror or str(problem), NOT_STARTED)
    finally:
        os._exit(NOT_STARTED)


def _become(plan: dict[str, Any], command: list[str]) -> None:
    """In the child: give up every right and become the command."""
    try:
        os.setsid()
        _limit(plan["limits"])
        kernel.leave_keyring()
        kernel.drop_capabilities()
        if plan["filter"]:
            kernel.filter_calls(plan["filter"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores these
            signal.signal(number, signal.SIG_DFL)
        os.chdir(plan["project"])
        os.execvp(command[0], command)
    except OSError as problem:
        os.write(2, f"{command[0]}: {problem.strerror}\n".encode())
    finally:
        os._exit(NOT_STARTED)


def _limit(limits: dict[str, int]) -> None:
    for kind, most in ((resource.RLIMIT_FSIZE, limits["disk"]), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        if hard == resource.RLIM_INFINITY or hard > most:
            resource.setrlimit(kind, (most, most))


class _Group:
    """The processes of the sandbox: ``first`` and its descendants, seen in /proc as it is outside."""

    def __init__(self, first: int, processes: int) -> None:
        self.first = first
        self._processes = processes
        self._shared_before = shared_memory.on_machine(processes)
        self._looks = _Looks()

    def shared(self, enough: int) -> int:
        """The bytes that the processes share with each other; 0 where nothing says that it may be more than
        ``enough``.

        The machine's use of such memory says so at no cost. Others that give some back meanwhile hide that,
        so the processes are looked at now and then too."""
        now = shared_memory.on_machine(self._processes)
        self._shared_before = min(now, self._shared_before)  # what others gave back is not the sandbox's
        grown = now - self._shared_before
        sure = self._looks.is_due()
        if grown <= enough and not sure:
            return 0
        used = shared_memory.used(self._processes, self._members(), grown)
        if sure:
            self._looks.looked()
        return used

    def use(self) -> tuple[int, int]:
        """The bytes of memory that the processes do not share with files, and the number of processes."""
        members = self._members()
        memory = 0
        for member in members:
            with kernel.Suppressed(OSError, ValueError):
                _, resident, shared = self._read(f"{member}/statm").split()[:3]
                memory += (int(resident) - int(shared)) * _PAGE
        return memory, len(members)

    def _members(self) -> list[int]:
        children: dict[int, list[int]] = {}
        for name in os.listdir(self._processes):
            if name.isdigit():
                with kernel.Suppressed(OSError, ValueError, IndexError):
                    parent = int(self._read(f"{name}/stat").rpartition(b")")[2].split()[1])
                    children.setdefault(parent, []).append(int(name))
        found, look = [], [self.first]
        while look:
            member = look.pop()
            found.append(member)
            look += children.get(member, [])
        return found

    def _read(self, path: str) -> bytes:
        descriptor = os.open(path, os.O_RDONLY, dir_fd=self._processes)
        try:
            return os.read(descriptor, 4_096)
        finally:
            os.close(descriptor)


def _watch(group: _Group, limits: dict[str, int], box: int, report: int) -> int:
    """Wait for the first process; end it when a limit is passed or spark closes the control pipe."""
    # The watch ends only when all of them have: a first process is reaped after the rest of its namespace.
    for number in _STOPS:
        signal.signal(number, lambda *_: os.kill(group.first, signal.SIGKILL))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPS)
    poll = select.poll()
    process = os.pidfd_open(group.first)
    poll.register(process, select.POLLIN)
    poll.register(_CONTROL, select.POLLHUP)
    room = _Room(box)
    end, why = "exit", ""
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(LOOK_MS)]
        if process in ready:
            break
        end, why = ("stopped", "") if _CONTROL in ready else _passed(limits, group, box, room)
        if end != "exit":
            os.kill(group.first, signal.SIGKILL)
            break
    code = _code(os.waitpid(group.first, 0)[1])
    if os.fstat(report).st_size:
        return NOT_STARTED  # the first process has said why
    return _ended(report, end, why, code)


def _passed(limits: dict[str, int], group: _Group, box: int, room: _Room) -> tuple[str, str]:
    """Which limit is passed, if any."""
    memory, processes = group.use()
    if memory > limits["memory"] or group.shared(limits["memory"]) > limits["memory"]:
        return "memory", f"used more than {limits['memory'] >> 20:,} MB of memory"
    if processes > limits["processes"]:
        return "processes", f"started more than {limits['processes']:,} processes"
    taken, made = room.taken()
    sure = room.looks.is_due()
    if (sure or taken > limits["disk"]) and tree.size(box, limits["disk"]) > limits["disk"]:
        return "disk", f"wrote more than {limits['disk'] >> 20:,} MB"
    if (sure or made > limits["files"]) and tree.count(box, limits["files"]) > limits["files"]:
        return "disk", f"wrote more than {limits['files']:,} files"
    if sure:
        room.looks.looked()
    return "exit", ""


class _Room:
    """The room on the file system of ``folder``: bytes, and numbers of files.

    It says at no cost when a limit may be passed. Others that free room meanwhile hide that, so the folder is
    walked now and then too."""

    def __init__(self, folder: int) -> None:
        self._folder = folder
        self._bytes = self._files = 0
        self.looks = _Looks()
        self.taken()

    def taken(self) -> tuple[int, int]:
        """The bytes and files for which there is less room than there was at most."""
        status = os.fstatvfs(self._folder)
        free, files = status.f_bfree * status.f_frsize, status.f_ffree
        self._bytes, self._files = max(free, self._bytes), max(files, self._files)
        return self._bytes - free, self._files - files


class _Looks:
    """When to look closely although nothing asks for it: seldom, and the more seldom the longer it takes."""

    def __init__(self) -> None:
        self._due = time.monotonic() + LOOK_CLOSELY_SECONDS
        self._began = 0.0

    def is_due(self) -> bool:
        """Whether it is time for a close look; then :meth:`looked` follows."""
        self._began = time.monotonic()
        return self._began >= self._due

    def looked(self) -> None:
        """The close look has ended: the next time depends on how long it took."""
        ended = time.monotonic()
        self._due = ended + max(LOOK_CLOSELY_SECONDS, (ended - self._began) * LOOK_CLOSELY_SHARE)


def _code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _ended(report: int, end: str, why: str, code: int) -> int:
    os.write(report, f"{end}\n{why}".encode(errors="replace"))
    return code


if __name__ == "__main__":
    with open(sys.argv[2], "rb") as file:
        told = marshal.load(file)  # noqa: S302 - spark wrote it, and no command can
    sys.exit(main(told, sys.argv[3:]))
