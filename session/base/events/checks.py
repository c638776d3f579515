"""Events of checks and reviews: verdicts on hunks and on the project, findings on save, and next edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class HunkChecked(Event):
    """A check has judged a landed hunk in the file as it still is. ``status`` is ``green``, ``red`` or
    ``unclear``, and ``pending`` where a check of the project judges it later; ``message`` says what was
    found first or why it is unclear, at ``line`` of the file if it is known, else 0. ``more`` are the other
    findings, each as ``line: message``."""

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
    ``namespaces``, ``bubblewrap``, ``landlock``, ``seatbelt`` or ``none``; empty where it did not run.
    Where it is red, ``excerpt`` is what of its output says why, and ``places`` are the lines of the
    project that it names, as ``path:line``.
    """

    type: ClassVar[str] = "check.ended"
    check: str
    status: str
    seconds: float
    findings: tuple[str, ...] = ()
    why: str = ""
    before: int = 0
    walls: str = ""
    excerpt: str = ""
    places: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnJudged(Event):
    """All checks have judged a turn that changed something: ``red`` counts what they found, and ``again``
    says whether a round of auto-fix follows."""

    type: ClassVar[str] = "turn.judged"
    turn: str
    red: int
    again: bool = False


@dataclass(frozen=True, slots=True)
class FindingReported(Event):
    """A review found something wrong in lines ``start`` to ``end`` (from 1, both included) of a saved file.

    ``lines`` are these lines as they were. ``by`` is the check that found it, or ``model``. The fix puts
    ``fix_new`` in the place of the lines ``fix_old``; without old lines there is none.
    """

    type: ClassVar[str] = "finding.reported"
    finding: str
    path: str
    start: int
    end: int
    severity: str
    kind: str
    message: str
    why: str = ""
    by: str = "model"
    lines: tuple[str, ...] = ()
    fix_start: int = 0
    fix_old: tuple[str, ...] = ()
    fix_new: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FindingClosed(Event):
    """A finding is not open any more: ``how`` is ``landed``, ``dismissed`` or ``outdated`` (its lines are
    changed, or a later review did not find it again)."""

    type: ClassVar[str] = "finding.closed"
    finding: str
    how: str


@dataclass(frozen=True, slots=True)
class SaveReviewed(Event):
    """A review on save ended. ``stopped`` says why where it could not be made; empty where it was."""

    type: ClassVar[str] = "save.reviewed"
    files: int
    findings: int
    unusable: int = 0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class NextEditOffered(Event):
    """A place that ``change`` needs too: the lines ``old`` from line ``line`` (from 1) on would be ``new``.
    It is place ``number`` of ``total`` that are offered; there are ``found``, and ``unread`` files that have
    the name were not looked through."""

    type: ClassVar[str] = "next_edit.offered"
    change: str
    path: str
    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    number: int
    total: int
    found: int = 0
    unread: int = 0


@dataclass(frozen=True, slots=True)
class NextEditsOver(Event):
    """Nothing is offered any more. ``without`` are places (``path:line``) that follow the change too, and for
    which there is no text: the user has to look at them."""

    type: ClassVar[str] = "next_edits.over"
    without: tuple[str, ...] = ()
