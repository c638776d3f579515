"""The common part of ``spark undo`` and ``spark redo``."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from session.base.events import HunkRefused
from session.base.text.line_range import line_range
from session.commands.apply import redo_hunk, undo_hunk
from tui.cli.options import opening_workspace
from tui.front.exits import DONE, FAILED, leave
from tui.front.printing import say, say_waiting


def take_back(folder: Path, hunk: str | None, *, again: bool) -> NoReturn:
    """Undo ``hunk``, or redo it when ``again``; print the result and exit."""
    workspace = opening_workspace(folder)
    workspace.ledger.wait.tell = say_waiting
    event = (redo_hunk if again else undo_hunk)(workspace, hunk)
    if isinstance(event, HunkRefused):
        subject = " ".join(part for part in (event.hunk, event.path) if part)
        leave(f"{subject}: {event.message}" if subject else event.message, FAILED)
    place = line_range(event.start, event.end)
    say(f"{event.hunk} {'redone' if again else 'undone'} {event.place}{place}")
    raise SystemExit(DONE)
