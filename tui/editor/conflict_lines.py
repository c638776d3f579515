"""What is on disk where unsaved text conflicts with it, drawn below the user's lines."""

from __future__ import annotations

from tui.editor.buffers.buffer import OpenConflict
from tui.editor.hunk_in_flight import GhostRow
from tui.screen.drawing.plain import untabbed, visible


def theirs_drawn(conflict: OpenConflict) -> tuple[GhostRow, ...]:
    """The lines on disk where the user's unsaved text conflicts with them, drawn below the user's."""
    by = f"landed by {conflict.hunk}" if conflict.hunk else "changed outside of spark"
    by = f"{conflict.undone} undone" if conflict.undone else by
    lines = conflict.theirs or ("(the lines are deleted)",)
    rows = [f"── on disk, {by}; yours above ──", *map(untabbed, lines), "──"]
    return tuple(GhostRow(((visible(row), "warning"),), "!") for row in rows)
