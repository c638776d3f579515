"""What of the text before the cursor can be completed at Tab: a mention (``@path``, ``@folder/``, ``@name``),
the name of a command, or its argument where that is a file or one of a fixed set (``/effort high``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from tui.front.slash.table import slashes, split_slash

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


def from_files(before: str) -> bool:
    """Whether completing ``before`` searches the project's files. That takes time in a large project, and may
    be done in any thread."""
    now = typed(before)
    return now is not None and now.kind is Kind.FILE


def nothing(before: str) -> Candidates | None:
    """Completes nothing."""
    del before
    return None


def fitting(word: str, known: Sequence[str]) -> list[str]:
    """The values that begin with ``word``, then those that contain it, ignoring case."""
    word = word.lower()
    begun = [each for each in known if each.lower().startswith(word)]
    return begun + [each for each in known if word in each.lower() and each not in begun]
