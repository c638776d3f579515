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

    def take_report(self) -> str:
        """The report that the model is owed; it is owed no more. Empty where there is none."""
        parts = [self.cut_short] if self.cut_short else []
        if self.unreported:
            parts.append(render(self.unreported).rstrip("\n"))
        self.cut_short, self.unreported = "", []
        return "\n".join(parts) + "\n" if parts else ""
