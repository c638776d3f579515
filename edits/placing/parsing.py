"""Places a hunk so that its file parses afterwards, if it parsed before and the place is not certain.

A refactoring in several hunks goes through states that do not parse, so a hunk whose old text is in the file
as it was typed lands whatever it does, unless another reading of it parses. What only a looser rung could
place is not landed where it breaks the file: the place is too likely to be wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from edits.files.text import TextFile
from edits.hunk import Hunk, RefusalCode, Rung
from edits.placing.locate import Miss, Present, Symbols
from edits.placing.place import Placed, place
from edits.placing.splices import spliced

Checker = Callable[[str, str], str | None]
"""Says what is wrong with a file's text, in a few words, or None: called with the path and the text."""


def place_parsed(
    file: TextFile, hunk: Hunk, symbols: Symbols, checker: Checker | None
) -> Placed | Present | Miss:
    """The place of ``hunk``, in a reading with which the file still parses if there is one."""
    found = place(file, hunk, symbols)
    if checker is None or not isinstance(found, Placed) or not found.splices:
        return found
    if found.rung is Rung.EXACT and not hunk.alternatives:
        return found
    wrong = checker(hunk.path, spliced(file, found.splices))
    if wrong is None or checker(hunk.path, file.text) is not None:
        return found
    for lines in hunk.alternatives:
        other = place(file, replace(hunk, lines=lines, alternatives=()), symbols)
        if not isinstance(other, Placed) or not other.splices:
            continue
        if checker(hunk.path, spliced(file, other.splices)) is None:
            return other
    if found.rung is Rung.EXACT:
        return found
    where = f"lines {found.start}-{found.end - 1}" if found.end - 1 > found.start else f"line {found.start}"
    message = f"the text is not quite that of {where}, and with the edit there: {wrong}"
    return Miss(RefusalCode.NO_MATCH, f"{message}; write the old text exactly as it is in the file")
