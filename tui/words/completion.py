"""What Tab can make of the text before the cursor: a mention (``@path``, ``@folder/``, ``@name``), the name
of a typed command, or what follows it where that is a file or one of a closed set (``/effort high``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tui.words.slash import slashes, split_slash, value_told, values

if TYPE_CHECKING:
    from tui.port import SessionPort

_FILE = re.compile(r"/([a-z][a-z-]*)\s+@?(\"[^\"]*\"?|\S*)$")
_VALUE = re.compile(r"/([a-z][a-z-]*)\s+(.*)")
_COMMAND = re.compile(r"/([a-z-]*)")
_AT_CURSOR = re.compile(r"(?:^|(?<=\s))@(\"[^\"]*\"?|\S*)$")


class Kind(Enum):
    """What is being typed."""

    COMMAND = "command"
    FILE = "file"
    """A file or a name of the project's."""
    VALUE = "value"
    """One of a command's closed set."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The ``word`` that ends at the cursor, and the ``command`` that it is for, if any."""

    kind: Kind
    word: str
    command: str = ""


@dataclass(frozen=True, slots=True)
class Candidates:
    """``word``, which ends at the cursor, could become any of ``texts``, the likeliest first; ``details``
    tell each from others, where there is something to tell."""

    word: str
    texts: Sequence[str]
    details: Sequence[str]


Completer = Callable[[str], Candidates | None]
"""Given the line before the cursor: what it could become; None where there is nothing to complete."""


def typed(before: str) -> Typed | None:
    """What is being typed at the end of ``before``; None for what is not completed."""
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
    """What completes by the project's files and names, and by what ``session`` can be told."""

    def complete(before: str) -> Candidates | None:
        now = typed(before)
        if now is None:
            return None
        if now.kind is Kind.FILE:
            found = session.complete(now.word)
            texts = [text.removeprefix("@") for text, _ in found]
            return Candidates(now.word, texts, [told for _, told in found])
        if now.kind is Kind.COMMAND:
            fit = [slash for slash in slashes() if slash.name.startswith(now.word)]
            return Candidates(now.word, [slash.name for slash in fit], [slash.help for slash in fit])
        texts = fitting(now.word, values(session, now.command))
        return Candidates(now.word, texts, [value_told(session, now.command, each) for each in texts])

    return complete


def from_files(before: str) -> bool:
    """Whether what ends ``before`` is completed from the project's files: a large project takes its time to
    be looked through, which any thread may do."""
    now = typed(before)
    return now is not None and now.kind is Kind.FILE


def foresee(session: SessionPort, draft: str) -> None:
    """Have the server asked for its models by the time Tab wants them."""
    now = typed(draft)
    if now is not None and now.command == "model":
        session.models.served.names()


def nothing(before: str) -> Candidates | None:
    """Completes nothing."""
    del before
    return None


def fitting(word: str, known: Sequence[str]) -> list[str]:
    """The values that go on from ``word``, then those that hold it; upper and lower case are the same."""
    word = word.lower()
    begun = [each for each in known if each.lower().startswith(word)]
    return begun + [each for each in known if word in each.lower() and each not in begun]
