"""One thing that a review found, and the checks that a model's words pass before they count as one.

Findings are also written as SARIF 2.1.0, the format that code hosts and editors read. Source:
https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from edits.placing.locate import find
from session.assist.review.change import ReviewedChange, ReviewedFile
from session.base.text.sanitize import clean, clean_line

_LONGEST_MESSAGE = 300
_LONGEST_WHY = 800
_LONGEST_FIX = 200
"""Lines of a fix."""
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_NUMBER = re.compile(r"\s*[Ll]?(\d{1,9})\s*")
_PAIR = re.compile(r"\s*[Ll]?(\d{1,9})\s*[-–:,]\s*[Ll]?(\d{1,9})\s*")
_LINE_BEHIND = re.compile(r":(\d{1,9})(?::\d+)?$")
PATH = ("path", "file", "filename", "file_path")
"""The names that models give to the fields of a finding: the first are those that are asked for."""
_START = ("start", "start_line", "line", "lines", "line_number")
_END = ("end", "end_line")
_MESSAGE = ("message", "description", "title", "summary")
_WHY = ("why", "explanation", "reason")
_KINDS = ("kind", "type", "category")


class Severity(StrEnum):
    """The severity of a finding."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_SEVERITIES = {
    Severity.ERROR: frozenset(["error", "critical", "fatal", "blocker", "high", "severe", "major"]),
    Severity.WARNING: frozenset(["warning", "warn", "medium", "moderate"]),
    Severity.NOTE: frozenset(["note", "info", "informational", "low", "minor", "hint", "suggestion", "nit"]),
}
"""The words that mean each."""


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


class UnusableError(ValueError):
    """A finding that cannot be shown, since it cannot be read or names what nobody was shown; the message
    says why."""


class UnchangedError(UnusableError):
    """A finding on lines beside the change, which is not what was asked for."""


def read_finding(record: Mapping[str, Any], change: ReviewedChange) -> ReviewFinding:
    """The finding that a model wrote as ``record``, checked against the change: the file and lines are part
    of it, and a fix fits in one place. A fix that does not fit is left out. Raises UnusableError."""
    file = _file(_first(record, PATH), change)
    if file is None:
        raise UnusableError("it names no file of the change")
    start, end = _lines(record)
    if start is None or end is None or not 1 <= start <= end <= max(len(file.after), 1):
        raise UnusableError(f"{file.path} has no such lines")
    severity = _severity(record.get("severity", record.get("level")))
    if severity is None:
        raise UnusableError("its severity is none of error, warning and note")
    message = _text(_first(record, _MESSAGE), _LONGEST_MESSAGE)
    if not message:
        raise UnusableError("it has no message")
    if not file.touches(start, end):
        why = f"{file.path}:{start}: {severity}: {message}: its lines were not changed"
        raise UnchangedError(why) if file.shows(start, end) else UnusableError(why)
    kind = str(_first(record, _KINDS) or "").lower().replace("_", "-").replace(" ", "-")
    return ReviewFinding(
        file.path,
        start,
        end,
        severity,
        kind if _KIND.fullmatch(kind) else "other",
        message,
        _text(_first(record, _WHY), _LONGEST_WHY),
        _fix(record.get("fix"), file, start, end),
    )


def _first(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _file(path: Any, change: ReviewedChange) -> ReviewedFile | None:
    """The file that ``path`` names, as it is or as git writes it. Without a path, that of a change of one."""
    if path is None:
        return change.files[0] if len(change.files) == 1 else None
    if not isinstance(path, str):
        return None
    short = path.removeprefix("./")
    tries = [path, short, short.removeprefix("a/"), short.removeprefix("b/"), _LINE_BEHIND.sub("", short)]
    return next((file for each in tries if (file := change.file(each)) is not None), None)


def _lines(record: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """The first and last line, from 1; None where they cannot be read."""
    said = _first(record, _START)
    if (
        said is None
        and isinstance(path := _first(record, PATH), str)
        and (behind := _LINE_BEHIND.search(path))
    ):
        said = behind[1]
    if isinstance(said, list) and len(said) in (1, 2):
        start, end = _number(said[0]), _number(said[-1])
    elif isinstance(said, str) and (pair := _PAIR.fullmatch(said)):
        start, end = int(pair[1]), int(pair[2])
    else:
        start = end = _number(said)
    last = _first(record, _END)
    return start, end if last is None else _number(last)


def _number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and (found := _NUMBER.fullmatch(value)):
        return int(found[1])
    return value if isinstance(value, int) else None


def _severity(value: object) -> Severity | None:
    word = value.strip().lower() if isinstance(value, str) else ""
    return next((severity for severity, words in _SEVERITIES.items() if word in words), None)


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


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif(findings: Sequence[ReviewFinding], version: str, code: int, problem: str) -> dict[str, Any]:
    """One run with all ``findings``; ``version`` is spark's, ``code`` the exit code. ``problem`` says why the
    review is none, or not the whole; empty where it is."""
    kinds = sorted({finding.kind for finding in findings})
    invocation: dict[str, Any] = {"executionSuccessful": not problem, "exitCode": code}
    if problem:
        told = {"level": "error", "message": {"text": problem}}
        invocation |= {"exitCodeDescription": problem, "toolExecutionNotifications": [told]}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "spark", "version": version, "rules": [{"id": kind} for kind in kinds]}
                },
                "invocations": [invocation],
                "columnKind": "unicodeCodePoints",
                "results": [_result(finding, kinds.index(finding.kind)) for finding in findings],
            }
        ],
    }


def _result(finding: ReviewFinding, rule: int) -> dict[str, Any]:
    text = f"{finding.message} {finding.why}".strip()
    place = {
        "artifactLocation": {"uri": quote(finding.path)},
        "region": {"startLine": finding.start, "endLine": finding.end},
    }
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": rule,
        "level": str(finding.severity),
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }
    if finding.fix is not None:
        result["fixes"] = [_sarif_fix(finding.path, finding.fix)]
    return result


def _sarif_fix(path: str, fix: Fix) -> dict[str, Any]:
    after = fix.start + len(fix.old)
    region = {"startLine": fix.start, "startColumn": 1, "endLine": after, "endColumn": 1}
    new = "".join(f"{line}\n" for line in fix.new)
    replaced = {"deletedRegion": region, "insertedContent": {"text": new}}
    return {"artifactChanges": [{"artifactLocation": {"uri": quote(path)}, "replacements": [replaced]}]}
