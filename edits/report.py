"""The report to the model: what became of each of its edits, one line a hunk.

Programs read these lines too, so their form is fixed::

    - h3 rejected (ambiguous) src/a.py: the text occurs 2 times …
    - h4 applied src/a.py lines 10-12
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from edits.hunk import Landed, RefusalCode, Refused

HEADING = "What became of your edits:"
MOST_EDITED = 40
"""Lines that are shown of a hunk that the user changed before it landed."""
_EDITED = "the developer changed it before it landed; these lines are on disk now"
CLOSING = "What landed is on disk: do not send it again."


@dataclass(frozen=True, slots=True)
class NotReceived:
    """A hunk that was cut off by an interrupt, a redirect or a lost connection."""

    hunk: str
    path: str


DECLINED = "the developer declined it"
"""Why a hunk was refused that the user declined; their own word follows after a colon, if any."""


@dataclass(frozen=True, slots=True)
class UndoneByUser:
    """A hunk that had landed, and that the user undid; ``why`` is the user's own word on it, if any."""

    hunk: str
    path: str
    why: str = ""


Outcome = Landed | Refused | NotReceived | UndoneByUser


def render(results: Sequence[Outcome]) -> str:
    """The report on ``results``, in their order; empty if there are none."""
    if not results:
        return ""
    lines = [HEADING, *map(_line, results)]
    if any(isinstance(result, Landed) for result in results):
        lines.append(CLOSING)
    return "\n".join(lines)


def _line(result: Outcome) -> str:
    path = result.path or "(no file)"
    match result:
        case Landed():
            where = f" lines {result.start}-{result.end - 1}" if result.end > result.start > 0 else ""
            message = f": moved to {result.moved_to}" if result.moved_to else ""
            if result.typed:
                message += f": you wrote {result.typed}, and only this file has that text"
            if result.edited is not None:
                message += f": {_EDITED}" + "".join(f"\n    {line}" for line in result.edited[:MOST_EDITED])
            return f"- {result.hunk} {result.status} {path}{where}{message}"
        case Refused(code=RefusalCode.INCOMPLETE):
            return f"- {result.hunk} not_received {path}: {_indented(result.message)}"
        case Refused():
            return f"- {result.hunk} rejected ({result.code}) {path}: {_indented(result.message)}"
        case NotReceived():
            return f"- {result.hunk} not_received {path}: it was cut off, nothing of it was written"
        case UndoneByUser():
            why = f": {_indented(result.why)}" if result.why else ""
            return f"- {result.hunk} undone_by_user {path}{why}"


def _indented(message: str) -> str:
    """The message, with its further lines indented below the first."""
    return message.replace("\n", "\n    ")
