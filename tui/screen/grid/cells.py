"""Text as cells: one string for each cell of the terminal, which is empty for the second half of a wide
character."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from rich._unicode_data import load
from rich.cells import split_graphemes
from rich.segment import Segment

from tui.screen.grid.pens import Pen, Pens

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
