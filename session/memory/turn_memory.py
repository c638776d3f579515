"""What one turn leaves for the next: the conversation, what the model was shown, what it is owed."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

from context.window.seen import Seen
from edits.report import Outcome, render
from session.memory.edited_files import Knowledge
from session.memory.input_items import Conversation
from session.memory.past_turns import Exchanges
from session.memory.window_report import Account


@dataclass(slots=True)
class TurnMemory:
    """A session's memory between turns. Only the running turn changes it."""

    conversation: Conversation = field(default_factory=Conversation)
    seen: Seen = field(default_factory=Seen)
    knowledge: Knowledge = field(default_factory=Knowledge)
    unreported: list[Outcome] = field(default_factory=list)
    cut_short: str = ""
    """How the last turn ended, in words for the model, when it did not end by itself."""
    exchanges: Exchanges = field(default_factory=Exchanges)
    """The past as plain history, for a window started afresh."""

    account: Account = field(default_factory=Account)
    """The windows that were sent, for the person."""
    unsent: list[str] = field(default_factory=list)
    """Prompts whose turn was interrupted before its request went out; the next request carries them."""

    line_news: list[str] = field(default_factory=list)
    """Remembered and forgotten lines that the model has not been told of, in words for it."""

    def start_afresh(self) -> None:
        """Leave the conversation so far behind: the next window is a first one again."""
        self.conversation.clear()
        self.seen = self.seen.restart()
        self.account.clear()

    def copied(self) -> TurnMemory:
        """As it is now, for a preparation beside a turn: what the turn does next does not reach it.
        The dialogue alone is shared: it is read as a value (``Exchanges.past``)."""
        return replace(
            self,
            conversation=self.conversation.copied(),
            knowledge=self.knowledge.copied(),
            unreported=list(self.unreported),
            account=copy(self.account),
            unsent=list(self.unsent),
            line_news=list(self.line_news),
        )

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
