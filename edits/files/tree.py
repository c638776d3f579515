"""The files of a project: everything that edits read, write, make, move or delete goes through here.

Paths are relative to the root, with ``/``, and have no links in them: :func:`edits.files.path_jail.resolve`
gives such paths. A link that is found on the way nevertheless came there since, and raises Changed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from edits.files.durable import (
    Step,
    discard,
    fingerprint,
    new_token,
    no_step,
    overwrite,
    put_back,
    read_all,
    read_file,
    remove,
    replace,
)
from edits.files.durable import temporary_name as temporary_name
from edits.files.path_jail import (
    Changed,
    Missing,
    SpecialFileError,
    is_same,
    open_regular,
    opened_folder,
    sync,
)
from edits.files.text import FileError, TextFile, decode, digest
from edits.hunk import RefusalCode, RefusedBy

LARGEST = 64 * 1024 * 1024
"""The largest file that is read, in bytes."""


class Tree:
    """The files below ``root``, a path without links. Errors are FileErrors that name the file."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def read(self, path: str, shown: str = "") -> bytes:
        """The bytes of a regular file. Raises FileError, with ``shown`` as the path in its message."""
        with _told(shown or path, "read"), self._folder(path) as (folder, name):
            descriptor = open_regular(folder, name)
            try:
                if os.fstat(descriptor).st_size > LARGEST:
                    message = f"{shown or path} is larger than {LARGEST // 1024 // 1024} MB"
                    raise FileError(RefusalCode.IO, message)
                return read_all(descriptor)
            finally:
                os.close(descriptor)

    def read_text(self, path: str, shown: str = "") -> TextFile:
        """The text of a file. Raises FileError: missing, binary, undecodable, too large, not a file."""
        return decode(self.read(path, shown), shown or path)

    def read_if_there(self, path: str, shown: str = "") -> bytes | None:
        """The bytes of a file, or None if there is none. Raises FileError for anything but a file."""
        try:
            return self.read(path, shown)
        except FileError as error:
            if error.code is RefusalCode.MISSING_FILE:
                return None
            raise

    def fingerprint(self, path: str) -> str | None:
        """The digest of the file's bytes, or None if there is no file. Raises FileError."""
        try:
            with _told(path, "read"), self._folder(path) as (folder, name):
                return fingerprint(folder, name)
        except FileError as error:
            if error.code is RefusalCode.MISSING_FILE:
                return None
            raise

    def status(self, path: str) -> os.stat_result | None:
        """What the system says of a file, or None if there is none. Raises FileError."""
        try:
            with _told(path, "read"), self._folder(path) as (folder, name):
                return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileError as error:
            if error.code is RefusalCode.MISSING_FILE:
                return None
            raise

    def check_writable(self, path: str, shown: str = "") -> None:
        """Raise FileError (``locked``) for a file without write permission.

        The permission bits count for root too: replacing a read-only file would get around them.
        """
        shown = shown or path
        status = self.status(path)
        if status is None:
            return
        if not status.st_mode & 0o222:
            message = f"{shown} is read-only; make it writable to have it edited"
            raise FileError(RefusalCode.LOCKED, message, RefusedBy.DISK)
        with _told(shown, "read"), self._folder(path) as (folder, name):
            if not os.access(name, os.W_OK, dir_fd=folder):
                message = f"{shown} cannot be written: permission denied"
                raise FileError(RefusalCode.LOCKED, message, RefusedBy.DISK)

    def must_stay_in_place(self, path: str) -> bool:
        """Whether a file cannot be replaced by a new one: it has other hard links, its folder is not
        writable, or its owner would change."""
        with _told(path, "read"), self._folder(path) as (folder, name):
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if status.st_nlink > 1 or not os.access(".", os.W_OK | os.X_OK, dir_fd=folder):
                return True
        same_owner = status.st_uid == os.geteuid() and status.st_gid in {os.getegid(), *os.getgroups()}
        return not (same_owner or os.geteuid() == 0)

    def write(
        self,
        path: str,
        data: bytes,
        *,
        expected: str | None = None,
        like: str | None = None,
        mode: int | None = None,
        token: str = "",
        in_place: bool = False,
        step: Step = no_step,
    ) -> None:
        """Write ``data`` to ``path``, whose folder must exist; a reader sees the old content or the new one.

        ``expected`` is the digest of what ``path`` must hold right before (None: it must not exist), or
        Changed is raised. Permissions, owner and extended attributes come from ``like`` (default: ``path``),
        those of a new file from ``mode``. ``token`` (:func:`~edits.files.durable.new_token`) is a part of
        the temporary file's name. With ``in_place`` the file itself is overwritten; the caller has made the
        old bytes durable. Raises FileError if the system reports an error.
        """
        with _told(path, "written"), self._folder(path) as (folder, name):
            if in_place and expected is not None:
                overwrite(folder, name, data, expected, step)
                return
            model = self._open(like or path)
            try:
                replace(
                    folder, name, data, expected, token or new_token(), lambda: self._check(path, folder),
                    like=model, mode=mode, step=step,
                )  # fmt: skip
            finally:
                if model is not None:
                    os.close(model)

    def remove(self, path: str, expected: str, step: Step = no_step, token: str = "") -> None:
        """Delete ``path`` if its content still has the digest ``expected``, or raise Changed. ``token`` is a
        part of the name that it has for a moment before."""
        with _told(path, "deleted"), self._folder(path) as (folder, name):
            if fingerprint(folder, name) != expected:
                raise Changed(path)
            self._check(path, folder)
            remove(folder, name, expected, token or new_token(), step)
            sync(folder)

    def discard_temporary(self, path: str, token: str) -> None:
        """Delete the file in which a dead process prepared the content of ``path``. Raises FileError."""
        with _told(path, "deleted"), self._folder(path) as (folder, name):
            discard(folder, temporary_name(name, token))

    def put_back(self, path: str, token: str, before: str | None, after: bytes | None) -> None:
        """Put another program's save back that a dead process took from ``path`` and did not look at.

        What was prepared, a part of ``after``, and what was there ``before`` (a digest) is deleted. Raises
        FileError.
        """
        with _told(path, "written"), self._folder(path) as (folder, name):
            temporary = temporary_name(name, token)
            taken = read_file(folder, temporary)
            prepared = taken is not None and after is not None and after.startswith(taken)
            if taken is not None and digest(taken) != before and not prepared:
                put_back(folder, temporary, name, after if after is None else digest(after))
            discard(folder, temporary)

    def missing_folders(self, path: str) -> tuple[str, ...]:
        """The folders that must be made for the file ``path``, outermost first. Raises FileError."""
        missing: list[str] = []
        for folder in PurePosixPath(path).parents[:-1]:
            if self.status(folder.as_posix()) is not None:
                break
            missing.append(folder.as_posix())
        return tuple(reversed(missing))

    def make_folders(self, path: str) -> None:
        """Make the folders of the file ``path`` that do not exist. Raises FileError."""
        with _told(path, "written"), self._folder(path, _make):
            return

    def remove_folders(self, paths: tuple[str, ...]) -> None:
        """Remove folders that were made for a file, unless something else is in them."""
        for path in reversed(paths):
            try:
                with self._folder(path) as (folder, name):
                    os.rmdir(name, dir_fd=folder)
            except (OSError, FileError):
                return

    def _check(self, path: str, folder: int) -> None:
        """Raise Changed if another folder than the opened one is in its place by now."""
        with self._folder(path) as (now, _):
            if not is_same(now, folder):
                raise Changed(path)

    @contextmanager
    def _folder(self, path: str, missing: Missing | None = None) -> Iterator[tuple[int, str]]:
        *parts, name = path.split("/")
        if name in ("", ".", ".."):
            raise FileError(RefusalCode.MALFORMED, f"{path!r} is not a file name")
        with opened_folder(self.root, tuple(parts), missing) as folder:
            yield folder, name

    def _open(self, path: str) -> int | None:
        """A descriptor of the file, for reading; None if there is none."""
        try:
            with self._folder(path) as (folder, name):
                return open_regular(folder, name)
        except FileNotFoundError:
            return None


def _make(above: int, name: str) -> None:
    try:
        os.mkdir(name, dir_fd=above)
    except FileExistsError:
        return  # Someone else made it at this moment.
    sync(above)


@contextmanager
def _told(shown: str, what: str) -> Iterator[None]:
    """Turn the errors of the system into FileErrors about the file ``shown``."""
    try:
        yield
    except FileNotFoundError as error:
        raise FileError(RefusalCode.MISSING_FILE, f"{shown} does not exist") from error
    except SpecialFileError as error:
        raise FileError(RefusalCode.IO, f"{shown} is {error.strerror}") from error
    except PermissionError as error:
        code = RefusalCode.LOCKED if what == "read" else RefusalCode.IO
        message = f"{shown} cannot be {what}: permission denied"
        raise FileError(code, message, RefusedBy.DISK) from error
    except OSError as error:
        message = f"{shown} cannot be {what}: {error.strerror}"
        raise FileError(RefusalCode.IO, message, RefusedBy.DISK) from error
