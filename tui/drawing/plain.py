"""The one place where foreign text becomes drawable: what could steer a terminal is made visible.

The session has stripped control sequences already; this is the second lock on the same door, for
everything a pane draws. Nothing drawn is ever read as markup.
"""

from __future__ import annotations

from rich.cells import cell_len

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20)}
_C1 = dict.fromkeys(range(0x80, 0xA0), "\ufffd")
# Bidirectional overrides reorder what is shown: source that reads one way and runs another.
_BIDI = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C), "\ufffd")
_BREAKS = {0x2028: "\u240a", 0x2029: "\u240a", 0xFEFF: "\ufffd"}
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
# What the editor shows for the stand-ins of tui.panes.shield.
_SHIELDED = {0x10FFD0 + index: code for index, code in enumerate("␍␋␌␜␝␞␤␊␊")}
_TABLE = {**_SHIELDED, **_PICTURES, 0x7F: "\u2421", **_C1, **_BIDI, **_BREAKS, **_SURROGATES}


def visible(text: str) -> str:
    """``text`` (one line) with every control character replaced by a visible mark of one cell."""
    if text.isprintable():
        return text
    return text.translate(_TABLE)


def untabbed(text: str, width: int = 4) -> str:
    """``text`` (one line) with tabs as spaces up to the next multiple of ``width`` cells."""
    if "\t" not in text:
        return text
    out = ""
    for index, piece in enumerate(text.split("\t")):
        if index:
            out += " " * (width - cell_len(out) % width)
        out += piece
    return out


def clipped(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells, its end replaced by an ellipsis when it is longer."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    kept = text[: width - 1]
    while cell_len(kept) > width - 1:
        kept = kept[:-1]
    return kept + "…"


def clipped_left(text: str, width: int) -> str:
    """As :func:`clipped`, but losing the start: what a path's reader needs is its end."""
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    kept = text[1 - width :] if width > 1 else ""
    while cell_len(kept) > width - 1:
        kept = kept[1:]
    return "…" + kept
