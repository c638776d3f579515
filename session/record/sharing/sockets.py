"""Unix sockets in a private folder: for this user's processes alone, and for paths of any length."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LONGEST_PATH = 100
"""Bytes of a path that every system takes: ``sun_path`` has 104 on macOS and 108 on Linux (unix(7))."""
_WAITING = 8
"""Connections that may wait to be accepted."""


def listen(path: Path) -> socket.socket:
    """A socket that listens at ``path``, in place of what a dead process left there. Raises OSError."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.unlink(missing_ok=True)
        with _short(path) as address:
            made.bind(address)
        # Nobody can connect before it listens, so nobody comes before the mode is set.
        path.chmod(0o600)
        made.listen(_WAITING)
    except OSError:
        made.close()
        raise
    made.setblocking(False)
    return made


def connect(path: Path, seconds: float) -> socket.socket:
    """A socket to the process of this user that listens at ``path``; its calls take at most ``seconds``.

    Raises OSError, and PermissionError if the process belongs to another user.
    """
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.settimeout(seconds)
        with _short(path) as address:
            made.connect(address)
        if not is_own(made):
            raise PermissionError(f"{path} belongs to another user")
    except OSError:
        made.close()
        raise
    return made


def is_own(connected: socket.socket) -> bool:
    """Whether the process at the other end runs as the same user."""
    return _peer_uid(connected) == os.geteuid()


def _peer_uid(connected: socket.socket) -> int:
    """The other end's user (unix(7), SO_PEERCRED; on macOS unix(4), LOCAL_PEERCRED)."""
    so_peercred = getattr(socket, "SO_PEERCRED", None)
    if so_peercred is not None:
        credentials = connected.getsockopt(socket.SOL_SOCKET, so_peercred, struct.calcsize("3i"))
        return int(struct.unpack("3i", credentials)[1])
    local_peercred, of_local_sockets = 1, 0
    credentials = connected.getsockopt(of_local_sockets, local_peercred, 76)
    return int(struct.unpack_from("II", credentials)[1])


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """``path`` in few enough bytes: by its folder's descriptor where it is too long."""
    if len(os.fsencode(path)) <= LONGEST_PATH:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
