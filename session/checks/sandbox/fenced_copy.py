"""A sandbox that is a copy: where the system refuses namespaces, and on systems without them.

The files that git tracks or would track are cloned, which takes no room on file systems that share blocks,
or else copied. Ignored folders, such as installed dependencies, are linked: they are too large to copy.

Commands run in it within bubblewrap, behind a fence (``fence.py``) or behind Seatbelt: the first of these
that the machine has. Where there is none, they do not run unless the user agreed to that for this project.
"""

from __future__ import annotations

import contextlib
import fcntl
import marshal
import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from context.disk.file_list import Listing, list_git, list_walk
from context.disk.git import Git, GitUnavailable
from session.base.storage.private_files import StoreError
from session.checks.sandbox.bubblewrap import bubblewrap
from session.checks.sandbox.command import Command, Edits, End, Outcome, SandboxRefused, Walls, write
from session.checks.sandbox.fence import NOT_STARTED
from session.checks.sandbox.fence_plan import (
    PROGRAM,
    NoFenceError,
    fence_plan,
    inner_plan,
    leaks,
    own_folders,
    writable,
)
from session.checks.sandbox.plan import View
from session.checks.sandbox.sandbox_folder import Box, to_the_end
from session.checks.sandbox.seatbelt import seatbelt
from session.checks.sandbox.written import Written, next_tick, signature, written_in_copy
from session.tools.command.process import run_group

_CLONE = 0x40049409
"""FICLONE of ioctl_ficlone(2); other systems than Linux do not know the number and refuse it."""
_PACKAGES = Path(__file__).parents[3]
MOST_FILES = 200_000
MOST_BYTES = 4_000_000_000
"""The most that is copied; a copy is made for each check."""
_PRIVATE = frozenset({".git", ".hg", ".svn", ".jj"})


class TooLarge(Exception):
    """The project is too large to copy; the message says how large it is."""


HOW_TO_AGREE = "spark check --without-walls agree"


class CopySandbox:
    """Runs commands in a copy of ``project``; ``why`` says what stands against an overlay.

    ``view`` is what they may see, and ``agreed`` tells whether they may run where there are no walls.
    """

    def __init__(
        self, project: Path, box: Box, why: str, view: View, agreed: Callable[[], bool] = lambda: False
    ) -> None:
        self.root = box.path / "copy" / project.name
        self.walls: Walls = ""
        self.note = ""
        self._why = why
        self._view = view
        self._agreed = agreed
        self._project = project
        self._box = box
        self._unwanted = False
        self._began = 0
        self._filled: dict[str, tuple[int, ...]] = {}
        """How each file of the copy was before any command."""

    def fill(self) -> None:
        """Copy the project. Raises TooLarge, or OSError for a file that cannot be copied."""
        listing = _listing(self._project)
        if len(listing.files) > MOST_FILES:
            raise TooLarge(f"{len(listing.files):,} files are too many to copy; at most {MOST_FILES:,} are")
        size = sum(map(self._size, listing.files))
        if size > MOST_BYTES:
            at_most = f"at most {MOST_BYTES / 1e9:.1f} GB are"
            raise TooLarge(f"{size / 1e9:.1f} GB are too much to copy; {at_most}")
        self._began = next_tick()
        self.root.mkdir(parents=True)
        for path in listing.files:
            if self._unwanted:
                return
            self._copy(path)
        for path in listing.ignored:
            target = self.root / path
            if target.name not in _PRIVATE and target.parent.is_dir() and not target.exists():
                target.symlink_to(self._project / path, target_is_directory=True)
                self._filled[path] = signature(target.lstat())

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
            self._filled[path] = signature(target.lstat())

    async def put(self, edits: Edits) -> None:
        """See :class:`Sandbox`."""
        await to_the_end(partial(write, edits, self.root, self._project))

    async def run(self, command: Command, take: Callable[[bytes], bool]) -> Outcome:
        """See :class:`Sandbox`. The limits of memory and disk hold for each process alone."""
        missing = []
        for walls, words, make in self._fences():
            try:
                line, note = await to_the_end(partial(make, command))
            except NoFenceError as problem:
                missing.append(str(problem))
                continue
            self.walls = walls
            outcome = await self._run(command, line, {**command.environ, **own_folders(self.root)}, take)
            started = walls != "landlock" or outcome.end is not End.EXIT or outcome.code != NOT_STARTED
            if started or not (why := await to_the_end(self._report)):
                self.note = f"a copy {words} ({self._why}): {note}"
                return outcome
            missing.append(why)
        return await self._without_walls(command, take, "; ".join(missing))

    def _fences(self) -> Sequence[tuple[Walls, str, Callable[[Command], tuple[list[str], str]]]]:
        """The fences to try, in order: their names, what is said of them, and what gives the line that runs a
        command behind each, with what passes it. That raises NoFenceError and OSError."""
        if sys.platform == "darwin":
            return [("seatbelt", "behind Seatbelt, without sockets", self._by_seatbelt)]
        return [
            ("bubblewrap", "within bubblewrap", self._by_bubblewrap),
            ("landlock", "behind a fence, without sockets", self._by_landlock),
        ]

    async def _without_walls(self, command: Command, take: Callable[[bytes], bool], no_fence: str) -> Outcome:
        try:
            agreed = await to_the_end(self._agreed)
        except StoreError as problem:
            raise SandboxRefused(str(problem)) from problem
        if not agreed:
            raise SandboxRefused(
                f"this machine has no walls ({self._why}; {no_fence}), so it could read your keys, write "
                f"anywhere and reach the network. To run it all the same in this project: {HOW_TO_AGREE}"
            )
        self.walls = "none"
        self.note = (
            f"a copy without walls ({self._why}; {no_fence}), as you agreed: commands can read your keys, "
            "reach the network and write outside the copy, into ignored folders too, which are links"
        )
        return await self._run(command, command.line, command.environ, take)

    def _by_bubblewrap(self, command: Command) -> tuple[list[str], str]:
        told = inner_plan(self._view, command.limits, project=self._project, copy=self.root)
        line = bubblewrap(
            self._view,
            project=self._project,
            copy=self.root,
            writable=self._writable(),
            network=command.network,
            environ=command.environ,
        )
        passes = "" if told["readable"] else ", and named pipes of your home folder can be written to"
        return [*line, *self._inner(told, command)], f"limits hold for each process alone{passes}"

    def _by_landlock(self, command: Command) -> tuple[list[str], str]:
        self._writable()
        told = fence_plan(
            self._view, command.limits, project=self._project, copy=self.root, network=command.network
        )
        (self._box.path / "report").unlink(missing_ok=True)
        return self._inner(told, command), leaks()

    def _by_seatbelt(self, command: Command) -> tuple[list[str], str]:
        line = seatbelt(
            self._view,
            command.limits,
            project=self._project,
            writable=self._writable(),
            network=command.network,
        )
        return [*line, *command.line], "memory and processes are not limited"

    def _inner(self, told: dict[str, Any], command: Command) -> list[str]:
        file = self._box.path / "plan"
        file.write_bytes(marshal.dumps(told))
        return [sys.executable, "-I", "-S", str(PROGRAM), str(_PACKAGES), str(file), *command.line]

    def _writable(self) -> list[str]:
        """The folders that commands may write to, which are made."""
        for folder in (folders := writable(self.root)):
            Path(folder).mkdir(parents=True, exist_ok=True)
        return folders

    def _report(self) -> str:
        """Why the fence could not be put up; empty if it was."""
        try:
            return (self._box.path / "report").read_text("utf-8")
        except FileNotFoundError:
            return "it did not start"

    async def _run(
        self,
        command: Command,
        line: Sequence[str],
        environ: Mapping[str, str],
        take: Callable[[bytes], bool],
    ) -> Outcome:
        seconds = command.seconds
        began = time.monotonic()
        ended = await run_group(
            line, folder=self.root, environ=environ, seconds=seconds, take=take, supervised=True
        )
        took = time.monotonic() - began
        code = ended.code if ended.code >= 0 else 128 - ended.code
        if ended.timed_out:
            return Outcome(End.TIME, code, took, f"did not end within {seconds:g} s")
        return Outcome(End.CUT if ended.cut else End.EXIT, code, took)

    async def written(self) -> Written:
        """See :class:`Sandbox`."""
        return await to_the_end(partial(written_in_copy, self.root, self._project, self._filled, self._began))

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
