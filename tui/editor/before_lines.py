"""What stood in the place of a landed hunk, drawn above the lines that replaced it."""

from __future__ import annotations

from collections.abc import Sequence

from tui.editor.hunk_in_flight import GhostRow
from tui.screen.drawing.plain import untabbed, visible

Change = tuple[str, str]
"""The text before and after one change of a hunk."""


def before_drawn(
    lines: Sequence[str], start: int, hunk: str, changes: Sequence[Change]
) -> list[tuple[int, tuple[GhostRow, ...]]]:
    """The old lines of ``changes``, which are in order, each above its new lines in the text ``lines``, which
    are looked for from row ``start`` on; pairs of a row and what is drawn before it."""
    drawn: list[tuple[int, tuple[GhostRow, ...]]] = []
    row = start
    for old, new in changes:
        wanted = new.removesuffix("\n").split("\n") if new else []
        row = _found(lines, wanted, row)
        head = f"── before {hunk} ──" if old else f"── {hunk} added these lines ──"
        texts = old.removesuffix("\n").split("\n") if old else []
        rows = [GhostRow(((visible(head), "muted"),), " ")]
        rows += [GhostRow(((visible(untabbed(text.rstrip("\r"))), "removed"),), "-") for text in texts]
        drawn.append((row, tuple(rows)))
        row += len(wanted)
    return drawn


def _found(lines: Sequence[str], wanted: Sequence[str], start: int) -> int:
    """The first row from ``start`` on where ``wanted`` stands; ``start`` where it is changed or nothing."""
    wanted = [line.rstrip("\r") for line in wanted]
    if wanted:
        for row in range(start, min(len(lines), start + 400)):
            if list(lines[row : row + len(wanted)]) == wanted:
                return row
    return min(start, len(lines))
