"""Searches the sessions of a project for text: in prompts, answers, and the lines about edits and calls."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from session.record.past_turns import ToldTurn, read_turns

AROUND = 60
"""Characters that are shown on each side of what was found."""


@dataclass(frozen=True, slots=True)
class Found:
    """A line of a session in which the text is: ``who`` is ``you`` for a prompt, else ``model``."""

    session: str
    turn: str
    who: str
    line: str


def search_session(file: Path, wanted: str) -> Iterator[Found]:
    """Each line of a session that holds ``wanted``, letters of either case, oldest first.

    Raises StoreError when the journal cannot be read.
    """
    folded = wanted.casefold()
    for turn in read_turns(file):
        for who, text in _texts(turn):
            for line in text.split("\n"):
                if folded in line.casefold():
                    yield Found(file.stem, turn.turn, who, _shown(line.strip(), folded))


def _texts(turn: ToldTurn) -> Iterator[tuple[str, str]]:
    yield "you", turn.prompt
    for part in turn.parts:
        yield "model", part.text.text()


def _shown(line: str, folded: str) -> str:
    """The line, or the part around what was found in a long one."""
    at = max(0, line.casefold().find(folded))
    start, end = max(0, at - AROUND), at + len(folded) + AROUND
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
