"""Writes runs of cells with the fewest bytes: short moves of the cursor, changes of the pen, erasing.

The sequences are those of ECMA-48: CUP, CUF, CHA, ECH, EL and REP.
"""

from __future__ import annotations

from tui.terminal.grid.abilities import Abilities
from tui.terminal.grid.cells import is_uncertain
from tui.terminal.grid.pens import Pen, link_sequence, written

_REPEATED = 8
"""From this many equal characters on, they are written as one and its repetition."""
_BACK = 4
"""Up to this many cells to the left are gone with backspaces."""


class Writer:
    """Collects what is to be written, and knows where that leaves the cursor and the pen."""

    def __init__(self, width: int, height: int, abilities: Abilities) -> None:
        self._width, self._height = width, height
        self._can = abilities
        self._out: list[str] = []
        self._at: tuple[int, int] | None = None
        """The cursor's cell as (x, y); None when it is not known."""
        self._row: int | None = None
        """The cursor's row, where that is known."""
        self._pen: Pen | None = None

    def forget(self) -> None:
        """Nothing is known of cursor and pen; what was collected is not written."""
        self._out.clear()
        self._at = self._row = self._pen = None

    def take(self, cursor: tuple[int, int]) -> str:
        """What was collected, with the cursor at a cell in the end."""
        if self._out or self._at != cursor:
            self._go(*cursor)
        out = "".join(self._out)
        self._out.clear()
        return out

    def run(
        self,
        y: int,
        start: int,
        stop: int,
        texts: list[str | None],
        pens: list[Pen | None],
        *,
        erase: bool,
    ) -> None:
        """Write the cells ``start`` to ``stop`` of row ``y``; ``erase`` says whether blanks may be erased."""
        erase = erase and self._can.erase
        at = start
        while at < stop:
            pen = pens[at]
            end = at + 1
            while end < stop and pens[end] is pen:
                end += 1
            if pen is not None:
                self._piece(y, at, end, [text or "" for text in texts[at:end]], pen, erase)
            at = end

    def _piece(self, y: int, x: int, end: int, texts: list[str], pen: Pen, erase: bool) -> None:
        """Write cells of one pen."""
        text = "".join(texts)
        if not text.strip(" "):
            self._blanks(y, x, end, pen, erase)
        elif text.isascii():
            self._ink(pen)
            self._text(y, x, end, text)
        else:
            self._ink(pen)
            self._foreign(y, x, texts)

    def _foreign(self, y: int, x: int, texts: list[str]) -> None:
        """Write characters that may be wide, or of a width that terminals do not agree on."""
        certain = x
        for at, text in enumerate(texts, x):
            if not is_uncertain(text):
                continue
            if at > certain:
                self._text(y, certain, at, "".join(texts[certain - x : at - x]))
            certain = at + 1
            while certain - x < len(texts) and texts[certain - x] == "":
                certain += 1
            # A terminal that takes it for narrower leaves what was there before in the rest of its cells.
            self._text(y, at, certain, " " * (certain - at))
            self._go(at, y)
            self._out.append(text)
            self._at = None
        if certain < x + len(texts):
            self._text(y, certain, x + len(texts), "".join(texts[certain - x :]))

    def _text(self, y: int, x: int, end: int, text: str) -> None:
        """Write text in the pen that is set."""
        self._go(x, y)
        count = end - x
        # Only ASCII: tmux does not repeat what is more than a byte.
        if count >= _REPEATED and self._can.repeat and text.isascii() and text == text[0] * count:
            self._out.append(f"{text[0]}\x1b[{count - 1}b")
        else:
            self._out.append(text)
        # Behind the last cell the cursor stays on it, or waits to wrap: terminals differ.
        self._at = (end, y) if end < self._width else None

    def _blanks(self, y: int, x: int, end: int, pen: Pen, erase: bool) -> None:
        """Write blanks, or erase. Blanks can be written in any pen that draws them alike."""
        before = self._pen
        if not (pen.erases and before is not None and before.blank is pen.blank and before.erases):
            self._ink(pen)
        if not (erase and pen.erases):
            self._text(y, x, end, " " * (end - x))
        elif end == self._width and end - x > 3:
            self._go(x, y)
            self._out.append("\x1b[K")
        elif end - x > 8:
            self._go(x, y)
            self._out.append(f"\x1b[{end - x}X")
        else:
            self._text(y, x, end, " " * (end - x))

    def _ink(self, pen: Pen) -> None:
        """Set the pen."""
        if self._pen is None:
            self._out.append(written(pen) + link_sequence(pen))
        elif self._pen is not pen:
            self._out.append(self._pen.change(pen))
        self._pen = pen

    def _go(self, x: int, y: int) -> None:
        """Move the cursor to a cell."""
        if self._at == (x, y):
            return
        if self._row != y:
            move = f"\x1b[{y + 1}H" if x == 0 else f"\x1b[{y + 1};{x + 1}H"
            if self._row == y - 1 and x == 0:
                move = "\r\n"
        elif x == 0:
            move = "\r"
        else:
            move = f"\x1b[{x + 1}G"
            if self._at is not None:
                step = x - self._at[0]
                if -_BACK <= step < 0:
                    move = "\b" * -step
                elif step > 0:
                    forward = f"\x1b[{step}C" if step > 1 else "\x1b[C"
                    move = min(forward, move, key=len)
        self._out.append(move)
        self._at, self._row = (x, y), y
