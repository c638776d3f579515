"""Forks a session: a new one that begins with another's journal up to a turn or a hunk.

The conversation is forked, not the project: files and the record of edits stay as they are, so that hunks
after the fork are still on disk until they are undone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from edits.checked_lines import to_line
from edits.files.durable import Step, no_step
from edits.files.replacing import replacing
from session.base.events import HunkLanded, Notice, PromptSubmitted, TurnEnded, to_dict
from session.base.storage.private_files import StoreError
from session.record.journal.journals import new_session_name
from session.record.journal.parts import SUFFIX, header
from session.record.journal.reading import read_records

FORKED = "this session goes on from {name}, {where}; files are as they are on disk"
_LANDED, _PROMPT = HunkLanded.type, PromptSubmitted.type


class NoSuchPlaceError(Exception):
    """The session has no such turn or hunk; the message says what it has."""


def fork_session(
    file: Path, *, turn: str | None = None, hunk: str | None = None, step: Step = no_step
) -> Path:
    """Make a session that begins as the one of the journal ``file`` does, and return its journal.

    It goes up to the end of ``turn``, or up to ``hunk``, with it; without either, to the end. It is there
    whole or not at all. Raises NoSuchPlaceError, and StoreError if a journal cannot be read or written.
    """
    where = _check(file, turn, hunk)
    while (made := file.with_name(new_session_name() + SUFFIX)).exists():
        pass
    told = Notice("info", FORKED.format(name=file.stem, where=where))
    try:
        with replacing(made) as new:
            step("fork begun")
            new.write(header(1))
            for record in _until(read_records(file), turn, hunk):
                new.write(to_line(record, ascii_only=True))
            new.write(to_line({**to_dict(told), "at": round(time.time(), 3)}, ascii_only=True))
            step("fork prepared")
    except OSError as problem:
        raise StoreError(f"cannot write {made}: {problem.strerror}") from problem
    step("fork made")
    return made


def _check(file: Path, turn: str | None, hunk: str | None) -> str:
    """Say where the fork is. Raises NoSuchPlaceError."""
    turns: list[str] = []
    hunks: list[str] = []
    for record in read_records(file):
        if record.get("type") == _PROMPT:
            turns.append(str(record.get("turn")))
        elif record.get("type") == _LANDED:
            hunks.append(str(record.get("hunk")))
    for wanted, known, kind in ((turn, turns, "turn"), (hunk, hunks, "landed hunk")):
        if wanted is not None and wanted not in known:
            has = f"it has {known[0]} to {known[-1]}" if known else "it has none"
            raise NoSuchPlaceError(f"session {file.stem} has no {kind} {wanted}; {has}")
    if hunk is not None:
        return f"hunk {hunk}"
    last = turn or (turns[-1] if turns else None)
    return f"turn {last}" if last else "its beginning"


def _until(records: Iterator[dict[str, Any]], turn: str | None, hunk: str | None) -> Iterator[dict[str, Any]]:
    """``records`` up to the fork. A turn that is cut there ends as interrupted."""
    reached = False
    for record in records:
        kind = record.get("type")
        if reached and kind == _PROMPT:
            return
        yield record
        if hunk is not None and kind == _LANDED and record.get("hunk") == hunk:
            cut = TurnEnded(turn=str(record.get("turn")), status="interrupted")
            yield {**to_dict(cut), "at": record.get("at", 0.0)}
            return
        reached = reached or (turn is not None and kind == _PROMPT and record.get("turn") == turn)
