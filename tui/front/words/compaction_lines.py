"""Describes compactions and remembered lines: the same in the app, in line mode and on standard error."""

from __future__ import annotations

from session.base.events import DialogueCompacted, LedgerProposed, LineForgotten, LineRemembered
from session.base.text.sanitize import clean, clean_line


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
