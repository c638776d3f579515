"""How far a pane of rows moves up when a new row does not fit any more.

Moving by a row paints the whole pane for each row, and nobody can read text that never stands still. So when
rows come fast the view moves by half of the pane at once: each row is then painted about twice.
"""

from __future__ import annotations

FAST = 8.0
"""Rows in a second from which on the view moves by half of the pane."""


class JumpScroll:
    """Follows how fast rows come."""

    def __init__(self) -> None:
        self._rows = 0
        self._at = float("-inf")

    def room(self, rows: int, height: int, now: float) -> int:
        """The rows to leave empty below the text; asked whenever the view has to move. ``rows`` is how many
        there are, ``now`` the time in seconds on any clock."""
        grown, passed = rows - self._rows, now - self._at
        self._rows, self._at = rows, now
        return height // 2 if grown > 0 and grown >= FAST * passed else 0
