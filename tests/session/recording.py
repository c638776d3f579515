"""A real recorder, whose events a test can read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from session.base.events import Event
from session.record.journal.journals import Journal
from session.record.journal.recorder import Recorder


def recorder_for(folder: Path, take: Callable[[Event], None]) -> Recorder:
    """A recorder that keeps its journal in ``folder`` and hands every event to ``take``."""
    recorder = Recorder(Journal(folder, "20260101-000000-0000"))
    recorder.subscribe(take)
    return recorder
