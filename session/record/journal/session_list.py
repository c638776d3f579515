"""Finds and lists the sessions of a project; a journal that cannot be read is named and left out."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path

from session.base.events import (
    FileSaved,
    FilesChanged,
    InstructionsUnused,
    ModelChosen,
    Notice,
    SessionStarted,
    TrustAsked,
)
from session.base.storage.private_files import StoreError
from session.base.text.wording import listed, spelled_like
from session.record.journal.parts import SUFFIX, part_file, parts
from session.record.journal.reading import (
    LineCheck,
    damaged_lines,
    read_blocks,
    read_lines,
    read_records,
    time_of,
)

_SKEW = 60.0
"""Seconds that the clock of a file server may be ahead."""
_MOST_NAMED = 3
"""Most sessions that a message names."""
_NONE = "this project has no sessions yet; start one with: spark"
_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
_PROMPT, _NAMED = b'"prompt.submitted"', b'"session.named"'
BEGINNINGS = frozenset(
    kind.type
    for kind in (SessionStarted, Notice, FilesChanged, FileSaved, ModelChosen, TrustAsked, InstructionsUnused)
)
"""The types of the events that a session may have without having begun: it is not kept, nor listed."""


class NoSessionError(StoreError):
    """There is no such session, or more than one; the message names those that there are."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One row of ``spark sessions``. ``started`` and ``changed`` are seconds since 1970; ``title`` is the
    user's, else the first prompt."""

    name: str
    started: float
    changed: float
    turns: int
    title: str


@dataclass(frozen=True, slots=True)
class SessionList:
    """The sessions that can be read, newest first, and for each other journal what is wrong with it."""

    rows: tuple[SessionSummary, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LastSession:
    """The journal of the last session that can be read, and what is wrong with those that came after it."""

    file: Path
    problems: tuple[str, ...]


def find_session(folder: Path, name: str) -> Path:
    """The journal of the session called ``name``; a unique beginning will do.

    Raises NoSessionError, which names the sessions that there are.
    """
    files = _journals(folder)
    matches = [file for file in files if file.stem.startswith(name)]
    if len(matches) > 1:
        names = listed([file.stem for file in reversed(matches)], _MOST_NAMED)
        raise NoSessionError(
            f"several sessions begin with {name!r}: {names}; type more of it, as spark sessions lists them"
        )
    if not matches:
        stems = [file.stem for file in reversed(files)]
        near = spelled_like(name, stems)
        told = f"the nearest: {', '.join(near)}" if near else f"the last: {listed(stems, _MOST_NAMED)}"
        raise NoSessionError(f"no session is called {name!r}; {told}; spark sessions lists all")
    return matches[0]


def last_session(folder: Path) -> LastSession:
    """The session that was changed last, of those that can be read.

    Raises NoSessionError if there is none, StoreError if none can be read.
    """
    problems: list[str] = []
    now = time.time()
    for file in sorted(
        _journals(folder), key=lambda file: _order(_changed(file), file.name, now), reverse=True
    ):
        try:
            check_readable(file)
            if _empty(file):
                continue
        except StoreError as problem:
            problems.append(str(problem))
        else:
            return LastSession(file, tuple(problems))
    if not problems:
        raise NoSessionError(_NONE)
    raise StoreError(f"no session can be read: {listed(problems, _MOST_NAMED)}; start a new one with: spark")


def list_sessions(folder: Path) -> SessionList:
    """All sessions of a project in which something happened."""
    rows, problems = [], []
    for file in folder.glob("*" + SUFFIX):
        if _NAME.fullmatch(file.stem):
            try:
                row = _summary(file)
                if row.turns or not _empty(file):
                    rows.append(row)
            except StoreError as problem:
                problems.append(str(problem))
    now = time.time()
    rows.sort(key=lambda row: _order(row.changed, row.name, now), reverse=True)
    return SessionList(tuple(rows), tuple(sorted(problems)))


def _order(changed: float, name: str, now: float) -> tuple[bool, float, str]:
    """The place of a session in the order of their last changes. What was changed in the future was so before
    the clock was put right."""
    return changed <= now + _SKEW, changed, name


def damaged_sessions(folder: Path) -> list[str]:
    """What is wrong with each journal that cannot be read, or not all of it."""
    problems = []
    for file in sorted(folder.glob("*" + SUFFIX)):
        if _NAME.fullmatch(file.stem):
            try:
                check_readable(file)
                if damaged := damaged_lines(file):
                    problems.append(f"{file}: {damaged} damaged lines are left out; all others are read")
            except StoreError as problem:
                problems.append(str(problem))
    return problems


def check_readable(file: Path) -> None:
    """Raise StoreError if no event of the journal ``file`` can be read; one that is empty is fine."""
    check, empty = LineCheck(), True
    for lines in read_blocks(file, 64_000):
        empty = False
        if check.parse(lines):
            return
    if not empty:
        raise StoreError(f"cannot read {file}: none of its lines is an event")


def _journals(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.glob("*" + SUFFIX) if _NAME.fullmatch(file.stem))
    if not files:
        raise NoSessionError(_NONE)
    return files


def _summary(file: Path) -> SessionSummary:
    check_readable(file)
    at = next((at for record in read_records(file) if (at := time_of(record)) is not None), 0.0)
    turns, title, named = 0, "", ""
    check = LineCheck()
    # A journal may be long, and most of its lines are other events.
    for record in check.parse([line for line in read_lines(file) if _PROMPT in line or _NAMED in line]):
        if record.get("type") == "session.named":
            named = str(record.get("title", ""))
        elif record.get("type") == "prompt.submitted":
            turns += 1
            if not title and isinstance(record.get("text"), str):
                title = record["text"]
    changed = _changed(file)
    return SessionSummary(file.stem, at or changed, changed, turns, named or title)


def _empty(file: Path) -> bool:
    """Whether nothing happened in a session but what every one begins with; not where lines are damaged."""
    return all(record.get("type") in BEGINNINGS for record in read_records(file)) and not damaged_lines(file)


def _changed(file: Path) -> float:
    """When a journal was changed; one of which that is not known comes last."""
    try:
        return part_file(file, parts(file)[-1]).stat().st_mtime
    except OSError:
        return 0.0
