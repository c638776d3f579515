"""Replaces and exchanges files in one step: a reader sees the old content or the new one, never a part of it.

What is taken from its place by an exchange can still be looked at. Source: renameat2(2), which came with
Linux 3.15; some file systems do not have it. macOS has renameatx_np(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_LONGEST_PART = 100


@contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file to write the next content of ``path`` to. It takes its place at the end, and is durable then.

    The content is written to a file beside ``path``, with the permissions ``mode`` from its first byte.
    After an error that file is removed and ``path`` is as it was. Raises OSError.
    """
    temporary = path.with_name(f".{cut_name(path.name)}.{os.urandom(8).hex()}.new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except BaseException:  # a Ctrl+C leaves no prepared file behind either
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make ``folder`` with its parents, durably. Raises OSError."""
    if folder.is_dir():
        return
    make_folder(folder.parent, mode)
    folder.mkdir(mode, exist_ok=True)
    sync_folder(folder.parent)


def cut_name(name: str) -> str:
    """The beginning of ``name``, short enough to be part of another name.

    File systems limit the bytes of a name, so it is cut by bytes, between two characters.
    """
    return os.fsencode(name)[:_LONGEST_PART].decode("utf-8", "ignore")


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_SWAP = 2
"""RENAME_EXCHANGE of Linux, and RENAME_SWAP of macOS."""
_LACKING = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM})
"""What systems and file systems say that cannot exchange; a filter of system calls says the last."""


def exchange(folder: int, one: str, other: str) -> bool:
    """Let two names in the open ``folder`` change places; False where that cannot be done here.

    Raises OSError, FileNotFoundError where one of them is not there.
    """
    if _call is None:
        return False
    if _call(folder, os.fsencode(one), folder, os.fsencode(other), _SWAP) == 0:
        return True
    number = ctypes.get_errno()
    if number in _LACKING:
        return False
    raise OSError(number, os.strerror(number), other)


def _found() -> Callable[..., int] | None:
    names = {"linux": "renameat2", "darwin": "renameatx_np"}
    library = ctypes.CDLL(None, use_errno=True)
    function = getattr(library, names.get(sys.platform, ""), None)
    if function is None:
        return None
    function.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.restype = ctypes.c_int
    return lambda *arguments: int(function(*arguments))


_call = _found()
