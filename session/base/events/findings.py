"""Events of reviews on save, and of next edits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


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
    It is place ``number`` of ``total``."""

    type: ClassVar[str] = "next_edit.offered"
    change: str
    path: str
    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class NextEditsOver(Event):
    """Nothing is offered any more."""

    type: ClassVar[str] = "next_edits.over"
