"""Events of checks: verdicts on hunks and on the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class HunkChecked(Event):
    """A check has judged a landed hunk in the file as it still is. ``status`` is ``green``, ``red`` or
    ``unclear``; ``message`` says what was found first or why it is unclear, at ``line`` of the file if it is
    known, else 0. ``more`` are the other findings, each as ``line: message``."""

    type: ClassVar[str] = "hunk.checked"
    hunk: str
    path: str
    check: str
    status: str
    line: int = 0
    message: str = ""
    more: tuple[str, ...] = ()

    def findings(self) -> list[tuple[int, str]]:
        """What was found: lines of the file, 0 for one that is not known, and messages."""
        others = [each.partition(": ") for each in self.more]
        placed = [(int(line) if line.isdecimal() else 0, message) for line, _, message in others]
        return [(self.line, self.message), *placed] if self.status == "red" else []


@dataclass(frozen=True, slots=True)
class CheckStarted(Event):
    """A check of the project runs; what it says comes when it has ended."""

    type: ClassVar[str] = "check.started"
    check: str


@dataclass(frozen=True, slots=True)
class CheckEnded(Event):
    """A check of the project has run. ``findings`` are ``path:line: message`` each; ``why`` says how it
    ended where it is not green.

    ``before`` counts what it found before anything changed and finds still; that is not among ``findings``.
    Where there is nothing else, ``status`` is ``as_before``. ``walls`` are those that it ran in:
    ``namespaces``, ``landlock`` or ``none``; empty where it did not run.
    """

    type: ClassVar[str] = "check.ended"
    check: str
    status: str
    seconds: float
    findings: tuple[str, ...] = ()
    why: str = ""
    before: int = 0
    walls: str = ""
