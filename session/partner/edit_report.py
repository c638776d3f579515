"""Reads a front end's report on the edits it was sent (the lines of ``edits.report``)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from edits.report import HEADING

_LINE = re.compile(
    r"^- (?P<id>\S+) "
    r"(?P<status>applied_fuzzy|applied|already_applied|rejected|not_received|undone_by_user)"
    r"(?: \((?P<code>\w+)\))? "
    r"(?P<path>.+?)(?: lines \d+-\d+)?(?:: .*)?$"
)


@dataclass(frozen=True, slots=True)
class Reported:
    """One line of a report: the front end's id of a hunk, its file and its status."""

    id: str
    status: str
    path: str

    @property
    def settled(self) -> bool:
        """Whether the hunk is not sent again: it landed, was refused, or the user undid it."""
        return self.status != "not_received"


def read_report(text: str) -> list[Reported]:
    """The lines of every report in ``text``, after its heading, without the indented lines of refusals."""
    start = text.find(HEADING)
    if start < 0:  # most items are not reports, and some are long
        return []
    reported = []
    inside = False
    for line in text[start:].splitlines():
        if line.strip() == HEADING:
            inside = True
        elif inside and not line.startswith(("- ", " ", "\t")):
            inside = False
        elif inside and (found := _LINE.match(line)):
            reported.append(Reported(found["id"], found["status"], found["path"]))
    return reported
