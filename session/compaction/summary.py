"""The summary: what a model must know of turns whose words it is no longer shown, and how it is written.

Every part that is written is a *block* (see ``context.text.tokens``), so the parts' counts add up exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from context.text.fences import fenced, harmless


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the summary, and the turn it comes from (empty: from no one turn)."""

    text: str
    turn: str = ""

    def block(self) -> str:
        """The line as it is written."""
        where = f"{self.turn}: " if self.turn else ""
        return f"- {where}{self.text}\n"


@dataclass(frozen=True, slots=True)
class Message:
    """A prompt of the user's, word for word, and what became of it: done or pending, in a few words."""

    turn: str
    text: str
    state: str

    def block(self) -> str:
        """The message as it is written, in a fence that nothing in it can close."""
        return f"#### {self.turn} ({self.state})\n" + fenced("", harmless(self.text.strip("\n")))


class Kind(StrEnum):
    """What a section holds, in the order of their weight."""

    GOAL = "goal"
    CONSTRAINTS = "constraints"
    FAILING = "failing checks"
    DONE = "done"
    NEXT = "next"
    DECISIONS = "decisions"


@dataclass(frozen=True, slots=True)
class Section:
    """Lines of one kind. ``title`` says honestly where they come from."""

    kind: Kind
    title: str
    entries: tuple[Entry, ...]

    def heading(self) -> str:
        """The section's first line."""
        return f"### {self.title}\n"


@dataclass(frozen=True, slots=True)
class Summary:
    """The turns ``first`` to ``through`` in short. ``sections`` stand in the order of their kinds."""

    first: str
    through: str
    turns: int
    last: str
    """The last instruction of these turns, marked done or pending, in a line."""
    goal: tuple[Entry, ...] = ()
    sections: tuple[Section, ...] = ()
    messages: tuple[Message, ...] = ()
    last_words: str = ""
    """How the last answer ended, where its turn is not shown whole; without code."""
    by: str = field(default="rules")
    """Who wrote its lines: ``rules``, or ``model`` where a model's account was taken in."""

    def head(self) -> str:
        """What stands before everything else."""
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
    """The end of the last answer as it is written."""
    return LAST_WORDS_HEADING + fenced("", harmless(words))


def remembered_block(lines: tuple[tuple[int, str], ...]) -> str:
    """The lines that the user keeps, as they are written; empty without any."""
    if not lines:
        return ""
    parts = ["## What the developer wants you to keep in mind, always\n"]
    for number, text in lines:
        body = harmless(text)
        parts.append(f"- {number}: {body}\n" if "\n" not in body else f"- {number}:\n{fenced('', body)}")
    return "".join(parts)
