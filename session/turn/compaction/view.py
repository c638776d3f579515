"""The summary as text for the user."""

from __future__ import annotations

from session.turn.compaction.proposal import with_proposal
from session.turn.compaction.summary_by_rules import summarize
from session.turn.memory.past_turns import PastTurns

_SHOWN = 72
"""Characters of a message's first line that are shown."""


def show_summary(past: PastTurns) -> str:
    """The summary of all turns of ``past``, and the compaction in force, as lines for the user."""
    lines: list[str] = []
    if past.turns:
        summary = with_proposal(summarize(past.turns, whole_last=True), past.proposed, past.turns)
        who = "rules, and a model's account" if summary.by == "model" else "rules"
        lines.append(f"Ledger of {summary.first} to {summary.through} (by {who})")
        lines.append(f"Last instruction: {summary.last}")
        lines += [f"Goal: {entry.text}" for entry in summary.goal]
        for section in summary.sections:
            lines.append(section.title)
            lines += [f"  {entry.block().rstrip()}" for entry in section.entries]
        lines.append("Your messages (kept word for word as long as they fit)")
        for message in summary.messages:
            first = message.text.strip().split("\n", 1)[0]
            cut = first if len(first) <= _SHOWN and first == message.text.strip() else first[:_SHOWN] + " …"
            lines.append(f"  - {message.turn} ({message.state}): {cut}")
    else:
        lines.append("Nothing was asked yet.")
    if past.remembered:
        lines.append("Remembered")
        lines += [f"  {number}: {text}" for number, text in past.remembered]
    if (compacted := past.compacted) is not None:
        lines.append(
            f"In force: the compaction up to {compacted.through}, "
            f"{compacted.before:,} to {compacted.after:,} tokens, by {compacted.by}"
        )
    else:
        lines.append("No compaction is in force: the model has the dialogue in its own words.")
    return "\n".join(lines)
