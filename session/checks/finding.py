"""One thing a check found, and the verdict of a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from session.base.text.sanitize import clean
from session.checks.check import Check
from session.checks.sandbox.result import Walls


class Status(StrEnum):
    """The status of a check."""

    GREEN = "green"
    RED = "red"
    UNCLEAR = "unclear"
    """It did not run, or did not end by itself, so it says nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A place and what is wrong there; ``line`` is 0 where only the file is known."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        path = clean(self.path)  # an attempt may name a file as it likes
        place = f"{path}:{self.line}" if self.line else path
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of one run of a check. ``last`` are the last lines of its output, for where no finding has a
    place; ``note`` says what the sandbox could not hold back."""

    check: Check
    status: Status
    seconds: float
    findings: tuple[Finding, ...] = ()
    why: str = ""
    """Why it is unclear, or how it ended."""
    last: str = ""
    note: str = ""
    ran: bool = True
    """Whether its command could be run at all."""
    walls: Walls = ""
    """The walls it ran in."""
