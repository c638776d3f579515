"""One thing that a review found, and the checks that a model's words pass before they count as one."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeGuard

from edits.placing.locate import find
from session.assist.review.change import ReviewedChange, ReviewedFile
from session.base.text.sanitize import clean, clean_line

_LONGEST_MESSAGE = 300
_LONGEST_WHY = 800
_LONGEST_FIX = 200
"""Lines of a fix."""
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")


class Severity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Fix:
    """Lines of the file, and what to put in their place."""

    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewFinding:
    """What is wrong in the lines ``start`` to ``end`` (from 1, both included), and why. ``kind`` names the
    class of fault in a word."""

    path: str
    start: int
    end: int
    severity: Severity
    kind: str
    message: str
    why: str
    fix: Fix | None = None

    @property
    def identity(self) -> tuple[str, str, int]:
        """What makes two findings the same."""
        return self.path, self.kind, self.start


class UnusableError(ValueError):
    """A finding that cannot be shown, since it does not fit the change; the message says why."""


def read_finding(line: str, change: ReviewedChange) -> ReviewFinding:
    """The finding in a line of JSON, checked against the change: the file and lines are part of it, and a
    fix fits in one place. A fix that does not fit is left out. Raises UnusableError."""
    record = _record(line)
    path = record.get("path")
    file = change.file(path) if isinstance(path, str) else None
    if file is None:
        raise UnusableError("it names no file of the change")
    start, end = record.get("start"), record.get("end", record.get("start"))
    if not _is_number(start) or not _is_number(end) or not 1 <= start <= end <= max(len(file.after), 1):
        raise UnusableError(f"{file.path} has no such lines")
    if not file.touches(start, end):
        raise UnusableError(f"its lines of {file.path} were not changed")
    severity = record.get("severity")
    if severity not in list(Severity):
        raise UnusableError("its severity is none of error, warning and note")
    kind = str(record.get("kind", "")).lower().replace("_", "-").replace(" ", "-")
    message = _text(record.get("message"), _LONGEST_MESSAGE)
    if not message:
        raise UnusableError("it has no message")
    return ReviewFinding(
        file.path,
        start,
        end,
        Severity(severity),
        kind if _KIND.fullmatch(kind) else "other",
        message,
        _text(record.get("why"), _LONGEST_WHY),
        _fix(record.get("fix"), file, start, end),
    )


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise UnusableError("it is not JSON") from None
    if not isinstance(record, dict):
        raise UnusableError("it is not a JSON object")
    return record


def _is_number(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(value: object, longest: int) -> str:
    text = clean_line(value) if isinstance(value, str) else ""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _fix(value: object, file: ReviewedFile, start: int, end: int) -> Fix | None:
    """The fix, where its old lines are in one place of the file and meet the finding."""
    if not isinstance(value, dict):
        return None
    old, new = value.get("old"), value.get("new")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    lines, wanted = old.splitlines(), new.splitlines()
    if not lines or lines == wanted or max(len(lines), len(wanted)) > _LONGEST_FIX:
        return None
    if hides(lines, wanted):
        return None
    place = find(file.after, lines)
    if place is None or place[0] + 1 > end or place[1] < start:
        return None
    return Fix(place[0] + 1, tuple(file.after[place[0] : place[1]]), tuple(wanted))


def hides(old: Sequence[str], new: Sequence[str]) -> bool:
    """Whether ``new`` has characters that cannot be seen, and that ``old`` has not: nobody who accepts the
    change could say what it puts in."""
    added = "".join(sorted(set().union(*new) - set().union(*old)))
    return clean(added) != added
