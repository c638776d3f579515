"""Lands an attempt's edits in the project: all of them fit, or none is written."""

from __future__ import annotations

from collections.abc import Sequence

from edits.hunk import Hunk, Refused
from session.race.attempt_files import AttemptFiles
from session.race.attempt_life import Result
from session.turn.failures import TurnFailedError
from session.turn.lane import Lane

CHANGED = "changed"
"""The code of a turn that failed because the project changed under its attempts."""


def rehearse(edits: Sequence[Hunk], files: AttemptFiles) -> Result:
    """Place ``edits`` in ``files``, which are the project as it is now, and return what they do to it.
    Called in the edit thread.

    Raises TurnFailedError if one of them does not fit.
    """
    for edit in edits:
        placed = files.write(files.next_id(), "", edit, frozenset())
        if isinstance(placed, Refused):
            # The message may end in lines of the file.
            why = f"the project has changed, and the attempt no longer fits: {placed.message}"
            raise TurnFailedError(f"nothing was landed: {why}", CHANGED)
    return files.result()


async def land(edits: Sequence[Hunk], lane: Lane) -> None:
    """Land ``edits`` as hunks of the lane's turn, and wait until each has ended."""
    for edit in edits:
        lane.land(edit)
    await lane.settled()
