"""Keeps what was killed, as Emacs and the shells do: kills in a row are one, and yanking puts it back."""

from __future__ import annotations

MOST = 30
"""Kills that are kept."""


class KillRing:
    """What was killed, the newest last."""

    def __init__(self) -> None:
        self._kills: list[str] = []
        self._in_a_row = False
        self._at = 0

    def kill(self, text: str, *, backwards: bool) -> None:
        """Keep ``text``; right behind another kill it is joined to that one."""
        if not text:
            return
        if self._in_a_row and self._kills:
            last = self._kills[-1]
            self._kills[-1] = text + last if backwards else last + text
        else:
            self._kills = [*self._kills[-MOST + 1 :], text]
        self._in_a_row = True
        self._at = len(self._kills) - 1

    def end_row(self) -> None:
        """Another key came: the next kill stands for itself."""
        self._in_a_row = False

    def yank(self) -> str:
        """What was killed last; empty where nothing was."""
        self._at = len(self._kills) - 1
        return self._kills[-1] if self._kills else ""

    def earlier(self) -> str:
        """What was killed before what was yanked last, round to the newest again."""
        if not self._kills:
            return ""
        self._at = (self._at - 1) % len(self._kills)
        return self._kills[self._at]
