"""Keeps characters that Textual's document takes for line ends from being eaten.

``Document`` splits with ``str.splitlines``: a form feed in a C file, or a lone carriage return, would
come back from the editor as a line feed and be saved as one. While a text is in the editor these
characters are stand-ins from the last private-use plane; they come back as they were.
"""

from __future__ import annotations

_EATEN = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_FIRST_STAND_IN = 0x10FFD0
_TO = {ord(char): _FIRST_STAND_IN + index for index, char in enumerate(_EATEN)}
_BACK = {stand_in: char for char, stand_in in _TO.items()}
_STAND_INS = "".join(map(chr, _BACK))


def hide_line_ends(text: str) -> str:
    """``text`` with stand-ins, so that ``\\n`` is its only line end."""
    # A search is a hundred times faster than a translation, and nearly all texts have no such character.
    return text.translate(_TO) if any(char in text for char in _EATEN) else text


def restore_line_ends(text: str) -> str:
    """The text with the original characters."""
    return text.translate(_BACK) if any(char in text for char in _STAND_INS) else text
