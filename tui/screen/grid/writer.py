"""Writes runs of cells with the fewest bytes: short moves of the cursor, changes of the pen, erasing.

The sequences are those of ECMA-48: CUP, CUF, CHA, ECH, EL, REP, IL and DL; and DECSTBM of the VT100, which
sets the margins of what IL and DL move.

Text as cells: one string for each cell of the terminal, which is empty for the second half of a wide
character.

What the terminal can do beyond writing text in place, as far as the environment says.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich._unicode_data import load
from rich.cells import split_graphemes
from rich.segment import Segment

from tui.screen.grid.pens import Pen, Pens, link_sequence, written


@dataclass(frozen=True, slots=True)
class Abilities:
    """Sequences that save bytes, and that not every terminal has."""

    erase: bool = False
    """ECH and EL, in the background's colour."""
    scroll: bool = False
    """DECSTBM, and IL and DL between its margins."""
    repeat: bool = False
    """REP: the last character again."""


_REPEATING = ("xterm-kitty", "foot", "alacritty", "wezterm", "xterm-ghostty", "contour")
"""Beginnings of TERM whose terminals have REP in every version."""
_KNOWN = ("xterm", "tmux", "rxvt", "linux", "konsole", "vte", "gnome", "st-", "iterm", *_REPEATING)
"""Beginnings of TERM whose entries in terminfo have ``ech``, ``bce``, ``csr``, ``il`` and ``dl``, and tmux,
which has them all."""


def abilities(environ: Mapping[str, str]) -> Abilities:
    """What the terminal of this environment is known to do. ``screen`` may be GNU screen, which erases
    without colour, unless tmux says that it is tmux."""
    term = environ.get("TERM", "")
    if environ.get("TERM_PROGRAM") == "tmux" and term.startswith(("tmux", "screen")):
        return Abilities(
            erase=True, scroll=True, repeat=_number(environ.get("TERM_PROGRAM_VERSION", "")) >= 3
        )
    repeats = term.startswith(_REPEATING) or (
        term.startswith("xterm")
        and ("XTERM_VERSION" in environ or _number(environ.get("VTE_VERSION", "")) >= 5000)
    )
    known = term.startswith(_KNOWN)
    return Abilities(erase=known, scroll=known, repeat=repeats)


def _number(text: str) -> int:
    found = re.match(r"\d{1,6}", text)
    return int(found[0]) if found else 0


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_WIDE_EVERYWHERE = (
    (0x1100, 0x115F),
    (0x2E80, 0x303E),
    (0x3041, 0xA4CF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFF01, 0xFF60),
)
"""Wide characters on whose width all terminals agree: the older ones of East Asia."""


class Cells:
    """A piece of a row."""

    __slots__ = ("pens", "texts", "uncertain")

    def __init__(self, texts: list[str], pens: list[Pen], uncertain: bool) -> None:
        self.texts = texts
        self.pens = pens
        self.uncertain = uncertain
        """Whether it has a cell that :func:`is_uncertain`."""


def cells_of(segments: Iterable[Segment], pens: Pens) -> Cells:
    """The cells of styled text. Control characters take no cell and are left out; what is as wide as no
    cell joins the character before it."""
    texts: list[str] = []
    drawn: list[Pen] = []
    uncertain = False
    for text, style, _ in segments:
        pen = pens.of(style)
        if text.isascii() and text.isprintable():
            pieces: Iterable[str] = text
        else:
            head, pieces, doubtful = _split(text)
            uncertain = uncertain or doubtful
            if head and texts:
                at = -2 if texts[-1] == "" and len(texts) > 1 else -1
                texts[at] += head
                uncertain = uncertain or is_uncertain(texts[at])
        before = len(texts)
        texts += pieces
        blank = pen.blank
        if blank is pen or " " not in text:
            drawn += [pen] * (len(texts) - before)
        else:
            drawn += [blank if piece == " " else pen for piece in pieces]
    return Cells(texts, drawn, uncertain)


@lru_cache(maxsize=128)  # about a screen: of a wide row the cells take several times the memory of its text
def _split(text: str) -> tuple[str, tuple[str, ...], bool]:
    """What belongs to the cell before ``text``, its cells, and whether one of them is uncertain."""
    text = _CONTROL.sub("", text)
    head = ""
    out: list[str] = []
    uncertain = False
    for start, end, width in split_graphemes(text)[0]:
        grapheme = text[start:end]
        if width == 0:
            head += grapheme
            continue
        uncertain = uncertain or is_uncertain(grapheme)
        out.append(grapheme)
        out += [""] * (width - 1)
    return head, tuple(out), uncertain


@lru_cache(maxsize=4096)
def is_uncertain(grapheme: str) -> bool:
    """Whether terminals disagree on how many cells ``grapheme`` takes: emoji, and what is joined of several
    characters. Accents are no matter of doubt."""
    if not grapheme:
        return False
    base = grapheme[0]
    if not all(map(unicodedata.combining, grapheme[1:])):
        return True
    code = ord(base)
    if code < 0xA0:
        return False
    if any(first <= code <= last for first, last in _WIDE_EVERYWHERE):
        return False
    return code >= 0x10000 or base in load("auto").narrow_to_wide or _is_wide(base)


def _is_wide(character: str) -> bool:
    return split_graphemes(character)[1] == 2


_REPEATED = 8
"""From this many equal characters on, they are written as one and its repetition."""
_BACK = 4
"""Up to this many cells to the left are gone with backspaces."""


_Piece = tuple[int, int, int, list[str], Pen, bool]
"""Cells of one pen: their row, the first, one past the last, their texts; and whether they may be erased."""


def _by_pen(pieces: list[_Piece], now: Pen | None) -> list[_Piece]:
    """``pieces`` with those of one pen behind each other, first those of ``now``, which is set."""
    if len(pieces) < 3:
        return pieces
    groups: dict[Pen, list[_Piece]] = {}
    last = now
    for piece in pieces:
        pen = piece[4]
        # Blanks are written with what is before them, where that draws them alike.
        if last is None or pen is not pen.blank or not _draws_blanks_of(last, pen):
            last = pen
        groups.setdefault(last, []).append(piece)
    backgrounds = dict.fromkeys(pen.background for pen in (*([now] if now else []), *groups))
    order = {background: at for at, background in enumerate(backgrounds)}
    pens = sorted(groups, key=lambda pen: (pen is not now, order[pen.background]))
    return [piece for pen in pens for piece in groups[pen]]


def _draws_blanks_of(pen: Pen, other: Pen) -> bool:
    """Whether a blank looks alike in both pens."""
    return pen.erases and other.erases and pen.blank is other.blank


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
        self._pieces: list[_Piece] = []
        """What is to be written, in the order of its rows."""
        self._written: dict[int, int] = {}
        """By row: one past the last cell of these pieces."""

    def forget(self) -> None:
        """Nothing is known of cursor and pen; what was collected is not written."""
        self._out.clear()
        self._pieces.clear()
        self._written.clear()
        self._at = self._row = self._pen = None

    def take(self, cursor: tuple[int, int]) -> str:
        """What was collected, with the cursor at a cell in the end."""
        self._write_pieces()
        if self._out or self._at != cursor:
            self._go(*cursor)
        out = "".join(self._out)
        self._out.clear()
        return out

    def scroll(self, top: int, bottom: int, by: int) -> bool:
        """Move the rows from ``top`` to before ``bottom`` up, or down where ``by`` is negative; false where
        the terminal cannot, or nothing of them would stay."""
        if not self._can.scroll or not 0 < abs(by) < bottom - top:
            return False
        self._write_pieces()
        lines = f"\x1b[{by}M" if by > 0 else f"\x1b[{-by}L"
        self._out.append(f"\x1b[{top + 1};{bottom}r\x1b[{top + 1}H{lines}\x1b[r")
        self._at = self._row = None
        return True

    def erase_rows(self, rows: Sequence[int], pen: Pen | None) -> Pen | None:
        """Erase whole rows with ``pen``; the pen of their cells then, None where they are as they were."""
        if pen is None or not (pen.erases and self._can.erase):
            return None
        self._blank_ink(pen)
        for y in rows:
            self._go(0, y)
            self._out.append("\x1b[K")
        return pen.blank

    def run(
        self,
        y: int,
        start: int,
        stop: int,
        texts: list[str | None],
        pens: list[Pen | None],
        *,
        erase: bool,
        in_order: bool = False,
    ) -> None:
        """Write the cells ``start`` to ``stop`` of row ``y``; ``erase`` says whether blanks may be erased.

        Cells are written pen by pen, unless they are to be written ``in_order``: a change of the pen takes
        more bytes than a move of the cursor."""
        if in_order or start < self._written.get(y, 0):
            self._write_pieces()
        self._written[y] = stop
        erase = erase and self._can.erase
        at = start
        while at < stop:
            pen = pens[at]
            end = at + 1
            while end < stop and pens[end] is pen:
                end += 1
            if pen is not None:
                self._pieces.append((y, at, end, [text or "" for text in texts[at:end]], pen, erase))
            at = end
        if in_order:
            self._write_pieces(in_order=True)

    def _write_pieces(self, *, in_order: bool = False) -> None:
        """Write what was collected."""
        pieces = self._pieces if in_order else _by_pen(self._pieces, self._pen)
        for piece in pieces:
            self._piece(*piece)
        self._pieces.clear()
        self._written.clear()

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
        """Write blanks, or erase."""
        self._blank_ink(pen)
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

    def _blank_ink(self, pen: Pen) -> None:
        """Set a pen that draws blanks as ``pen`` does."""
        if self._pen is None or not _draws_blanks_of(self._pen, pen):
            self._ink(pen)

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
