"""Describes pins, removals, the window, compactions and remembered lines in plain text: the same in every
front end.
"""

from __future__ import annotations

from collections.abc import Iterable

from session.base.events import (
    ContextPinned,
    ContextRemoved,
    ContextRestored,
    ContextUnpinned,
    DialogueCompacted,
    Event,
    LedgerProposed,
    LineForgotten,
    LineRemembered,
)
from session.base.text.sanitize import clean, clean_line
from session.turn.window_report import LeftOutFile, ReportedPiece, WindowReport

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


def compaction_line(event: DialogueCompacted) -> str:
    """A compaction in one line."""
    turns = "1 turn" if event.turns == 1 else f"{event.turns} turns"
    return f"compacted {turns} · {event.before:,} → {event.after:,} tokens · by {clean_line(event.by)}"


def compaction_text(event: DialogueCompacted) -> str:
    """What a compaction kept and dropped, and what replaces the turns."""
    lines = [f"kept: {clean_line(each)}" for each in event.kept]
    lines += [f"dropped: {clean_line(each)}" for each in event.dropped]
    return "\n".join([*lines, "the journal keeps everything; the model is shown:", "", clean(event.text)])


def dialogue_line(event: LedgerProposed | LineRemembered | LineForgotten) -> str:
    """One line for the other events of the conversation."""
    match event:
        case LedgerProposed(rejected=rejected, input_tokens=given, output_tokens=taken):
            but = f", {rejected} of its lines not believed" if rejected else ""
            return f"the model wrote the ledger for the next compaction{but} ({given:,} + {taken:,} tokens)"
        case LineRemembered(line=line, text=text):
            return f"remembered {line}: {clean(text)}"
        case LineForgotten(line=line, text=text):
            return f"forgotten {line}: {clean(text)}"
