"""What Tab can make of the text before the cursor: a mention (``@path``, ``@folder/``, ``@name``), the name
of a typed command, or what follows it where that is a file or one of a closed set (``/effort high``)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.slash import slashes, split_slash, values

if TYPE_CHECKING:
    from tui.port import SessionPort

_FILE = re.compile(r"/([a-z][a-z-]*)\s+@?(\"[^\"]*\"?|\S*)$")
_VALUE = re.compile(r"/([a-z][a-z-]*)\s+(.*)")
_COMMAND = re.compile(r"/([a-z-]*)")
_AT_CURSOR = re.compile(r"(?:^|(?<=\s))@(\"[^\"]*\"?|\S*)$")


@dataclass(frozen=True, slots=True)
class Candidates:
    """``word``, which ends at the cursor, could become any of ``texts``, the likeliest first; ``details``
    tell each from others, where there is something to tell."""

    word: str
    texts: Sequence[str]
    details: Sequence[str] = ()


Completer = Callable[[str], Candidates | None]
"""Given the line before the cursor: what it could become; None where there is nothing to complete."""


def completer(session: SessionPort) -> Completer:
    """What completes by the project's files and names, and by what ``session`` can be told."""

    def files(word: str) -> Candidates:
        found = session.complete(word)
        return Candidates(word, [text.removeprefix("@") for text, _ in found], [told for _, told in found])

    def complete(before: str) -> Candidates | None:
        if found := _COMMAND.fullmatch(before):
            return Candidates(found[1], [each.name for each in slashes() if each.name.startswith(found[1])])
        if found := _AT_CURSOR.search(before):
            return files(found[1])
        if found := _VALUE.fullmatch(before):
            known = values(session, found[1])
            if known is not None:
                return Candidates(found[2], fitting(found[2], known))
        if (found := _FILE.fullmatch(before)) and _completes(found[1], "files"):
            return files(found[2])
        return None

    return complete


def mentioned(before: str) -> bool:
    """Whether a mention is being typed at the end of ``before``."""
    return _AT_CURSOR.search(before) is not None


def from_files(before: str) -> bool:
    """Whether what ends ``before`` is completed from the project's files: a large project takes its time to
    be looked through, which any thread may do."""
    found = _FILE.fullmatch(before)
    return mentioned(before) or (found is not None and _completes(found[1], "files"))


def foresee(session: SessionPort, draft: str) -> None:
    """Have the server asked for its models by the time Tab wants them."""
    command = split_slash(draft)
    if command is not None and _completes(command[0], "models"):
        values(session, command[0])


def nothing(before: str) -> Candidates | None:
    """Completes nothing."""
    del before
    return None


def fitting(word: str, known: Sequence[str]) -> list[str]:
    """The values that go on from ``word``, then those that hold it; upper and lower case are the same."""
    word = word.lower()
    begun = [each for each in known if each.lower().startswith(word)]
    return begun + [each for each in known if word in each.lower() and each not in begun]


def _completes(name: str, to: str) -> bool:
    return any(slash.name == name and slash.completes == to for slash in slashes())
