"""Looks at what a worker answered before it is believed: its types and sizes, and that it is about the check.

A worker is trusted with code on this machine, since Dask's messages are Python objects. What is held here is
what a broken worker, or one of another version, can do: end spark, keep a race waiting, write to a screen.
"""

from __future__ import annotations

import math
from pathlib import PurePosixPath
from typing import Any

from session.base.text.sanitize import clean, clean_line
from session.checks.check import Check
from session.checks.finding import Finding, Status, Verdict
from session.checks.output import MOST_FINDINGS
from session.checks.runner import LAST_LINES, LONGEST_LAST
from session.race.cluster.job import Answer

LONGEST_LINE = 1_000
LONGEST_TEXT = LAST_LINES * (LONGEST_LAST + 1)
_LAST_LINE = 10**8
_LONGEST_PATH = 4_096


class OddAnswerError(Exception):
    """An answer that no worker of this version gives; the message says what is odd."""


def looked_at(found: object, check: Check) -> Answer:
    """``found`` as the answer to ``check``, with its texts made safe to show. Raises OddAnswerError."""
    if type(found) is not Answer:
        raise OddAnswerError("no answer that this spark understands")
    worker, differs = (_line(text, LONGEST_LINE) for text in (found.worker, found.differs))
    if found.verdict is None:
        if not differs:
            raise OddAnswerError("neither a verdict nor why there is none")
        return Answer(worker, None, differs)
    return Answer(worker, _verdict(found.verdict, check), differs)


def shown_problem(problem: object) -> str:
    """An exception from elsewhere in one line: its kind, and the first line of what it says."""
    kind = clean_line(type(problem).__name__)[:LONGEST_LINE]
    try:
        lines = str(problem)[:LONGEST_TEXT].strip().splitlines()
    except Exception:  # noqa: BLE001 - its class is not ours, and may fail at anything
        lines = []
    said = clean_line(lines[0])[:LONGEST_LINE] if lines else ""
    return f"{kind}: {said}" if said else kind


def _verdict(verdict: Any, check: Check) -> Verdict:
    if type(verdict) is not Verdict or type(verdict.status) is not Status:
        raise OddAnswerError("a verdict that this spark does not understand")
    if type(verdict.check) is not Check or verdict.check != check:
        raise OddAnswerError("a verdict for another check")
    if type(verdict.seconds) is not float or not math.isfinite(verdict.seconds) or verdict.seconds < 0:
        raise OddAnswerError("a time that cannot be")
    if type(verdict.findings) is not tuple or len(verdict.findings) > MOST_FINDINGS:
        raise OddAnswerError("findings that this spark does not understand")
    if type(verdict.ran) is not bool:
        raise OddAnswerError("a verdict that this spark does not understand")
    return Verdict(
        check,
        verdict.status,
        verdict.seconds,
        tuple(map(_finding, verdict.findings)),
        _line(verdict.why, LONGEST_LINE),
        clean(_text(verdict.last)[:LONGEST_TEXT]),
        _line(verdict.note, LONGEST_LINE),
        verdict.ran,
    )


def _finding(finding: Any) -> Finding:
    if type(finding) is not Finding or type(finding.line) is not int or not 0 <= finding.line < _LAST_LINE:
        raise OddAnswerError("findings that this spark does not understand")
    path = _text(finding.path)
    parts = PurePosixPath(path[: _LONGEST_PATH + 1])
    if not parts.parts or parts.is_absolute() or ".." in parts.parts or "\0" in path:
        raise OddAnswerError("a finding outside of the project")
    if len(path) > _LONGEST_PATH:
        raise OddAnswerError("a finding in no file")
    return Finding(path, finding.line, _line(finding.message, LONGEST_LINE))


def _line(text: Any, most: int) -> str:
    return clean_line(_text(text)[: most * 4])[:most]


def _text(text: Any) -> str:
    if type(text) is not str:
        raise OddAnswerError("a text that is none")
    return text
