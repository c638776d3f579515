"""Writes one file of an opened folder, so that the file is whole at every moment and durable at the end.

A file is replaced by a new one that is made beside it. Where that would break a hard link or change the
owner, the file is overwritten in place, after its old bytes were kept elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable

from edits.files.path_jail import Changed, open_regular, sync
from edits.files.replacing import cut_name, exchange
from edits.files.text import digest

Step = Callable[[str], None]
"""Called with the name of each step after it is done. Tests stop the process there."""

# Security labels and the like are set by the system; user and ACL attributes are copied.
_KEPT_ATTRIBUTES = ("user.", "system.posix_acl")
_CHUNK = 1 << 16


def no_step(name: str) -> None:
    """Does nothing after a step: the callback outside of tests."""
    del name


def new_token() -> str:
    """What makes the name of a temporary file one that no repository can have prepared."""
    return os.urandom(8).hex()


def temporary_name(name: str, token: str) -> str:
    """The name of the file in which the next content of ``name`` is prepared, in the same folder."""
    return f".{cut_name(name)}.{token}.spark"


def replace(
    folder: int,
    name: str,
    data: bytes,
    expected: str | None,
    token: str,
    check: Callable[[], None],
    *,
    like: int | None,
    mode: int | None,
    step: Step,
) -> None:
    """Give ``name`` the content ``data``. A reader sees the old content or the new one.

    ``expected`` is the digest that the file must still have right before, or None if there must be no file;
    ``check`` is called at the same moment. Both raise Changed. Owner, permissions and attributes come from
    the open file ``like``, else the permissions are ``mode``, else those of any new file. Raises OSError.
    """
    temporary = temporary_name(name, token)
    private = like is not None or mode is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, 0o600 if private else 0o666, dir_fd=folder)
    try:
        try:
            step("temporary created")
            write_all(descriptor, data)
            if like is not None:
                _copy_metadata(like, descriptor)
            elif mode is not None:
                os.fchmod(descriptor, mode)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        step("temporary written")
        if fingerprint(folder, name) != expected:
            raise Changed(name)
        check()
        step("target checked")
        if expected is None:
            _place_new(folder, temporary, name)
        else:
            _take_place(folder, temporary, name, expected, digest(data), step)
    except BaseException:  # a Ctrl+C leaves no prepared file behind either
        discard(folder, temporary)
        raise
    step("replaced")
    sync(folder)
    step("folder synced")


def overwrite(folder: int, name: str, data: bytes, expected: str, step: Step) -> None:
    """Write ``data`` over the file's bytes, from front to back, and cut the file to its length last.

    Recovery recognizes what a kill in between leaves behind. Raises Changed if the file's digest is not
    ``expected``, and OSError.
    """
    descriptor = open_regular(folder, name, os.O_RDWR)
    try:
        if digest(read_all(descriptor)) != expected:
            raise Changed(name)
        step("target checked")
        os.lseek(descriptor, 0, os.SEEK_SET)
        for start in range(0, len(data), _CHUNK):
            write_all(descriptor, data[start : start + _CHUNK])
            step("chunk written")
        os.ftruncate(descriptor, len(data))
        step("cut")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fingerprint(folder: int, name: str) -> str | None:
    """The digest of a file's bytes, or None if there is no file. Raises Changed and OSError."""
    content = read_file(folder, name)
    return None if content is None else digest(content)


def read_all(descriptor: int) -> bytes:
    """All bytes of an open file from where it stands. Raises OSError."""
    with open(descriptor, "rb", buffering=0, closefd=False) as file:
        return file.readall()


def read_file(folder: int, name: str) -> bytes | None:
    """The bytes of a regular file, or None if there is none. Raises OSError."""
    try:
        descriptor = open_regular(folder, name)
    except FileNotFoundError:
        return None
    try:
        return read_all(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, in as many calls as the system needs. Raises OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def discard(folder: int, name: str) -> None:
    """Delete a prepared file, if it is there. Raises OSError."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return


def _take_place(folder: int, temporary: str, name: str, expected: str, ours: str, step: Step) -> None:
    """Give the prepared file the name of a file that still is what was expected.

    Another program may save at this very moment: what came out is looked at, and put back if it is another's.
    Raises Changed then.
    """
    try:
        exchanged = exchange(folder, temporary, name)
    except FileNotFoundError as error:
        raise Changed(name) from error
    if not exchanged:  # then the look right before is the best there is
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    try:
        step("exchanged")
    finally:
        is_others = fingerprint(folder, temporary) != expected
        if is_others:
            put_back(folder, temporary, name, ours)
        discard(folder, temporary)
    if is_others:
        raise Changed(name)


def remove(folder: int, name: str, expected: str, token: str, step: Step) -> None:
    """Delete a file that has the digest ``expected``. Raises Changed where another program saves it at this
    very moment, and OSError."""
    temporary = temporary_name(name, token)
    try:
        os.rename(name, temporary, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError as error:
        raise Changed(name) from error
    try:
        step("taken out")
    finally:
        is_others = fingerprint(folder, temporary) != expected
        if is_others:
            put_back(folder, temporary, name, None)
        discard(folder, temporary)
    if is_others:
        raise Changed(name)
    step("removed")


def put_back(folder: int, taken: str, name: str, ours: str | None) -> None:
    """Give another's file, which is called ``taken`` now, the name again that our file of digest ``ours``
    has, or for None that no file has.

    What has been saved under that name meanwhile is newer, and stays. Raises OSError.
    """
    if ours is None:
        with contextlib.suppress(Changed):
            _place_new(folder, taken, name)
        return
    while fingerprint(folder, name) == ours:
        try:
            if not exchange(folder, taken, name):  # it could when the file was taken
                os.rename(taken, name, src_dir_fd=folder, dst_dir_fd=folder)
                return
            if fingerprint(folder, taken) == ours:
                return
            # Another save came between the look and the exchange: it is newer than what was put back.
            exchange(folder, taken, name)
        except FileNotFoundError:
            return  # the other program has deleted it since


def _place_new(folder: int, temporary: str, name: str) -> None:
    """Give the prepared file its name, unless there is a file of that name by now."""
    try:
        os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError as error:
        raise Changed(name) from error
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EOPNOTSUPP):
            raise
        # The file system has no hard links, so that checking right before is the best there is.
        if fingerprint(folder, name) is not None:
            raise Changed(name) from error
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        return
    os.unlink(temporary, dir_fd=folder)


def _copy_metadata(like: int, descriptor: int) -> None:
    status, made = os.fstat(like), os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):
        _copy_attributes(like, descriptor)


def _copy_attributes(like: int, descriptor: int) -> None:
    try:
        names = os.listxattr(like)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EOPNOTSUPP):
            return
        raise
    for name in names:
        if name.startswith(_KEPT_ATTRIBUTES):
            os.setxattr(descriptor, name, os.getxattr(like, name))
