"""The plan of a fence: what a command may open that runs in a copy, where namespaces are refused; and
filters of system calls, as programs of classic BPF.

Source: seccomp(2), linux/seccomp.h and linux/filter.h. The kernel runs the program for each call; it reads
the call's number, the machine's kind and the arguments, and gives back whether the call is made or which
error it has. Pointers cannot be followed, so the filter decides by numbers alone.
"""

from __future__ import annotations

import errno
import os
import platform
import struct
import sys
import tomllib
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from session.checks.sandbox import kernel
from session.checks.sandbox.plan import Limits, View

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _MACHINE, _ARGUMENTS = 0, 4, 16
"""Where these are in ``struct seccomp_data``; an argument's lower half comes first."""
_MADE, _ERROR = 0x7FFF0000, 0x00050000
_NEW_NAMESPACES = 0x7E020080
"""The flags of clone(2) that make namespaces."""
_TYPES_FOR_THE_TERMINAL = (0x5412, 0x541C)
"""TIOCSTI and TIOCLINUX of ioctl_tty(2): they put keys into a terminal."""
_INTERNET = (2, 10, 16)
"""AF_INET, AF_INET6, and AF_NETLINK, by which a program learns of addresses."""
_OF_NAMESPACES = (1, *_INTERNET, 17)
"""Families of which a network namespace, or a cover, shows a command only its own: AF_UNIX and AF_PACKET too.
To the virtual machine's host (AF_VSOCK) there is no such wall."""

_Steps = list[tuple[int, int, int, int]]
"""Instructions: a code, how many to skip where it is true, and where it is not, and a number."""


class NoFilterError(Exception):
    """There is no table of system calls for this machine; the message names it."""


def namespace_filter(machine: str = "") -> bytes:
    """The instructions of a filter for what namespaces do not wall off: sockets of other families, and
    io_uring, which makes calls that no filter sees. Raises NoFilterError."""
    numbers, everywhere = _table(machine)
    steps = _begun(numbers)
    for name in ("io_uring_setup", "io_uring_enter", "io_uring_register"):
        steps += [(_EQUAL, 0, 1, everywhere[name]), _fails(errno.ENOSYS)]
    steps += _of(numbers["ioctl"], 1, _fails_for(_TYPES_FOR_THE_TERMINAL))
    steps += _of(numbers["socket"], 0, _made_for(_OF_NAMESPACES))
    return _packed(steps)


def syscall_filter(*, network: bool, truncate: bool, machine: str = "") -> bytes:
    """The instructions of a filter as the kernel reads them, eight bytes each.

    Without ``network`` no socket can be made, only pairs; with it, those of the internet. ``truncate`` lets
    files be cut by their paths. Raises NoFilterError.
    """
    numbers, everywhere = _table(machine)
    steps = _begun(numbers)
    # Programs fall back to clone, whose flags can be read here.
    steps += [(_EQUAL, 0, 1, numbers["clone3"]), _fails(errno.ENOSYS)]
    refused = [*numbers["refused"].values(), *everywhere.values()]
    for number in refused if truncate else [*refused, numbers["truncate"]]:
        steps += [(_EQUAL, 0, 1, number), _fails(errno.EPERM)]
    steps += _of(numbers["clone"], 0, [(_ANY_BIT, 0, 1, _NEW_NAMESPACES), _fails(errno.EPERM)])
    steps += _of(numbers["ioctl"], 1, _fails_for(_TYPES_FOR_THE_TERMINAL))
    steps += _of(numbers["socket"], 0, _made_for(_INTERNET if network else ()))
    return _packed(steps)


def _table(machine: str) -> tuple[dict[str, Any], dict[str, int]]:
    tables, machine = _tables(), machine or platform.machine()
    if machine not in tables or machine == "everywhere":
        raise NoFilterError(f"there is no filter of system calls for {machine}")
    return tables[machine], tables["everywhere"]


def _begun(numbers: dict[str, Any]) -> _Steps:
    """What refuses the calls of another kind of machine, and loads the call's number."""
    steps: _Steps = [(_LOAD, 0, 0, _MACHINE)]
    steps += [(_EQUAL, 1, 0, numbers["audit"]), _fails(errno.ENOSYS)]
    steps += [(_LOAD, 0, 0, _NUMBER)]
    if numbers["foreign_from"]:
        steps += [(_AT_LEAST, 0, 1, numbers["foreign_from"]), _fails(errno.ENOSYS)]
    return steps


def _packed(steps: _Steps) -> bytes:
    return b"".join(struct.pack("=HBBI", *step) for step in [*steps, (_RETURN, 0, 0, _MADE)])


def _fails(number: int) -> tuple[int, int, int, int]:
    return (_RETURN, 0, 0, _ERROR | number)


def _fails_for(values: Iterable[int]) -> _Steps:
    return [step for value in values for step in ((_EQUAL, 0, 1, value), _fails(errno.EPERM))]


def _made_for(values: Iterable[int]) -> _Steps:
    """What makes a call with one of these arguments, and no other."""
    made = [step for value in values for step in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, _MADE))]
    return [*made, _fails(errno.EACCES)]


def _of(number: int, argument: int, steps: _Steps) -> _Steps:
    """``steps`` on an argument of the system call ``number``; then the number is loaded again."""
    body = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument), *steps]
    return [(_EQUAL, 0, len(body), number), *body, (_LOAD, 0, 0, _NUMBER)]


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("syscalls.toml").read_text("utf-8"))


PROGRAM = Path(__file__).with_name("fence.py")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_OWN = {"TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "GOCACHE": "cache/go"}
"""Variables for folders that programs write to, and the folders of the sandbox that they name."""


class NoFenceError(Exception):
    """No fence can be put up here; the message says why."""


def fence_plan(view: View, limits: Limits, *, project: Path, copy: Path, network: bool) -> dict[str, Any]:
    """The plan for a command in ``copy``, as ``fence.py`` reads it; makes the folders that it may write to.

    Raises NoFenceError, and OSError where a folder cannot be made.
    """
    try:
        version = _version()
        filtered = syscall_filter(network=network, truncate=version >= kernel.TRUNCATES)
    except NoFilterError as problem:
        raise NoFenceError(str(problem)) from problem
    box = copy.parents[1]
    own = [box / name for name in _OWN.values()]
    for folder in own:
        folder.mkdir(parents=True, exist_ok=True)
    hidden = {*view.hidden, *view.temporary, *view.run_time, "/dev"}
    readable = [*_without("/", hidden), *_without(str(project), hidden)]
    for each in (*view.shown, *view.caches):
        readable += _without(each, hidden)
    return {
        "report": str(box / "report"),
        "readable": readable,
        "writable": [str(copy), *map(str, own), *_DEVICES],
        "filter": filtered,
        "memory": limits.memory,
        "disk": limits.disk,
    }


def own_folders(copy: Path) -> dict[str, str]:
    """The variables with which programs write to the sandbox's own folders."""
    return {name: str(copy.parents[1] / folder) for name, folder in _OWN.items()}


def leaks() -> str:
    """What passes the fence, in words."""
    passes = "a command can change the modes and times of your files"
    return passes if _version() >= kernel.SCOPED else f"{passes}, and signal your other programs"


def _version() -> int:
    if sys.platform != "linux":
        raise NoFenceError("a fence needs Linux")
    try:
        return kernel.landlock_version()
    except OSError as problem:
        raise NoFenceError(f"the kernel has no Landlock: {problem.strerror}") from problem


def _without(path: str, hidden: Collection[str]) -> Iterator[str]:
    """The largest parts of ``path`` that hold nothing of ``hidden``; links are left out."""
    if path in hidden:
        return
    below = path.rstrip("/") + "/"
    if not any(each.startswith(below) for each in hidden):
        yield path
        return
    try:
        with os.scandir(path) as entries:
            children = [each.path for each in entries if not each.is_symlink()]
    except OSError:
        return
    for child in sorted(children):
        yield from _without(child, hidden)
