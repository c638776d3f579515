"""Exchanges two files of a folder in one step, so that what is taken from its place can be looked at.

Source: renameat2(2), which came with Linux 3.15; some file systems do not have it. macOS has renameatx_np(2).
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from collections.abc import Callable

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
