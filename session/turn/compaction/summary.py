"""The summary of turns that the model is no longer shown, and its form as text.

Every part of the text is a *block* (see ``context.text.tokens``), so the parts' token counts add up exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from context.text.safe import fenced, harmless


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the summary, and the turn it comes from; empty if it comes from several."""

    text: str
    turn: str = ""

    def block(self) -> str:
        """The line as text."""
        where = f"{self.turn}: " if self.turn else ""
        return f"- {where}{self.text}\n"


@dataclass(frozen=True, slots=True)
class Message:
    """A prompt of the user, word for word. ``state`` says whether it is done or pending."""

    turn: str
    text: str
    state: str

    def block(self) -> str:
        """The message as text, in a fence that nothing in the message can close."""
        return f"#### {self.turn} ({self.state})\n" + fenced("", harmless(self.text.strip("\n")))


class Kind(StrEnum):
    """The kinds of sections, the most important first."""

    GOAL = "goal"
    CONSTRAINTS = "constraints"
    FAILING = "failing checks"
    DONE = "done"
    NEXT = "next"
    DECISIONS = "decisions"


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one kind. ``title`` says where they come from."""

    kind: Kind
    title: str
    entries: tuple[Entry, ...]

    def heading(self) -> str:
        """The section's first line."""
        return f"### {self.title}\n"


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of the turns ``first`` to ``through``. ``sections`` are in the order of their kinds."""

    first: str
    through: str
    turns: int
    last: str
    """The last turn and its state, in one line."""
    goal: tuple[Entry, ...] = ()
    sections: tuple[Section, ...] = ()
    messages: tuple[Message, ...] = ()
    last_words: str = ""
    """The end of the last answer without code; empty if its turn is shown whole."""
    by: str = field(default="rules")
    """The source of its lines: ``rules``, or ``model`` if the model's own account is included."""

    def head(self) -> str:
        """The first lines of the text."""
        span = self.first if self.first == self.through else f"{self.first} to {self.through}"
        return (
            f"## The conversation so far, compacted ({span})\n"
            "Code is not repeated here: files are shown as they are on disk, and where they differ from "
            "these lines, the files are right.\n"
            f"Last instruction of these turns: {self.last}\n"
        )


MESSAGES_HEADING = "### The developer's messages, word for word\n"
LAST_WORDS_HEADING = "### How your last answer ended (code left out)\n"


def last_words_block(words: str) -> str:
    """The end of the last answer as text."""
    return LAST_WORDS_HEADING + fenced("", harmless(words))


def remembered_block(lines: tuple[tuple[int, str], ...]) -> str:
    """The remembered lines as text; empty if there are none."""
    if not lines:
        return ""
    parts = ["## What the developer wants you to keep in mind, always\n"]
    for number, text in lines:
        body = harmless(text)
        parts.append(f"- {number}: {body}\n" if "\n" not in body else f"- {number}:\n{fenced('', body)}")
    return "".join(parts)
