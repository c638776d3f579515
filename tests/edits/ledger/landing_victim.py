"""A process that lands, undoes or moves, and kills itself with SIGKILL after the n-th step.

Run as ``python -m tests.edits.ledger.landing_victim ROOT LEDGER WHAT N``; it prints the number of steps when
it lives to the end.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from edits.landing import Landing
from edits.ledger.ledger import Ledger

HUNKS = {
    "update": Hunk(
        "a.txt",
        Action.UPDATE,
        Format.V4A,
        (HunkLine(LineKind.OLD, "line 3"), HunkLine(LineKind.NEW, "LINE 3"), HunkLine(LineKind.NEW, "more")),
    ),
    "add": Hunk("new/file.txt", Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "made"),)),
    "delete": Hunk("a.txt", Action.DELETE, Format.V4A),
    "move": Hunk("a.txt", Action.MOVE, Format.V4A, move_to="moved/b.txt"),
}


def main(root: str, ledger_folder: str, what: str, fatal: int) -> None:
    steps = 0

    def step(name: str) -> None:
        nonlocal steps
        del name
        steps += 1
        if steps == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    landing = Landing(Path(root), Ledger(Path(ledger_folder)), step=step)
    if what == "undo":
        landing.undo("h1")
    else:
        landing.land(HUNKS[what.removesuffix("-linked")], hunk_id="h1")
    print(steps)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
