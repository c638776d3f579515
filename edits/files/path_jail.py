"""Keeps edits inside the project: they touch only files in it, links followed, and never git's own.

Files are opened below a folder by directory descriptors, so that no link swapped in meanwhile leads out of
it. Each folder on the way is opened from the one above it and must not be a link (``O_NOFOLLOW``). What is
then done to a file (opening, renaming, deleting) is done relative to its folder's descriptor, wherever
that folder's name leads by then. Only regular files are opened, and without waiting, so that neither a
device nor a named pipe is touched.

Linux's ``openat2`` with ``RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS`` gives the same guarantee in one call. It
saves 3 µs at a depth of three folders and needs ctypes, so the walk is used on every system.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from edits.files.text import FileError
from edits.hunk import RefusalCode


@dataclass(frozen=True, slots=True)
class Target:
    """A file that an edit names."""

    path: str
    """Relative to the root, for messages: links are followed, but for one that is the last part."""
    name: str
    """Relative to the root, with all links followed: what a :class:`~edits.files.tree.Tree` takes."""
    linked: bool
    """Whether the last part of the path is itself a symbolic link."""
    typed: str
    """Relative to the root, with no link followed."""

    def as_listed(self, root: Path) -> Target:
        """The file by the names that its folders list, on a file system that takes others for the same: the
        ledger and locks know it by these."""
        path, name = (as_listed(root, each) for each in (self.path, self.name))
        return Target(path, name, self.linked, self.typed)


def spelling(name: str) -> str:
    """``name`` as file systems compare it that ignore case and the Unicode form."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def as_listed(root: Path, name: str) -> str:
    """The name of a file as its folders list it, which may differ from ``name`` in capitals or in form."""
    listed: list[str] = []
    for part in name.split("/"):
        try:
            names = [one.name for one in root.joinpath(*listed).iterdir()]
        except OSError:
            names = []
        same = (one for one in names if spelling(one) == spelling(part))
        listed.append(part if part in names else next(same, part))
    return "/".join(listed)


def resolve(root: Path, path: str) -> Target:
    """The file that ``path`` names. Raises FileError (``outside_project``, ``malformed``).

    ``root`` must have no links in it. Absolute paths inside the root, ``./`` and backslashes are
    understood; a path that leaves the root, directly or through a link, is refused, as is ``.git``.
    """
    if not path.strip() or "\0" in path or any(ord(character) < 32 for character in path):
        raise FileError(RefusalCode.MALFORMED, f"{path!r} is not a file name")
    given = path
    if "\\" in path and not (root / path).exists():
        path = path.replace("\\", "/")
    if path.endswith("/"):
        raise FileError(RefusalCode.MALFORMED, f"{given} names a folder, not a file")
    try:
        joined = root / path
        folder = Path(os.path.realpath(joined.parent))
        named = folder / joined.name
    except (OSError, RuntimeError, UnicodeEncodeError) as error:
        raise FileError(RefusalCode.MALFORMED, f"{given!r} is not a usable path: {error}") from error
    linked = joined.name not in ("", ".", "..") and named.is_symlink()
    real = Path(os.path.realpath(named)) if linked else named
    if linked and real.is_symlink():
        raise FileError(RefusalCode.IO, f"{given} is a symbolic link that leads back to itself")
    if joined.name in ("", ".", "..") or real == root:
        raise FileError(RefusalCode.MALFORMED, f"{given} names a folder, not a file")
    for place in (named, real):
        if not place.is_relative_to(root):
            raise FileError(RefusalCode.OUTSIDE_PROJECT, f"{given} is outside the project")
        if any(part.casefold() == ".git" for part in place.relative_to(root).parts):
            raise FileError(RefusalCode.OUTSIDE_PROJECT, f"{given} belongs to git, which edits leave alone")
    typed = Path(os.path.normpath(joined))
    return Target(
        path=named.relative_to(root).as_posix(),
        name=real.relative_to(root).as_posix(),
        linked=linked,
        typed=(typed if typed.is_relative_to(root) else named).relative_to(root).as_posix(),
    )


# With O_PATH a folder that can be searched but not listed can be passed through.
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class Changed(FileError):
    """A file or its folder is no longer what the caller found. Nothing was written."""

    def __init__(self, name: str = "the file") -> None:
        super().__init__(RefusalCode.CONFLICT, f"{name} was changed by another program meanwhile")


class SpecialFileError(OSError):
    """Something that is not a regular file; ``strerror`` says what."""


Missing = Callable[[int, str], None]
"""Called with the descriptor of a folder and the name of a folder that is not in it."""


@contextmanager
def opened_folder(root: Path, parts: tuple[str, ...], missing: Missing | None = None) -> Iterator[int]:
    """A descriptor of the folder ``parts`` below ``root``, for calls with ``dir_fd``.

    ``missing`` may make a folder that is not there. Raises Changed for a link on the way, and OSError.
    """
    if any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
        raise FileError(RefusalCode.OUTSIDE_PROJECT, f"{'/'.join(parts)!r} is not a path in the project")
    descriptor = os.open(root, _FOLDER)
    try:
        for part in parts:
            try:
                inner = _open_folder(descriptor, part)
            except FileNotFoundError:
                if missing is None:
                    raise
                missing(descriptor, part)
                inner = _open_folder(descriptor, part)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def open_regular(folder: int, name: str, access: int = os.O_RDONLY) -> int:
    """Open the regular file ``name`` of a folder. Raises Changed for a link, SpecialFileError and OSError."""
    # A device or a socket must not even be opened; the second look is at what was opened.
    _check_regular(os.stat(name, dir_fd=folder, follow_symlinks=False), name)
    try:
        descriptor = os.open(name, access | _FILE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise Changed(name) from error
        raise
    try:
        _check_regular(os.fstat(descriptor), name)
    except BaseException:  # a Ctrl+C must not leave it open either
        os.close(descriptor)
        raise
    return descriptor


def is_same(one: int, other: int) -> bool:
    """Whether two descriptors are of the same file or folder."""
    return os.path.samestat(os.fstat(one), os.fstat(other))


def sync(folder: int) -> None:
    """Make the names in a folder durable. Raises OSError."""
    try:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:
        os.sync()  # A folder that cannot be listed cannot be synced by itself.
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open_folder(above: int, name: str) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=above)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(above, name):
            raise Changed(name) from error
        raise


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return True  # It was one when it could not be opened, and is gone.


def _check_regular(status: os.stat_result, name: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise Changed(name)
    if stat.S_ISDIR(status.st_mode):
        raise SpecialFileError(errno.EISDIR, "a folder")
    if not stat.S_ISREG(status.st_mode):
        raise SpecialFileError(errno.EINVAL, "not a regular file")
