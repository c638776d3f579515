"""Tells the user for which process the edit thread waits."""

from __future__ import annotations

import asyncio
import contextlib

from edits.ledger.ledger import Ledger
from session.base.events import Notice
from session.base.text.sanitize import clean_line
from session.record.journal.recorder import Recorder


def tell_waits(ledger: Ledger, recorder: Recorder, *, attended: bool) -> None:
    """From now on publish a notice about each long wait for ``ledger``. Call it on the event loop."""
    loop = asyncio.get_running_loop()
    todo = "; Esc stops waiting" if attended else ""

    def tell(line: str) -> None:
        notice = Notice(level="warning", text=clean_line(f"{line}{todo}"))
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(recorder.publish, notice)

    ledger.wait.tell = tell
