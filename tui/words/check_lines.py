"""What is said of checks."""

from __future__ import annotations

from session.events import CheckEnded, HunkChecked

MOST_FINDINGS = 5
"""Findings that are shown of one check."""


def checked_detail(event: HunkChecked) -> str:
    """What a check found in a hunk, after the check's name; empty where it found nothing."""
    if event.status == "green":
        return ""
    place = f"line {event.line}: " if event.line else ""
    return f"{place}{event.message}"


def check_line(event: CheckEnded) -> str:
    """How a check of the project ended, with its first findings on lines of their own."""
    said = {"green": "passed", "red": "failed", "unclear": "says nothing"}[event.status]
    why = f" · {event.why}" if event.why and event.status != "green" else ""
    head = f"{event.check} {said}{why} · {event.seconds:.1f} s"
    left = len(event.findings) - MOST_FINDINGS
    more = [f"… {left} more"] if left > 0 else []
    return "\n".join([head, *event.findings[:MOST_FINDINGS], *more])
