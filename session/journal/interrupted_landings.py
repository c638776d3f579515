"""Settles the landings that a killed process left open, and tells the user about those that it cannot."""

from __future__ import annotations

from edits.ledger.entry import State
from edits.ledger.ledger import Ledger
from session.events import Notice
from session.text.sanitize import clean_line

LOST = "{hunk}: spark was stopped while writing {path}, and the file has changed since; it is left as it is"


def settle_interrupted(ledger: Ledger) -> list[Notice]:
    """Settle the landings that are open in ``ledger``. Returns a warning for each hunk that can be neither
    finished nor undone. Raises OSError if the ledger cannot be read or written."""
    return [
        Notice(level="warning", text=clean_line(LOST.format(hunk=left.hunk, path=left.path)))
        for left in ledger.recover()
        if left.state is State.LOST
    ]
