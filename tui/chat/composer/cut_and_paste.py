"""Cutting and pasting in the composer: killed text that yanking puts back, as Emacs and the shells keep it,
Ctrl+X, and large pastes as short labels (chips).

Ctrl+E behind Ctrl+X opens the user's own editor, as in a shell; else Ctrl+X cuts.
"""

from __future__ import annotations

import re
from typing import Protocol

from textual.timer import Timer

MOST_KILLS = 30
"""Kills that are kept."""
CHORD_PATIENCE = 1.0
"""Seconds in which Ctrl+E may come; then the line is cut."""
CUT, OUTSIDE = "ctrl+x", "ctrl+e"
BIG_CHARS = 2000
BIG_LINES = 12
_CHIP = re.compile(r"⟦paste (\d+) · [^⟧\n]*⟧")


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
            self._kills = [*self._kills[-MOST_KILLS + 1 :], text]
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
                self._timer = self._composer.set_cut_timer(CHORD_PATIENCE)
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


def is_big(text: str) -> bool:
    """Whether a paste is large enough for a chip."""
    return len(text) > BIG_CHARS or text.count("\n") >= BIG_LINES


class Chips:
    """The pastes of a composer, by their labels. A label stands for its paste wherever it is put."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def chip(self, text: str) -> str:
        """The label for ``text``."""
        if text in self._labels:
            return self._labels[text]
        lines = text.count("\n") + 1
        size = len(text.encode("utf-8", "replace"))
        shown = f"{size} bytes" if size < 1000 else f"{size / 1000:.1f} KB"
        label = f"⟦paste {len(self._texts) + 1} · {lines} line{'s' if lines > 1 else ''} · {shown}⟧"
        self._texts[label] = text
        self._labels[text] = label
        return label

    def whole(self, text: str) -> str:
        """``text`` with every chip replaced by its paste."""
        return _CHIP.sub(lambda chip: self._texts.get(chip[0], chip[0]), text)

    def short(self, text: str) -> str:
        """``text`` with every paste in it as its chip again: a prompt from the history, a text cut before."""
        for paste in sorted(self._labels, key=len, reverse=True):
            text = text.replace(paste, self._labels[paste])
        return text

    def around(self, line: str, column: int) -> tuple[int, int] | None:
        """The columns of the chip that ``column`` is inside of, or None."""
        for chip in _CHIP.finditer(line):
            if chip.start() < column < chip.end() and chip[0] in self._texts:
                return chip.span()
        return None

    def beside(self, line: str, column: int, before: int) -> int:
        """``column``, or the end of the chip around it: the far one for a cursor that comes from an end of
        the chip, the near one for others. ``before`` is the column that the cursor comes from."""
        found = self.around(line, column)
        if found is None:
            return column
        start, end = found
        if before <= start:
            return end
        if before >= end:
            return start
        return start if column - start < end - column else end
