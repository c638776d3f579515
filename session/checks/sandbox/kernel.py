"""The Linux system calls behind a sandbox: namespaces, mounts, capabilities, limits, and Landlock.

Sources: unshare(2), mount(2), mount_setattr(2), prctl(2), capabilities(7), keyctl(2), netdevice(7),
landlock(7), and linux/landlock.h of Linux 6.18. Each function raises OSError with the name of the call that
failed. Nothing here imports spark: it runs in the sandbox's own processes, which start in a few milliseconds.

With Landlock a process gives up, for itself and all it starts, to open files outside of what it names.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from _socket import AF_INET, SOCK_DGRAM, socket
from fcntl import ioctl

NEW_MOUNTS, NEW_UTS, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PIDS, NEW_NETWORK = 0x10000000, 0x20000000, 0x40000000

READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 0x1, 0x2, 0x4, 0x8
BIND, MOVE, RECURSIVE, PRIVATE = 0x1000, 0x2000, 0x4000, 0x40000
DETACH = 0x2

_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_MOUNT_SETATTR = 442
"""The number of mount_setattr on every architecture; it came with Linux 5.12."""
_KEYCTL = {"x86_64": 250, "aarch64": 219, "riscv64": 219}
_JOIN_SESSION_KEYRING = 1
_PDEATHSIG, _DUMPABLE, _CAPBSET_DROP, _SECUREBITS, _NO_NEW_PRIVS = 1, 4, 24, 28, 38
_SECCOMP, _SECCOMP_FILTER = 22, 2
_CAPABILITY_VERSION = 0x20080522
_NO_ROOT_LOCKED = 0x03
"""SECBIT_NOROOT and its lock: user 0 gets no capabilities from running a program."""
_LAST_CAPABILITY = 63
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1

_libc = ctypes.CDLL(None, use_errno=True)


class Suppressed:
    """What ``contextlib.suppress`` is; that module takes long to import."""

    def __init__(self, *kinds: type[BaseException]) -> None:
        self._kinds = kinds

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, self._kinds)


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "userns")]


def _checked(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Leave the namespaces of the parent for new ones."""
    try:
        _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        raise OSError(errno.ENOSPC, "unshare: the system allows no more namespaces") from problem


def map_own_user(user: int, group: int) -> None:
    """Keep the user's own number in the new user namespace; every other number is nobody."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        descriptor = os.open(f"/proc/self/{name}", os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(descriptor, text.encode())
        finally:
            os.close(descriptor)


def mount(source: str, target: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    """Mount ``source`` at ``target``."""
    done = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        os.fsencode(options) or None,
    )
    _checked(done, f"mount {kind or 'bind'} at {target}")


def set_mount(target: str, *, set_flags: int = 0, clear_flags: int = 0, recursive: bool = False) -> None:
    """Change the flags of the mount at ``target``, and with ``recursive`` of every mount below it."""
    attributes = _MountAttributes(set=set_flags, clear=clear_flags)
    done = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_int(_AT_FDCWD),
        ctypes.c_char_p(os.fsencode(target)),
        ctypes.c_uint(_AT_RECURSIVE if recursive else 0),
        ctypes.byref(attributes),
        ctypes.c_size_t(ctypes.sizeof(attributes)),
    )
    _checked(done, f"mount_setattr {target}")


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process ``signal_number`` when its parent ends."""
    _checked(_libc.prctl(_PDEATHSIG, ctypes.c_ulong(signal_number), 0, 0, 0), "prctl")


def close_to_others() -> None:
    """Let no process without capabilities look into this one, even under the same user."""
    _checked(_libc.prctl(_DUMPABLE, ctypes.c_ulong(0), 0, 0, 0), "prctl")


def leave_keyring() -> None:
    """Take an empty session keyring, so that keys in the user's keyring cannot be read."""
    number = _KEYCTL.get(os.uname().machine)
    if number is not None:
        _libc.syscall(ctypes.c_long(number), ctypes.c_int(_JOIN_SESSION_KEYRING), None)


def gain_no_privileges() -> None:
    """Let this process and all it starts gain nothing from the program that they run."""
    _checked(_libc.prctl(_NO_NEW_PRIVS, ctypes.c_ulong(1), 0, 0, 0), "prctl")


class _Filter(ctypes.Structure):
    _fields_ = [("steps", ctypes.c_ushort), ("program", ctypes.c_char_p)]


def filter_calls(program: bytes) -> None:
    """Have the kernel ask ``program``, of classic BPF, for each system call from here on (seccomp(2))."""
    given = _Filter(len(program) // 8, program)
    _checked(_libc.prctl(_SECCOMP, ctypes.c_ulong(_SECCOMP_FILTER), ctypes.byref(given), 0, 0), "seccomp")


def drop_capabilities() -> None:
    """Give up every capability for this process and all it starts, for user 0 as well."""
    gain_no_privileges()
    _checked(_libc.prctl(_SECUREBITS, ctypes.c_ulong(_NO_ROOT_LOCKED), 0, 0, 0), "prctl")
    for capability in range(_LAST_CAPABILITY + 1):
        if _libc.prctl(_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) < 0:
            break  # The kernel has no capability of this number.
    header = struct.pack("=Ii", _CAPABILITY_VERSION, 0)
    _checked(_libc.capset(header, bytes(24)), "capset")


def raise_loopback() -> None:
    """Bring up the loopback interface, the only one of a new network namespace."""
    control = socket(AF_INET, SOCK_DGRAM)
    try:
        found = ioctl(control.fileno(), _GET_FLAGS, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack_from("16sh", found)[1]
        ioctl(control.fileno(), _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))
    finally:
        control.close()


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


def landlock_version() -> int:
    """The landlock_version of Landlock here. Raises OSError where there is none."""
    return _landlock(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))


def restrict(readable: list[str], writable: list[str]) -> None:
    """Open nothing but what is beneath ``readable``, and write nothing but beneath ``writable``, for ever.

    A path that is not there is left out. The process needs to have given up new privileges before.
    """
    known = landlock_version()
    handled = _ALL & ~sum(right for right, since in _SINCE.items() if since > known)
    scopes = _SCOPES if known >= SCOPED else 0
    attributes = struct.pack("=QQQ", handled, 0, scopes)
    size = len(attributes) if scopes else 8
    rules = _landlock(_CREATE, attributes, ctypes.c_size_t(size), ctypes.c_uint(0))
    for paths, rights in ((readable, _READING), (writable, _ALL)):
        for path in paths:
            _allow(rules, path, rights & handled)
    _landlock(_RESTRICT, ctypes.c_int(rules), ctypes.c_uint(0))
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
        _landlock(_ADD, ctypes.c_int(rules), ctypes.c_uint(_BENEATH), beneath, ctypes.c_uint(0))
    finally:
        os.close(place)


def _landlock(number: int, *arguments: object) -> int:
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"landlock: {os.strerror(code)}")
    return result


def give_up_privileges() -> None:
    """Gain nothing from running a program, and give up what goes beyond a user's rights where that can be."""
    gain_no_privileges()
    with Suppressed(OSError):  # user 0 in a container that forbids even this
        drop_capabilities()
