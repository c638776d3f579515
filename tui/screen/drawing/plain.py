"""Foreign text on the screen: made safe to draw, for every character that could control a terminal becomes
visible, measured in cells, and cut to a width.

The session has stripped control sequences already; this is a second check for everything a pane draws. Drawn
text is never parsed as markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from rich.cells import cached_cell_len

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)}
_C1 = dict.fromkeys(range(0x80, 0xA0), "\ufffd")
# Bidirectional overrides reorder text: source code could read one way and run another.
_BIDI = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C), "\ufffd")
_BREAKS = {0x2028: "\u240a", 0x2029: "\u240a", 0xFEFF: "\ufffd"}
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_measured = lru_cache(maxsize=512)(cached_cell_len.__wrapped__)
"""Rich remembers the last 4,096 texts that it measured: of a streamed answer and a clock these are 0.8 MB."""
_TABLE = {**_PICTURES, 0x7F: "\u2421", **_C1, **_BIDI, **_BREAKS, **_SURROGATES}


def visible(text: str) -> str:
    """``text`` (one line) with every control character replaced by a visible mark of one cell."""
    if text.isprintable():
        return text
    return text.translate(_TABLE)


def untabbed(text: str, width: int = 4) -> str:
    """``text`` (one line) with tabs as spaces up to the next multiple of ``width`` cells."""
    return next(untabbed_pieces([text], width)) if "\t" in text else text


def untabbed_pieces(texts: Iterable[str], width: int = 4) -> Iterator[str]:
    """The pieces of one line with tabs as spaces up to the next multiple of ``width`` cells."""
    cells = 0
    for text in texts:
        out = []
        for index, piece in enumerate(text.split("\t")):
            blanks = (width - cells % width) if index else 0
            out += [" " * blanks, piece]
            cells += blanks + cell_len(piece)
        yield "".join(out)


def visible_lines(text: str) -> list[str]:
    """The drawable lines of ``text``."""
    return [visible(untabbed(line)) for line in text.split("\n")] if text else []


def cells_to(line: str, column: int) -> int:
    """The cells that ``line`` takes up to ``column``, as it is drawn."""
    return cell_len(visible(untabbed(line[:column])))


def column_at(line: str, cell: int) -> int:
    """The column of ``line`` that is drawn at ``cell``; its length where the line is shorter."""
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if cells_to(line, middle) <= cell:
            low = middle
        else:
            high = middle - 1
    return low


def clipped(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells; a longer one ends in an ellipsis."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    kept = text[: width - 1]
    while cell_len(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…"


def drawn(line: str, width: int) -> str:
    """A line of a file as it is drawn in at most ``width`` cells. Of a long one no more is read than can
    be in sight."""
    cut = line[: 8 * max(0, width) + 64]
    shown = visible(untabbed(cut))
    return clipped(f"{shown}…" if len(cut) < len(line) and cell_len(shown) <= width else shown, width)


def clipped_left(text: str, width: int) -> str:
    """Like :func:`clipped`, but cuts the start: the end of a path says most."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    kept = text[1 - width :] if width > 1 else ""
    while cell_len(kept) > width - 1:
        kept = kept[1:]
    return "…" + kept


def cell_len(text: str) -> int:
    """The cells that one line takes: a character of ASCII takes one, and rich knows of the others."""
    return len(text) if text.isascii() and text.isprintable() else _measured(text)


def fitting(line: str, width: int, between: str = " · ") -> str:
    """The hints of ``line`` that fit into ``width`` cells, from the first on: half a hint tells nothing. The
    first one is kept whatever the width."""
    kept, *rest = line.split(between)
    for hint in rest:
        if cell_len(kept) + cell_len(between) + cell_len(hint) > width:
            break
        kept += between + hint
    return kept
