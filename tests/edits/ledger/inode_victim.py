"""Lands, undoes and recovers on a file system that runs out of files: ``python inode_victim.py FOLDER``.

``FOLDER`` is on a file system of its own. Prints what became of each hunk, and the room for files it had.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from edits.hunk import Landed
from edits.landing import Landing
from edits.ledger.ledger import Ledger
from tests.edits.ledger.landing_victim import HUNKS

TEXT = "".join(f"line {number}\n" for number in range(200))
ROOM = 10
"""Files for which there is room at most; a landing makes fewer."""


def fill(folder: Path, left: int) -> None:
    """Leave room for ``left`` files on the file system of ``folder``."""
    folder.mkdir()
    number = 0
    while os.statvfs(folder).f_ffree > left:
        (folder / str(number)).touch()
        number += 1


def whole(root: Path) -> dict[str, str]:
    """Every file below ``root``."""
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*") if path.is_file()}


def once(place: Path, kind: str, left: int) -> str:
    """One hunk with room for ``left`` files, and its undo; "landed" or "refused"."""
    root, ledger = place / "project", place / "ledger"
    root.mkdir(parents=True)
    (root / "a.txt").write_text(TEXT)
    before = whole(root)
    Landing(root, Ledger(ledger))
    fill(place / "fill", left)
    landed = isinstance(Landing(root, Ledger(ledger)).land(HUNKS[kind], hunk_id="h1"), Landed)
    after = whole(root)
    assert landed == (after != before), (kind, left, after)
    if landed:
        undone = isinstance(Landing(root, Ledger(ledger)).undo("h1"), Landed)
        assert whole(root) == (before if undone else after), (kind, left)
    shutil.rmtree(place / "fill")
    kept = Ledger(ledger)
    assert not kept.recover()
    assert [entry.id for entry in kept.hunks()] == ["h1"] * landed, (kind, left)
    if landed and not undone:
        Landing(root, kept).undo("h1")
    assert whole(root) == before, (kind, left)
    shutil.rmtree(place)
    return "landed" if landed else "refused"


def main() -> None:
    """Try every hunk with room for none to ``ROOM`` files."""
    for kind in HUNKS:
        for left in range(ROOM):
            print(kind, left, once(Path(sys.argv[1]) / "place", kind, left))


if __name__ == "__main__":
    main()
