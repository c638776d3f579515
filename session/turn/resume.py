"""Resumes an earlier session from its journal, and ends what a crash left open.

The window starts afresh with the conversation as history, from its last compaction on; files are shown as
they are on disk. A turn that never ended, because the process was killed, is ended as failed. Hunks that
are in the ledger but not in the journal get their events, so that no landed hunk is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from edits.ledger.ledger import HunkRecord, Ledger
from session.base.events import Event, HunkLanded, HunkRedone, HunkUndone, Notice, PromptSubmitted, TurnEnded
from session.base.text.sanitize import clean_line
from session.project.workspace import settle_interrupted
from session.record.journal.reading import last_number, read_past
from session.turn.turn_memory import TurnMemory

DAMAGED = "damaged lines of this session's journal that are left out: {count}, in {file}"
CUT = "spark ended in the middle of this turn; what had landed is on disk"


@dataclass(frozen=True, slots=True)
class ResumedSession:
    """An earlier session: the events of its journal, ``ending``, the events that were never written, and the
    number of its last turn."""

    events: tuple[Event, ...]
    ending: tuple[Event, ...]
    memory: TurnMemory
    turns: int


def resume_session(file: Path, ledger: Ledger) -> ResumedSession:
    """Read the journal ``file``, and settle what a killed process left open in ``ledger``.

    Raises StoreError when the journal cannot be read.
    """
    past = read_past(file)
    events = past.events
    if past.damaged:
        told = DAMAGED.format(count=past.damaged, file=file)
        events = (*events, Notice(level="warning", text=clean_line(told)))
    # A write that was finished by the kernel counts only once the ledger has found that it was.
    lost = settle_interrupted(ledger)
    cut = _cut_turns(events)
    ending = (*_untold(events, ledger.hunks(), file.stem), *lost, *cut)
    memory = TurnMemory()
    for event in events:
        memory.past_turns.take(event)
    memory.edited_files.resumed(ledger, file.stem)
    if cut:
        memory.cut_short = "Your last answer was cut off before its end."
    named = (turn for event in events if isinstance(turn := getattr(event, "turn", None), str))
    return ResumedSession(events, ending, memory, last_number(named, "t"))


def _cut_turns(events: tuple[Event, ...]) -> list[Event]:
    ended = {event.turn for event in events if isinstance(event, TurnEnded)}
    return [
        TurnEnded(turn=event.turn, status="failed", message=CUT, code="killed")
        for event in events
        if isinstance(event, PromptSubmitted) and event.turn not in ended
    ]


def _untold(events: tuple[Event, ...], records: list[HunkRecord], session: str) -> Iterator[Event]:
    """The events of the session's hunks that are missing in its journal: hunks that landed right before a
    crash, or that another command has undone or landed again since."""
    told: dict[str, str] = {}
    for event in events:
        if isinstance(event, HunkLanded | HunkRedone):
            told[event.hunk] = "landed"
        elif isinstance(event, HunkUndone):
            told[event.hunk] = "undone"
    for record in records:
        if record.session != session:
            continue
        if record.id not in told:
            yield _landed(record)
        if record.state != told.get(record.id, "landed"):
            kind = HunkUndone if record.state == "undone" else HunkRedone
            path, moved_to = record.moved_from or record.path, record.path if record.moved_from else None
            if moved_to is not None and kind is HunkUndone:
                path, moved_to = moved_to, path
            yield kind(
                hunk=record.id,
                path=clean_line(path),
                start=record.start,
                end=record.end,
                moved_to=clean_line(moved_to) if moved_to else None,
            )


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
