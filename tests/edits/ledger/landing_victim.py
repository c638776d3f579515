"""Hunks of each kind, which tests land where processes die, disks fail and files run out."""

from __future__ import annotations

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind

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
