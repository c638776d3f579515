"""Prints the events of a turn for commands without a screen: as text, or as lines of JSON."""

from __future__ import annotations

import time
from collections.abc import Callable

from session.base.events import (
    ApplyEnded,
    AttemptAgain,
    AttemptChecked,
    AttemptEnded,
    AttemptStarted,
    BaselineChecked,
    CheckEnded,
    ConnectionChanged,
    DialogueCompacted,
    Event,
    HunkChecked,
    HunkDropped,
    HunkLanded,
    HunkOpened,
    HunkRefused,
    Notice,
    RaceEnded,
    RaceStarted,
    ReadingHeld,
    ReasoningDelta,
    TextDelta,
    ToolCalled,
    ToolEnded,
    TurnEnded,
    TurnJudged,
    TurnStarted,
    Usage,
    to_dict,
)
from session.base.text.wording import line_range
from tui.front.printing import PieceWriter, say, say_json
from tui.front.words.check_lines import check_line, checked_detail, race_line
from tui.front.words.window_lines import compaction_line

PRINTED = (
    TurnStarted,
    TextDelta,
    ReasoningDelta,
    HunkOpened,
    HunkLanded,
    HunkRefused,
    HunkDropped,
    ToolCalled,
    ToolEnded,
    Usage,
    TurnEnded,
    Notice,
    ApplyEnded,
    DialogueCompacted,
    RaceStarted,
    BaselineChecked,
    AttemptStarted,
    AttemptChecked,
    AttemptAgain,
    AttemptEnded,
    RaceEnded,
    HunkChecked,
    CheckEnded,
    TurnJudged,
)
"""The events that ``--json`` prints: the documented ones, and some that readers may ignore."""

Printer = Callable[[Event], None]


def json_printer(began: float) -> Printer:
    """Prints each event as one JSON object with ``t``, the seconds since ``began`` (monotonic)."""

    def show(event: Event) -> None:
        if isinstance(event, PRINTED):
            record = {**to_dict(event), "t": round(time.monotonic() - began, 4)}
            if isinstance(event, RaceEnded):
                record["winner"] = event.winner  # null without one
            if record.get("turn") == "":  # applied edits belong to no turn
                del record["turn"]
            say_json(record)

    return show


def text_printer() -> Printer:
    """Prints the answer on standard output, and hunks and problems on standard error."""

    answer = PieceWriter()

    def show(event: Event) -> None:
        match event:
            case TextDelta(text=text):
                answer.write(text)
            case Notice(text=text) | ConnectionChanged(state="connecting" | "ready", message=str(text)):
                say(f"spark: {text}", err=True)
            case ConnectionChanged(state="waiting", message=text, seconds=seconds) if (seconds or 0) >= 1:
                say(f"spark: {text} (again in {seconds:.0f} s)", err=True)
            case ReadingHeld(reason=reason) if reason:
                say(f"spark: {reason}: it is not indexed", err=True)
            case DialogueCompacted():
                say(f"spark: {compaction_line(event)}", err=True)
            case TurnEnded(status=status, message=message):
                answer.end()
                if message:
                    say(f"spark: {message}", err=True)
                elif status != "completed":
                    say(f"spark: {status}", err=True)
            case _ if (line := fate_line(event)) is not None:
                say(line, err=True)
            case _:
                pass

    return show


def fate_line(event: Event) -> str | None:
    """One line that tells what came of a hunk or a tool call, or None for other events."""
    match event:
        case HunkLanded(
            hunk=hunk, path=path, status=status, action=action, start=start, end=end, moved_to=moved
        ):
            where = f"{path} -> {moved}" if moved else f"{path}{line_range(start, end)}"
            done = {"update": "landed", "add": "added", "delete": "deleted", "move": "moved"}.get(
                action, action
            )
            note = {"applied": "", "applied_fuzzy": " (fuzzy)", "already_applied": " (was there already)"}
            return f"{hunk} {done} {where}{note.get(status, '')}"
        case HunkRefused(hunk=hunk, path=path, message=message):
            return f"{' '.join(filter(None, (hunk, 'refused', path)))}: {message}"
        case HunkDropped(hunk=hunk, path=path):
            return f"{hunk} not received {path}"
        case HunkChecked(hunk=hunk, check=check, status=status) if status != "green":
            return f"{hunk} {check}: {status}: {checked_detail(event)}"
        case CheckEnded():
            return check_line(event)
        case ToolEnded(line=line, status=status):
            return line if status in ("done", "failed") else f"{line} ({status})"
        case _:
            return race_line(event)
