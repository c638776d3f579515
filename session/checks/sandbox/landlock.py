"""Landlock: a process gives up, for itself and all it starts, to open files outside of what it names.

Source: landlock(7), and linux/landlock.h of Linux 6.18. Each function raises OSError that says what failed.
Nothing here imports spark's other rooms: it runs in the command's own process.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct

from session.checks.sandbox import kernel

_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The numbers of the system calls, the same on every machine."""
_ASK_VERSION = 1
_BENEATH = 1
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _DEVICE_CONTROL = 1 << 13, 1 << 14, 1 << 15
_SINCE = {_REFER: 2, _TRUNCATE: 3, _DEVICE_CONTROL: 5}
"""The versions of Landlock with which some rights came; the rest came with the first."""
_ALL = (1 << 16) - 1
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE_CONTROL
_READING = _EXECUTE | _READ | _LIST
_SCOPES = 0b11
"""Abstract sockets and signals do not leave what is restricted together."""
TRUNCATES, SCOPED = 3, 6
"""The versions that know the length of files, and signals."""

_libc = ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The version of Landlock here. Raises OSError where there is none."""
    return _call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))


def restrict(readable: list[str], writable: list[str]) -> None:
    """Open nothing but what is beneath ``readable``, and write nothing but beneath ``writable``, for ever.

    A path that is not there is left out. The process needs to have given up new privileges before.
    """
    known = version()
    handled = _ALL & ~sum(right for right, since in _SINCE.items() if since > known)
    scopes = _SCOPES if known >= SCOPED else 0
    attributes = struct.pack("=QQQ", handled, 0, scopes)
    size = len(attributes) if scopes else 8
    rules = _call(_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint(0))
    for paths, rights in ((readable, _READING), (writable, _ALL)):
        for path in paths:
            _allow(rules, path, rights & handled)
    _call(_RESTRICT, ctypes.c_int(rules), ctypes.c_uint(0))
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        mode = os.fstat(place).st_mode
        if stat.S_ISLNK(mode):
            return  # what it leads to has a rule of its own, or none
        beneath = struct.pack("=Qi", rights if stat.S_ISDIR(mode) else rights & _OF_FILES, place)
        _call(_ADD, ctypes.c_int(rules), ctypes.c_uint(_BENEATH), beneath, ctypes.c_uint(0))
    finally:
        os.close(place)


def _call(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock: {os.strerror(code)}")
    return result


def give_up_privileges() -> None:
    """Gain nothing from running a program, and give up what goes beyond a user's rights where that can be."""
    kernel.gain_no_privileges()
    with kernel.Suppressed(OSError):  # user 0 in a container that forbids even this
        kernel.drop_capabilities()
