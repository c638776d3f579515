"""Folds lines: models often change trailing space and Unicode punctuation, which is ignored then."""

from __future__ import annotations

from collections.abc import Sequence

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SINGLE = "\u2018\u2019\u201a\u201b\u2032"
_DOUBLE = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_SPACES = "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_FOLDED: dict[int, str | None] = {
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, _SINGLE), "'"),
    **dict.fromkeys(map(ord, _DOUBLE), '"'),
    **dict.fromkeys(map(ord, _SPACES), " "),
    0x2026: "...",
    0x200B: None,
    0xFEFF: None,
}


def fold(lines: Sequence[str]) -> list[str]:
    """Each line with ASCII punctuation and without trailing space."""
    return [(line if line.isascii() else line.translate(_FOLDED)).rstrip() for line in lines]


def indentation(line: str) -> str:
    """The white space at the beginning of a line."""
    return line[: len(line) - len(line.lstrip())]
