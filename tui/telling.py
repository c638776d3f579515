"""What is pinned or taken out, and what a window holds, in lines of plain text: for every front end."""

from __future__ import annotations

from session.events import ContextPinned, ContextRemoved, ContextRestored, ContextUnpinned, Event
from session.explanation import Explanation
from session.sanitize import clean_line

MOST_LEFT_OUT = 40
"""Lines of what was left out, where it is told in lines."""


def context_line(event: Event) -> str | None:
    """One line that tells what was pinned or taken out, or None for other events."""
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


def window_lines(window: Explanation) -> str:
    """What a window holds, in lines: for where there is no panel."""
    if window.problem:
        return window.problem
    lines = [f"{window.tokens:,} of {window.budget:,} tokens"]
    if not window.complete:
        lines.append(f"built from what is known so far: {window.known:,} of {window.total:,} files")
    for part in window.parts:
        lines.append(f"{part.tokens:>8,}  {part.kind:<20} {clean_line(part.path)}".rstrip())
        lines.append(f"{'':>10}{part.why}{'; sent before' if part.earlier else ''}")
    if window.talk:
        lines.append(f"{window.talk:>8,}  answers, reports and tools")
    shown = window.left_out[:MOST_LEFT_OUT]
    lines += [f"{left.tokens:>8,}  not there: {clean_line(left.path)}: {left.why}" for left in shown]
    if len(window.left_out) > len(shown):
        lines.append(f"          and {len(window.left_out) - len(shown):,} more")
    return "\n".join(lines)
