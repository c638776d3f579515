"""Completes the text before the cursor at Tab: a mention (``@path``, ``@folder/``, ``@name``), the name of a
command, or its argument where that is a file or one of a fixed set (``/effort high``).

The arguments that a command can have here: what Tab completes them to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tui.front.slash.table import slashes, split_slash

if TYPE_CHECKING:
    from tui.front.port import SessionPort


def values(session: SessionPort, name: str) -> tuple[str, ...]:
    """The possible arguments of the command ``name``; empty where they are not a fixed set."""
    slash = next((each for each in slashes() if each.name == name), None)
    match slash.completes if slash is not None else "":
        case "models":
            known: Sequence[str] = session.models.served.names()
        case "efforts":
            known = session.models.efforts
        case "tiers":
            known = ["on" if tier == "fast" else tier for tier in session.models.tiers if tier]
        case "locks":
            known = session.locks.known
        case "pins":
            known = session.context.pinned
        case "removals":
            known = session.context.removed
        case "themes":
            from themes.loader import theme_names

            known = theme_names()
        case "landed":
            known = list(reversed(session.hunks.undoable.landed))
        case "undone":
            known = list(reversed(session.hunks.undoable.undone))
        case "remembered":
            known = [str(number) for number in session.compaction.lines]
        case _:
            known = ()
    return (*known, *(slash.words if slash is not None else ()))


def value_told(session: SessionPort, name: str, value: str) -> str:
    """A detail that tells ``value`` from the other arguments of the command ``name``; may be empty."""
    match name:
        case "model":
            return session.models.served.told(value)
        case "undo":
            return session.hunks.undoable.landed.get(value, "")
        case "redo":
            return session.hunks.undoable.undone.get(value, "")
        case "forget":
            return session.compaction.line(int(value)) if value.isdecimal() else ""
        case _:
            return ""


_FILE = re.compile(r"/([a-z][a-z-]*)\s+@?(\"[^\"]*\"?|\S*)$")
_VALUE = re.compile(r"/([a-z][a-z-]*)\s+(.*)")
_COMMAND = re.compile(r"/([a-z-]*)")
_AT_CURSOR = re.compile(r"(?:^|(?<=\s))@(\"[^\"]*\"?|\S*)$")


class Kind(Enum):
    """The kinds of text that can be completed."""

    COMMAND = "command"
    FILE = "file"
    """A file or a name of the project."""
    VALUE = "value"
    """One of a fixed set of arguments."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The ``word`` before the cursor, its ``kind``, and the ``command`` whose argument it is, if any."""

    kind: Kind
    word: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Matches for the ``word`` before the cursor: ``texts``, the best first, and ``details`` that tell each
    from the others, or are empty."""

    word: str
    texts: Sequence[str]
    details: Sequence[str]


Completer = Callable[[str], Candidates | None]
"""Maps the line before the cursor to its matches; None where there is nothing to complete."""


def typed(before: str) -> Typed | None:
    """The word at the end of ``before``; None where nothing can be completed."""
    if found := _COMMAND.fullmatch(before):
        return Typed(Kind.COMMAND, found[1])
    if found := _AT_CURSOR.search(before):
        return Typed(Kind.FILE, found[1])
    command = split_slash(before)
    slash = next((each for each in slashes() if command is not None and each.name == command[0]), None)
    if slash is None:
        return None
    if slash.completes == "files":
        found = _FILE.fullmatch(before)
        return Typed(Kind.FILE, found[2], slash.name) if found else None
    found = _VALUE.fullmatch(before)
    closed = bool(slash.completes or slash.words)
    return Typed(Kind.VALUE, found[2], slash.name) if found and closed else None


def completer(session: SessionPort) -> Completer:
    """A completer for the files and names of the project of ``session``, and for its commands."""

    def complete(before: str) -> Candidates | None:
        now = typed(before)
        if now is None:
            return None
        if now.kind is Kind.FILE:
            edited = set(session.hunks.undoable.landed.values())
            found = [(text.removeprefix("@"), told) for text, told in session.context.complete(now.word)]
            found.sort(key=lambda each: each[0] not in edited)  # what was edited in this session first
            return Candidates(now.word, [text for text, _ in found], [told for _, told in found])
        if now.kind is Kind.COMMAND:
            fit = [slash for slash in slashes() if slash.name.startswith(now.word)]
            return Candidates(now.word, [slash.name for slash in fit], [slash.help for slash in fit])
        texts = fitting(now.word, values(session, now.command))
        return Candidates(now.word, texts, [value_told(session, now.command, each) for each in texts])

    return complete


def from_files(before: str) -> bool:
    """Whether completing ``before`` searches the project's files. That takes time in a large project, and may
    be done in any thread."""
    now = typed(before)
    return now is not None and now.kind is Kind.FILE


def prefetch_models(session: SessionPort, draft: str) -> None:
    """Ask the server for its models early, so that they are there when Tab needs them."""
    now = typed(draft)
    if now is not None and now.command == "model":
        session.models.served.names()


def nothing(before: str) -> Candidates | None:
    """Completes nothing."""
    del before
    return None


def fitting(word: str, known: Sequence[str]) -> list[str]:
    """The values that begin with ``word``, then those that contain it, ignoring case."""
    word = word.lower()
    begun = [each for each in known if each.lower().startswith(word)]
    return begun + [each for each in known if word in each.lower() and each not in begun]
