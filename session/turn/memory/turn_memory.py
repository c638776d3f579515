"""The memory of a session between turns: the conversation, what the model was shown, what it is owed."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace

from context.text.safe import safe_text
from context.window.seen import Seen
from edits.report import Outcome, render
from session.turn.memory.conversation import Conversation
from session.turn.memory.edited_files import EditedFiles
from session.turn.memory.past_turns import PastTurnsFold
from session.turn.memory.window_report import SentWindows


@dataclass(slots=True)
class TurnMemory:
    """A session's memory between turns. Only the running turn changes it."""

    conversation: Conversation = field(default_factory=Conversation)
    seen: Seen = field(default_factory=Seen)
    edited_files: EditedFiles = field(default_factory=EditedFiles)
    unreported: list[Outcome] = field(default_factory=list)
    cut_short: str = ""
    """How the last turn ended, as a sentence for the model; empty if it was completed."""
    past_turns: PastTurnsFold = field(default_factory=PastTurnsFold)
    """The past turns, for the history in a new window."""
    sent_windows: SentWindows = field(default_factory=SentWindows)
    """The windows that were sent, for the user to see."""
    unsent: list[str] = field(default_factory=list)
    """Prompts whose turn was interrupted before its request went out; the next request carries them."""

    line_news: list[str] = field(default_factory=list)
    """Notices of remembered and forgotten lines that the model has not been sent."""

    told_hidden: set[str | None] = field(default_factory=set)
    """Files of which the user was told that they hold hidden characters."""

    def start_afresh(self) -> None:
        """Drop the conversation, so that the next turn starts a new window."""
        self.conversation.clear()
        self.seen = self.seen.restart()
        self.sent_windows.clear()

    def copied(self) -> TurnMemory:
        """A copy for a preparation beside a running turn, which the turn does not change.

        Only ``past_turns`` is shared: it is read as a value (``PastTurnsFold.past``).
        """
        return replace(
            self,
            conversation=self.conversation.copied(),
            edited_files=self.edited_files.copied(),
            unreported=list(self.unreported),
            sent_windows=copy(self.sent_windows),
            unsent=list(self.unsent),
            line_news=list(self.line_news),
            told_hidden=set(self.told_hidden),
        )

    def report(self) -> str:
        """The report for the model: how its last answer ended, and how its edits ended. May be empty."""
        parts = [self.cut_short] if self.cut_short else []
        if self.unreported:
            parts.append(safe_text(render(self.unreported)).text)
        return "\n".join(parts) + "\n" if parts else ""

    def reported(self, count: int) -> None:
        """Record that the model was told the first ``count`` outcomes, and how its last answer ended."""
        self.cut_short = ""
        del self.unreported[:count]

    def take_report(self) -> str:
        """The report, which counts as told from now on."""
        report = self.report()
        self.reported(len(self.unreported))
        return report
