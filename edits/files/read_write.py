"""Reading and writing the project's files, so that a file is whole at every moment.

A file is replaced by a new one that is made beside it. Where that would break a hard link or change the
owner, the file is overwritten in place, after its old bytes were kept elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

from edits.files.atomic import sync_folder
from edits.files.text import FileError, TextFile, decode, digest
from edits.hunk import RefusalCode

LARGEST = 64 * 1024 * 1024
"""The largest file that is read, in bytes."""

Step = Callable[[str], None]
"""Called with the name of each step after it is done. Tests stop the process there."""

# Security labels and the like are set by the system; user and ACL attributes are copied.
_KEPT_ATTRIBUTES = ("user.", "system.posix_acl")
_CHUNK = 1 << 16


class Changed(Exception):
    """The file is no longer what the caller read. Nothing was written."""


def no_step(name: str) -> None:
    """Does nothing after a step: the callback outside of tests."""
    del name


def read_bytes(path: Path, name: str | None = None) -> bytes:
    """The bytes of a regular file. Raises FileError, with ``name`` as the path in its message."""
    name = name or path.name
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileError(RefusalCode.IO, f"{name} is a folder")
        if not stat.S_ISREG(status.st_mode):
            raise FileError(RefusalCode.IO, f"{name} is not a regular file")
        if status.st_size > LARGEST:
            raise FileError(RefusalCode.IO, f"{name} is larger than {LARGEST // 1024 // 1024} MB")
        return path.read_bytes()
    except FileNotFoundError as error:
        raise FileError(RefusalCode.MISSING_FILE, f"{name} does not exist") from error
    except PermissionError as error:
        raise FileError(RefusalCode.LOCKED, f"{name} cannot be read: permission denied") from error
    except OSError as error:
        raise FileError(RefusalCode.IO, f"{name} cannot be read: {error.strerror}") from error


def read_text(path: Path, name: str | None = None) -> TextFile:
    """The text of a file. Raises FileError: missing, binary, undecodable, too large, not a file."""
    return decode(read_bytes(path, name), name or path.name)


def fingerprint(path: Path) -> str | None:
    """The digest of the file's bytes, or None if there is no file. Raises FileError."""
    try:
        return digest(read_bytes(path))
    except FileError as error:
        if error.code is RefusalCode.MISSING_FILE:
            return None
        raise


def check_writable(path: Path, name: str) -> None:
    """Raise FileError (``locked``) for a file without write permission.

    The permission bits count for root too: replacing a read-only file would get around them.
    """
    if not path.stat().st_mode & 0o222:
        raise FileError(RefusalCode.LOCKED, f"{name} is read-only; make it writable to have it edited")
    if not os.access(path, os.W_OK):
        raise FileError(RefusalCode.LOCKED, f"{name} cannot be written: permission denied")


def must_stay_in_place(path: Path) -> bool:
    """Whether a file cannot be replaced by a new one: it has other hard links, its folder is not writable,
    or its owner would change."""
    status = path.stat()
    if status.st_nlink > 1 or not os.access(path.parent, os.W_OK | os.X_OK):
        return True
    same_owner = status.st_uid == os.geteuid() and status.st_gid in {os.getegid(), *os.getgroups()}
    return not (same_owner or os.geteuid() == 0)


def temporary_path(path: Path, token: str) -> Path:
    """The path beside ``path`` where its next content is prepared."""
    return path.with_name(f".{path.name[:100]}.{token}.spark")


def write_atomic(
    path: Path,
    data: bytes,
    *,
    expected: str | None = None,
    like: Path | None = None,
    mode: int | None = None,
    token: str = "new",
    in_place: bool = False,
    step: Step = no_step,
) -> None:
    """Write ``data`` to ``path``; a reader sees the old content or the new one.

    ``expected`` is the digest of what ``path`` must hold right before (None: it must not exist), or
    Changed is raised. Permissions, owner and extended attributes come from ``like`` (default: ``path``),
    those of a new file from ``mode``. With ``in_place`` the file itself is overwritten; the caller has
    made the old bytes durable. Raises FileError if the system reports an error.
    """
    try:
        if in_place and expected is not None:
            _overwrite(path, data, expected, step)
        else:
            _replace(path, data, expected, like or path, mode, temporary_path(path, token), step)
    except OSError as error:
        raise FileError(RefusalCode.IO, f"{path.name} cannot be written: {error.strerror}") from error


def remove(path: Path, expected: str, step: Step = no_step) -> None:
    """Delete ``path`` if its content still has the digest ``expected``, or raise Changed."""
    if fingerprint(path) != expected:
        raise Changed
    try:
        path.unlink()
        step("removed")
        sync_folder(path.parent)
    except OSError as error:
        raise FileError(RefusalCode.IO, f"{path.name} cannot be deleted: {error.strerror}") from error


def _replace(
    path: Path, data: bytes, expected: str | None, like: Path, mode: int | None, temporary: Path, step: Step
) -> None:
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        try:
            step("temporary created")
            _copy_metadata(like, descriptor, mode)
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        step("temporary written")
        if fingerprint(path) != expected:
            raise Changed
        step("target checked")
        if expected is None:
            _place_new(temporary, path)
        else:
            temporary.replace(path)
    except BaseException:  # a Ctrl+C leaves no prepared file behind either
        temporary.unlink(missing_ok=True)
        raise
    step("replaced")
    sync_folder(path.parent)
    step("folder synced")


def _place_new(temporary: Path, path: Path) -> None:
    """Give the prepared file its name, unless there is a file of that name by now."""
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise Changed from error
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EOPNOTSUPP):
            raise
        # The file system has no hard links, so that checking right before is the best there is.
        if path.exists():
            raise Changed from error
        temporary.replace(path)
        return
    temporary.unlink()


def _overwrite(path: Path, data: bytes, expected: str, step: Step) -> None:
    """Write from front to back and truncate last, so that recovery recognizes what a kill leaves behind."""
    if fingerprint(path) != expected:
        raise Changed
    step("target checked")
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        for start in range(0, len(data), _CHUNK):
            _write_all(descriptor, data[start : start + _CHUNK])
            step("chunk written")
        os.ftruncate(descriptor, len(data))
        step("cut")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _copy_metadata(like: Path, descriptor: int, mode: int | None) -> None:
    try:
        status = like.stat()
    except FileNotFoundError:
        if mode is None:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.fchmod(descriptor, mode)
        return
    made = os.fstat(descriptor)
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    if hasattr(os, "listxattr"):
        _copy_attributes(like, descriptor)


def _copy_attributes(like: Path, descriptor: int) -> None:
    try:
        names = os.listxattr(like)
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EOPNOTSUPP):
            return
        raise
    for name in names:
        if name.startswith(_KEPT_ATTRIBUTES):
            os.setxattr(descriptor, name, os.getxattr(like, name))


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
