"""Lines about agreed checks, and about files that a turn left with a syntax error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from session.events import CheckEnded, HunkChecked
from tui.words.exact_text import exact_lines

if TYPE_CHECKING:
    from session.checks.check import Check

MOST_FINDINGS = 5
"""Findings that are shown of one check."""

_SAID = {
    "green": "passed",
    "red": "failed",
    "as_before": "failed as before any change",
    "unclear": "says nothing",
}


def checked_detail(event: HunkChecked) -> str:
    """What a check found in a hunk, after the check's name; empty where it found nothing."""
    if event.status == "green":
        return ""
    place = f"line {event.line}: " if event.line else ""
    return f"{place}{event.message}"


def check_line(event: CheckEnded) -> str:
    """How a check of the project ended, with its first findings on lines of their own."""
    said = _SAID.get(event.status, event.status)
    why = f" · {event.why}" if event.why and event.status != "green" else ""
    before = f" · {event.before} found before any change" if event.before else ""
    head = f"{event.check} {said}{why}{before} · {event.seconds:.1f} s"
    left = len(event.findings) - MOST_FINDINGS
    more = [f"… {left} more"] if left > 0 else []
    return "\n".join([head, *event.findings[:MOST_FINDINGS], *more])


def listed_checks(checks: Sequence[tuple[Check, bool]]) -> str:
    """The checks of a project, a line each: name, whether it is agreed to, and the exact command."""
    return "\n".join(
        f"{check.name}{' (agreed)' if agreed else ''}: {exact_command(check)} · from {check.source}"
        for check, agreed in checks
    )


def exact_command(check: Check) -> str:
    """The command on one line, with what cannot be seen written out."""
    return " ⏎ ".join(exact_lines(check.command))


def broken_line(path: str, message: str, hunks: Sequence[str]) -> str:
    """Which file, what is wrong where, and since which hunks."""
    since = f", since {hunk_names(hunks)}" if hunks else ""
    return f"{path}: {message}{since}"


def hunk_names(hunks: Sequence[str]) -> str:
    """``h1``, ``h1 and h2``, ``h1, h2 and h3``, or the first, the last and how many."""
    if len(hunks) > 4:
        return f"{hunks[0]} to {hunks[-1]} ({len(hunks)} hunks)"
    return " and ".join([*([", ".join(hunks[:-1])] if len(hunks) > 1 else []), *hunks[-1:]])
