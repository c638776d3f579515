"""Reads the events of a journal for a session that is resumed: fast, and with a bound on the memory it takes.

Pieces of text that follow each other become one event. Of a long session only the newest text is kept, about
as much as fits into a model's window and is drawn in a moment; all other events are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from session.base.events import Event, HunkAimed, Notice, PhaseChanged, ReasoningDelta, TextDelta
from session.record.journal.parts import TEXT, beginnings, is_thinned
from session.record.journal.reading import LineCheck, journal_size, read_blocks, read_event

LAST_PART = 1_000_000
"""Bytes at the end of a journal whose text is kept; the text before is left out."""
LEFT_OUT = (
    "the answers above are left out, since this session is long; spark export {name} prints all of them"
)
_MOST_JOINED = 64_000
"""Characters at which pieces of text are not joined any further."""
_NUMBER = re.compile(r"[0-9]{1,9}")
BLOCK = 250_000
"""Bytes that are read and parsed at once: parsing single lines takes several times as long."""


_TRANSIENT = beginnings(HunkAimed, PhaseChanged)
"""They mean nothing when the turn is over, and there are many of them."""


@dataclass(frozen=True, slots=True)
class Past:
    """The events of a journal, oldest first, and the number of its lines that are damaged."""

    events: tuple[Event, ...]
    damaged: int


def read_past(file: Path, end: tuple[int, int] | None = None) -> Past:
    """The events of the journal ``file``, or of what it had when its newest part and the bytes in that were
    ``end``; damaged lines are skipped.

    Raises StoreError when the file cannot be read.
    """
    check = LineCheck()
    return Past(tuple(_joined(_events(file, check, end))), check.damaged)


def _joined(events: Iterator[Event]) -> Iterator[Event]:
    """``events`` with pieces of text that follow each other as one."""
    held: TextDelta | ReasoningDelta | None = None
    texts: list[str] = []
    length = 0
    for event in events:
        if isinstance(event, TextDelta | ReasoningDelta):
            if type(held) is type(event) and held.turn == event.turn and length < _MOST_JOINED:
                texts.append(event.text)
                length += len(event.text)
                continue
            if held is not None:
                yield replace(held, text="".join(texts))
            held, texts, length = event, [event.text], len(event.text)
            continue
        if held is not None:
            yield replace(held, text="".join(texts))
            held = None
        yield event
    if held is not None:
        yield replace(held, text="".join(texts))


def _events(file: Path, check: LineCheck, end: tuple[int, int] | None) -> Iterator[Event]:
    """The events that are kept. A notice stands for the text that is left out."""
    start = journal_size(file) - LAST_PART
    place, left_out = 0, False
    for lines in read_blocks(file, BLOCK, end):
        place += sum(map(len, lines))
        shortened = is_thinned(lines[0])
        if place <= start or shortened:
            left_out = left_out or shortened or any(line.startswith(TEXT) for line in lines)
            kept = [line for line in lines if not line.startswith(TEXT + _TRANSIENT)]
        else:
            if left_out:
                left_out = False
                yield Notice("info", LEFT_OUT.format(name=file.stem))
            kept = [line for line in lines if not line.startswith(_TRANSIENT)]
        for record in check.parse(kept):
            event = read_event(record)
            if event is not None:
                yield event


def last_number(names: Iterable[str], letter: str) -> int:
    """The highest number among ``names`` that are ``letter`` and a number, as ``t12``; 0 if there is none.

    What follows is numbered from it. A count would give a name twice where a record is damaged.
    """
    numbers = (name.removeprefix(letter) for name in names if name.startswith(letter))
    return max((int(number) for number in numbers if _NUMBER.fullmatch(number)), default=0)
