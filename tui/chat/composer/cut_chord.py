"""Ctrl+X in the composer: Ctrl+E behind it opens the user's own editor, as in a shell; else it cuts."""

from __future__ import annotations

from typing import Protocol

from textual.timer import Timer

PATIENCE = 1.0
"""Seconds in which Ctrl+E may come; then the line is cut."""
CUT, OUTSIDE = "ctrl+x", "ctrl+e"


class Cutting(Protocol):
    """What the chord needs of the composer."""

    def set_cut_timer(self, seconds: float) -> Timer:
        """Have :meth:`CutChord.cut` called after ``seconds``."""

    def action_cut(self) -> None:
        """Cut the selection, or the line."""

    def action_outside(self) -> None:
        """Edit the prompt in the user's own editor."""


class CutChord:
    """Waits for the second key. Any other key cuts first, and then does what it does."""

    def __init__(self, composer: Cutting) -> None:
        self._composer = composer
        self._timer: Timer | None = None

    def take(self, key: str, *, selected: bool) -> bool:
        """Take a key; true where that was all of it. A selection is cut at once."""
        if self._timer is None:
            if key == CUT and not selected:
                self._timer = self._composer.set_cut_timer(PATIENCE)
            return key == CUT and not selected
        if key == OUTSIDE:
            self._end()
            self._composer.action_outside()
        else:
            self.cut()
        return key in (CUT, OUTSIDE)

    def cut(self) -> None:
        """Cut, since no Ctrl+E came."""
        if self._timer is not None:
            self._end()
            self._composer.action_cut()

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
