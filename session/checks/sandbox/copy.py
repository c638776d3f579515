"""A sandbox that is a copy: where the system refuses namespaces, and on systems without them.

The files that git tracks or would track are cloned, which takes no room on file systems that share blocks,
or else copied. Ignored folders, such as installed dependencies, are linked: they are too large to copy. A
copy protects the project's own files; it has no walls, so the note says what a command can still reach.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from context.disk.file_list import Listing, list_git, list_walk
from context.disk.git import Git, GitUnavailable
from session.checks.sandbox.command import Command
from session.checks.sandbox.edits import Edits, write
from session.checks.sandbox.result import End, Outcome
from session.checks.sandbox.sandbox_folder import Box
from session.checks.sandbox.to_the_end import to_the_end
from session.tools.command.process import run_group

_CLONE = 0x40049409
"""FICLONE of ioctl_ficlone(2); other systems than Linux do not know the number and refuse it."""
MOST_FILES = 200_000
MOST_BYTES = 4_000_000_000
"""The most that is copied; a copy is made for each check."""
_PRIVATE = frozenset({".git", ".hg", ".svn", ".jj"})


class TooLarge(Exception):
    """The project is too large to copy; the message says how large it is."""


class CopySandbox:
    """Runs commands in a copy of ``project``; ``why`` says what stands against an overlay."""

    def __init__(self, project: Path, box: Box, why: str) -> None:
        self.root = box.path / "copy" / project.name
        self.note = (
            f"a copy that is not isolated ({why}): commands can reach the network and write outside the "
            "copy, into ignored folders too, which are links"
        )
        self._project = project
        self._box = box
        self._unwanted = False

    def fill(self) -> None:
        """Copy the project. Raises TooLarge, or OSError for a file that cannot be copied."""
        listing = _listing(self._project)
        if len(listing.files) > MOST_FILES:
            raise TooLarge(f"{len(listing.files):,} files are too many to copy; at most {MOST_FILES:,} are")
        size = sum(map(self._size, listing.files))
        if size > MOST_BYTES:
            at_most = f"at most {MOST_BYTES / 1e9:.1f} GB are"
            raise TooLarge(f"{size / 1e9:.1f} GB are too much to copy; {at_most}")
        self.root.mkdir(parents=True)
        for path in listing.files:
            if self._unwanted:
                return
            self._copy(path)
        for path in listing.ignored:
            target = self.root / path
            if target.name not in _PRIVATE and target.parent.is_dir() and not target.exists():
                target.symlink_to(self._project / path, target_is_directory=True)

    def stop(self) -> None:
        """Copy no further: nobody wants the copy any more."""
        self._unwanted = True

    def _size(self, path: str) -> int:
        try:
            return (self._project / path).lstat().st_size
        except OSError:
            return 0  # it is not copied either

    def _copy(self, path: str) -> None:
        source, target = self._project / path, self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # deleted but still in git's index
            if source.is_symlink():
                target.symlink_to(source.readlink())
            elif source.is_file():
                _clone(source, target)

    async def put(self, edits: Edits) -> None:
        """See :class:`Sandbox`."""
        await to_the_end(partial(write, edits, self.root, self._project))

    async def run(self, command: Command, take: Callable[[bytes], bool]) -> Outcome:
        """See :class:`Sandbox`. The limits of memory and disk, and of the network, cannot be held here."""
        seconds = command.seconds
        began = time.monotonic()
        ended = await run_group(
            command.line,
            folder=self.root,
            environ=command.environ,
            seconds=seconds,
            take=take,
            supervised=True,
        )
        took = time.monotonic() - began
        code = ended.code if ended.code >= 0 else 128 - ended.code
        if ended.timed_out:
            return Outcome(End.TIME, code, took, f"did not end within {seconds:g} s")
        return Outcome(End.CUT if ended.cut else End.EXIT, code, took)

    async def remove(self) -> None:
        """See :class:`Sandbox`."""
        await to_the_end(self._box.remove)


def _listing(project: Path) -> Listing:
    try:
        return list_git(Git.open(project))
    except GitUnavailable:
        return list_walk(project)


def _clone(source: Path, target: Path) -> None:
    """Clone a file with its mode, or copy it where the file system cannot share blocks."""
    with source.open("rb") as old, target.open("wb") as new:
        if not _shares_blocks(old.fileno(), new.fileno()):
            shutil.copyfileobj(old, new)
        os.fchmod(new.fileno(), os.fstat(old.fileno()).st_mode & 0o777)


def _shares_blocks(old: int, new: int) -> bool:
    """Make the file open as ``new`` share the blocks of ``old``, and return whether that is possible here."""
    try:
        fcntl.ioctl(new, _CLONE, old)
    except OSError:
        return False
    return True
