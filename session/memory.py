"""What one turn leaves for the next: the conversation, what the model was shown, what it is owed."""

from __future__ import annotations

from dataclasses import dataclass, field

from context.seen import Seen
from edits.report import Outcome, render
from session.conversation import Conversation
from session.exchanges import Exchanges
from session.knowledge import Knowledge


@dataclass(slots=True)
class Memory:
    """A session's memory between turns. Only the running turn changes it."""

    conversation: Conversation = field(default_factory=Conversation)
    seen: Seen = field(default_factory=Seen)
    knowledge: Knowledge = field(default_factory=Knowledge)
    unreported: list[Outcome] = field(default_factory=list)
    cut_short: str = ""
    """How the last turn ended, in words for the model, when it did not end by itself."""
    exchanges: Exchanges = field(default_factory=Exchanges)
    """The past as plain history, for a window started afresh."""

    unsent: list[str] = field(default_factory=list)
    """Prompts whose turn was interrupted before its request went out; the next request carries them."""

    line_news: list[str] = field(default_factory=list)
    """Remembered and forgotten lines that the model has not been told of, in words for it."""

    def report(self) -> str:
        """What the model is owed: how its last answer ended, what became of its edits. May be empty."""
        parts = [self.cut_short] if self.cut_short else []
        if self.unreported:
            parts.append(render(self.unreported))
        return "\n".join(parts) + "\n" if parts else ""

    def reported(self, count: int) -> None:
        """The first ``count`` unreported outcomes, and how the last answer ended, have been told."""
        self.cut_short = ""
        del self.unreported[:count]

    def take_report(self) -> str:
        """The report, told now."""
        report = self.report()
        self.reported(len(self.unreported))
        return report
