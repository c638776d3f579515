"""Settles the landings that a killed process left open, and tells the user about those that it cannot."""

from __future__ import annotations

from edits.ledger.entry import State
from edits.ledger.ledger import Ledger
from edits.ledger.shared_lock import LockHeldError
from session.base.events import Notice
from session.base.text.sanitize import clean_line

LOST = "{hunk}: spark was stopped while writing {path}, and the file has changed since; it is left as it is"
DAMAGED = (
    "the record of past edits is damaged: {count} of its lines were set aside in {file}; "
    "edits that they are about cannot be undone, all others can"
)

LONGEST_WAIT = 2.0
"""Seconds to wait for another process that uses the ledger. Later landings settle what is open as well."""


def settle_interrupted(ledger: Ledger) -> list[Notice]:
    """Settle the landings that are open in ``ledger``. Returns a warning for each hunk that can be neither
    finished nor undone, and one for damaged records; or one that says who keeps the ledger. Raises OSError if
    the ledger cannot be read or written."""
    known = ledger.set_aside
    try:
        recovered = ledger.recover(LONGEST_WAIT)
    except LockHeldError as held:
        return [Notice(level="warning", text=clean_line(f"edits have to wait: {held.message}"))]
    lost = [left for left in recovered if left.state is State.LOST]
    told = [LOST.format(hunk=left.hunk, path=left.path) for left in lost]
    damaged = ledger.set_aside - known
    if damaged:
        told.append(DAMAGED.format(count=damaged, file=ledger.damaged_file))
    return [Notice(level="warning", text=clean_line(text)) for text in told]
