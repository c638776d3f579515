"""The outcome of a command in a sandbox."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Walls = Literal["namespaces", "landlock", "none", ""]
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
