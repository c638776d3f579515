"""Reads the events of a journal for a session that is resumed: fast, and with a bound on the memory it takes.

Pieces of text that follow each other become one event. Of a long session only the newest text is kept, about
as much as fits into a model's window and is drawn in a moment; all other events are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from session.events import Event, HunkAimed, Notice, PhaseChanged, ReasoningDelta, TextDelta, to_dict
from session.journal.journals import read_blocks, read_event
from session.storage.line_files import StoreError

LAST_PART = 1_000_000
"""Bytes at the end of a journal whose text is kept; the text before is left out."""
LEFT_OUT = (
    "the answers above are left out, since this session is long; spark export {name} prints all of them"
)
_MOST_JOINED = 64_000
"""Characters at which pieces of text are not joined any further."""
BLOCK = 250_000
"""Bytes that are read and parsed at once: parsing single lines takes several times as long."""


def _beginnings(*kinds: type[Event]) -> tuple[bytes, ...]:
    """How the lines of these events begin."""
    return tuple(b'{"type":"%s"' % kind.type.encode() for kind in kinds)


_TEXT = _beginnings(TextDelta, ReasoningDelta)
_TRANSIENT = _beginnings(HunkAimed, PhaseChanged)
"""They mean nothing when the turn is over, and there are many of them."""


def read_past(file: Path) -> tuple[Event, ...]:
    """The events of the journal ``file``, oldest first; damaged lines are skipped.

    Raises StoreError when the file cannot be read.
    """
    events: list[Event] = []
    text: list[str] = []
    length = 0
    for lines in _kept(file):
        for record in _parsed(lines):
            event = read_event(record) if isinstance(record, dict) else None
            if event is None:
                continue
            last = events[-1] if events else None
            if isinstance(event, TextDelta | ReasoningDelta):
                if (
                    isinstance(last, TextDelta | ReasoningDelta)
                    and type(last) is type(event)
                    and last.turn == event.turn
                    and length < _MOST_JOINED
                ):
                    text.append(event.text)
                    length += len(event.text)
                    continue
                _join(events, text)
                text, length = [event.text], len(event.text)
            else:
                _join(events, text)
                text = []
            events.append(event)
    _join(events, text)
    return tuple(events)


def _join(events: list[Event], text: list[str]) -> None:
    """Give the last event the whole of the ``text`` that was collected for it."""
    if len(text) > 1:
        events[-1] = replace(events[-1], text="".join(text))  # type: ignore[call-arg]


def _kept(file: Path) -> Iterator[list[bytes]]:
    """The lines of a journal that are kept, many at a time. A notice stands for the text that is left out."""
    try:
        start = file.stat().st_size - LAST_PART
    except OSError as problem:
        raise StoreError(f"cannot read {file}: {problem.strerror}") from problem
    place, left_out = 0, False
    for lines in read_blocks(file, BLOCK):
        place += sum(map(len, lines))
        if place <= start:
            left_out = left_out or any(line.startswith(_TEXT) for line in lines)
            yield [line for line in lines if not line.startswith(_TEXT + _TRANSIENT)]
            continue
        if left_out:
            left_out = False
            yield [json.dumps(to_dict(Notice("info", LEFT_OUT.format(name=file.stem)))).encode()]
        yield [line for line in lines if not line.startswith(_TRANSIENT)]


def _parsed(lines: list[bytes]) -> list[Any]:
    """The JSON values of ``lines``. A batch with a damaged line is parsed line by line."""
    try:
        values = json.loads(b"[" + b",".join(lines) + b"]")
    except (ValueError, RecursionError):
        values = []
    if len(values) == len(lines):
        return list(values)
    values = []
    for line in lines:
        try:
            values.append(json.loads(line))
        except (ValueError, RecursionError):
            continue
    return values
