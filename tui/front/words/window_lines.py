"""Describes pins, removals and the window in lines of plain text, for every front end."""

from __future__ import annotations

from collections.abc import Iterable

from session.base.events import ContextPinned, ContextRemoved, ContextRestored, ContextUnpinned, Event
from session.base.text.sanitize import clean_line
from session.turn.memory.window_report import LeftOutFile, ReportedPiece, WindowReport

MOST_ALIKE = 12
"""The number of left-out files listed for one reason."""


def context_line(event: Event) -> str | None:
    """One line for a pin or a removal, or None for other events."""
    match event:
        case ContextPinned(target=target):
            return f"pinned {target}: it is in every window as long as it fits"
        case ContextUnpinned(target=target):
            return f"{target} is no longer pinned"
        case ContextRemoved(target=target):
            return f"took out {target}: from the next window on no more than the name is shown"
        case ContextRestored(target=target):
            return f"{target} may be shown again"
        case _:
            return None


def window_lines(window: WindowReport) -> str:
    """The contents of a window in lines, for front ends without the context panel."""
    if window.problem:
        return window.problem
    lines = [f"{window.tokens:,} of {window.budget:,} tokens", kinds_line(window.parts)]
    if not window.complete:
        lines.append(f"built from what is known so far: {window.known:,} of {window.total:,} files")
    for part in window.parts:
        lines.append(f"{part.tokens:>8,}  {part.kind:<20} {clean_line(part.path)}".rstrip())
        lines.append(f"{'':>10}{part.why}{'; sent before' if part.earlier else ''}")
    if window.talk:
        lines.append(f"{window.talk:>8,}  answers, reports and tools")
    if window.left_out:
        lines += ["left out", *left_out_lines(window.left_out)]
    return "\n".join(lines)


def kinds_line(parts: Iterable[ReportedPiece]) -> str:
    """The tokens of each kind of piece, in the order of the window."""
    spent: dict[str, int] = {}
    for part in parts:
        spent[part.kind] = spent.get(part.kind, 0) + part.tokens
    return " · ".join(f"{kind} {tokens:,}" for kind, tokens in spent.items())


def left_out_lines(left_out: Iterable[LeftOutFile]) -> list[str]:
    """The files left out of a window and why: for each reason a few files, and how many more there are."""
    alike: dict[str, list[LeftOutFile]] = {}
    for left in left_out:
        alike.setdefault(left.reason, []).append(left)
    lines: list[str] = []
    # Rare reasons come first: the files of a large project mostly share one.
    for reason, group in sorted(alike.items(), key=lambda item: len(item[1])):
        for left in group[:MOST_ALIKE]:
            tokens = f"{left.tokens:,}" if left.tokens else "–"
            lines.append(f"{tokens:>8}  {clean_line(left.path)}: {left.why}")
        if len(group) > MOST_ALIKE:
            lines.append(f"{'':>10}and {len(group) - MOST_ALIKE:,} more: {reason}")
    return lines
