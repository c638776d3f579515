"""Opens an earlier session again from its journal, and ends what a crash left open.

The window is started afresh with the conversation as history: code is shown from disk as it is
now. A turn that never ended (the process was killed) is ended here as failed, and hunks that the
ledger has but the journal had no time to tell are told, so that no landed hunk is ever lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from edits.ledger import HunkRecord, Ledger
from session.events import Event, HunkLanded, HunkUndone, PromptSubmitted, TurnEnded
from session.memory import Memory
from session.sanitize import clean_line
from session.store import read_event, read_records

CUT = "spark ended in the middle of this turn; what had landed is on disk"


@dataclass(frozen=True, slots=True)
class Resumed:
    """A session as its journal has it. ``ending`` holds the events that were never written."""

    events: tuple[Event, ...]
    ending: tuple[Event, ...]
    memory: Memory
    turns: int


def resume_session(file: Path, ledger: Ledger) -> Resumed:
    """Read the journal ``file``. The ledger must have been recovered before.

    Raises StoreError when the journal cannot be read.
    """
    events = tuple(event for record in read_records(file) if (event := read_event(record)) is not None)
    ending = tuple(_ending(events, ledger.hunks(), file.stem))
    memory = Memory()
    for event in events:
        memory.exchanges.take(event)
    if ending:
        memory.cut_short = "Your last answer was cut off before its end."
    return Resumed(events, ending, memory, sum(isinstance(event, PromptSubmitted) for event in events))


def _ending(events: tuple[Event, ...], records: list[HunkRecord], session: str) -> list[Event]:
    started = [event.turn for event in events if isinstance(event, PromptSubmitted)]
    ended = {event.turn for event in events if isinstance(event, TurnEnded)}
    told = {event.hunk for event in events if isinstance(event, HunkLanded | HunkUndone)}
    ending: list[Event] = [
        _landed(record) for record in records if record.session == session and record.id not in told
    ]
    for turn in started:
        if turn not in ended:
            ending.append(TurnEnded(turn=turn, status="failed", message=CUT, code="killed"))
    return ending


def _landed(record: HunkRecord) -> HunkLanded:
    return HunkLanded(
        turn=record.turn,
        hunk=record.id,
        path=clean_line(record.moved_from or record.path),
        status=record.status.value,
        tier=int(record.rung),
        start=record.start,
        end=record.end,
        action=record.action.value,
        moved_to=clean_line(record.path) if record.moved_from else None,
    )
