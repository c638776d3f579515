"""Folds lines to compare them: models change trailing space, Unicode punctuation and indentation."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import normalize

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_SINGLE = "\u2018\u2019\u201a\u201b\u2032"
_DOUBLE = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_SPACES = "\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_INVISIBLE = "\u200b\u200c\u200d\u2060\u00ad\ufeff"
FOLDED: dict[int, str | None] = {
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, _SINGLE), "'"),
    **dict.fromkeys(map(ord, _DOUBLE), '"'),
    **dict.fromkeys(map(ord, _SPACES), " "),
    **dict.fromkeys(map(ord, _INVISIBLE), None),
    0x2026: "...",
}
"""What a character counts as; None for one that does not count."""


def alike_characters(character: str) -> list[int]:
    """The characters that count as the same as ``character``, if it is one that models type for another."""
    kinds = (_DASHES, _SINGLE + _DOUBLE, _SPACES, _INVISIBLE, "\u2026")
    return [ord(each) for kind in kinds if character in kind for each in kind]


def fold(lines: Sequence[str]) -> list[str]:
    """Each line with ASCII punctuation, in one normal form, and without trailing space."""
    return [(line if line.isascii() else normalize("NFC", line.translate(FOLDED))).rstrip() for line in lines]


def bare(lines: Sequence[str]) -> list[str]:
    """The lines with text, without their indentation, to compare what they say."""
    return [line.lstrip() for line in fold(lines) if line]


def indentation(line: str) -> str:
    """The white space at the beginning of a line."""
    return line[: len(line) - len(line.lstrip())]


def shared_indentation(lines: Sequence[str]) -> str:
    """The white space with which all lines begin that have any text."""
    depths = [indentation(line) for line in lines if line.strip()]
    first, last = min(depths, default=""), max(depths, default="")
    size = 0
    while size < min(len(first), len(last)) and first[size] == last[size]:
        size += 1
    return first[:size]


def tells(text: str) -> bool:
    """Whether a line has any letter or digit."""
    return any(map(str.isalnum, text))
