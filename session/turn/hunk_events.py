"""Makes the events about a hunk: the question to the user, and how the hunk ended."""

from __future__ import annotations

from edits.hunk import Landed, Refused
from edits.report import NotReceived
from session.base.events import HunkDropped, HunkHeld, HunkLanded, HunkRedone, HunkRefused, HunkUndone
from session.base.text.sanitize import clean, clean_line
from session.turn.hunk_life import HunkOutcome, Question


def held_event(hunk: str, question: Question, turn: str) -> HunkHeld:
    """The event that puts a question about a hunk to the user."""
    path, message = clean_line(question.path), clean(question.message)
    return HunkHeld(turn=turn, hunk=hunk, path=path, guard=question.guard, message=message)


def outcome_event(outcome: HunkOutcome, turn: str) -> HunkLanded | HunkRefused | HunkDropped:
    """The event for the end of a hunk."""
    if isinstance(outcome, NotReceived):
        return HunkDropped(turn=turn, hunk=outcome.hunk, path=clean_line(outcome.path))
    return landed_event(outcome, turn)


def landed_event(result: Landed | Refused, turn: str) -> HunkLanded | HunkRefused:
    """The event for the result of a landing."""
    if isinstance(result, Refused):
        return refused_event(result, turn)
    path, moved_to = _paths(result)
    return HunkLanded(
        turn=turn,
        hunk=result.hunk,
        path=path,
        status=result.status.value,
        tier=int(result.rung),
        start=result.start,
        end=result.end,
        action=result.action.value,
        moved_to=moved_to,
        added=result.extent.added,
        removed=result.extent.removed,
        sample=clean_line(result.extent.sample),
    )


def undone_event(result: Landed, why: str = "") -> HunkUndone:
    """The event for a hunk that was undone; ``why`` is the user's word on it."""
    path, moved_to = _paths(result)
    return HunkUndone(
        hunk=result.hunk, path=path, start=result.start, end=result.end, moved_to=moved_to, why=why
    )


def redone_event(result: Landed) -> HunkRedone:
    """The event for a hunk that landed again."""
    path, moved_to = _paths(result)
    return HunkRedone(hunk=result.hunk, path=path, start=result.start, end=result.end, moved_to=moved_to)


def _paths(result: Landed) -> tuple[str, str | None]:
    return clean_line(result.path), clean_line(result.moved_to) if result.moved_to else None


def refused_event(result: Refused, turn: str) -> HunkRefused:
    """The event that says why a hunk was not landed."""
    return HunkRefused(
        turn=turn,
        hunk=result.hunk,
        path=clean_line(result.path),
        code=result.code.value,
        message=clean(result.message),
    )
