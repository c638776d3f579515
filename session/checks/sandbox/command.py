"""A command for a sandbox: what to run, the files that are written before it runs, and its outcome."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Literal

from session.checks.sandbox.plan import Limits


@dataclass(frozen=True, slots=True)
class Command:
    """One command. It is ended after ``seconds``, and where it passes one of its ``limits``."""

    line: Sequence[str]
    """The program and its arguments."""
    seconds: float
    environ: Mapping[str, str] = field(default_factory=dict, repr=False)
    limits: Limits = field(default_factory=Limits)
    network: bool = False
    keeps: bool = False
    """Whether what it writes is asked for afterwards."""


Edits = Mapping[str, bytes | None]
"""The new contents of files by their paths relative to the project's root; None for a deleted file."""


def write(edits: Edits, folder: Path, project: Path) -> None:
    """Write ``edits`` below ``folder``, with the permissions that files and folders have in ``project``.

    Links on the way are never followed: they are replaced, since what they lead to is not the sandbox's.
    Raises OSError.
    """
    for path, content in edits.items():
        target = folder / path
        if content is None:
            _delete(folder, PurePosixPath(path))
            continue
        _make_folders(folder, PurePosixPath(path).parent, project)
        with contextlib.suppress(FileNotFoundError):
            target.unlink()
        with target.open("xb") as file:
            file.write(content)
            os.fchmod(file.fileno(), _mode(project / path, 0o644))


def _delete(folder: Path, path: PurePosixPath) -> None:
    if any((folder / parent).is_symlink() for parent in path.parents if parent.parts):
        return  # the file is behind a link, so it is no file of the sandbox
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        (folder / path).unlink()


def _make_folders(folder: Path, below: PurePosixPath, project: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = PurePosixPath()
    for part in below.parts:
        made /= part
        target = folder / made
        if target.is_symlink():
            target.unlink()
        if not target.is_dir():
            target.mkdir()
            target.chmod(_mode(project / made, 0o755))


def _mode(file: Path, otherwise: int) -> int:
    """The permissions of ``file``, or ``otherwise`` where there is none."""
    try:
        return stat.S_IMODE(file.stat().st_mode) & 0o777
    except OSError:
        return otherwise


Walls = Literal["namespaces", "bubblewrap", "landlock", "seatbelt", "none", ""]
"""The walls that a command ran in; empty where it did not run."""


class End(StrEnum):
    """The reason why a command ended."""

    EXIT = "exit"
    """It ended by itself."""
    TIME = "time"
    MEMORY = "memory"
    PROCESSES = "processes"
    DISK = "disk"
    CUT = "cut"
    """The reader of its output wanted no more of it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a command: ``code`` is its exit code, or 128 plus a signal's number; ``why`` says which
    limit it passed."""

    end: End
    code: int
    seconds: float
    why: str = ""


class SandboxRefused(Exception):
    """The system refuses to make a sandbox of this kind; the message says why."""
