"""Where vi's motions lead: a text and a place in it, in; the place to go to, out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_WORD = re.compile(r"\w+|[^\w\s]+")
_LONG_WORD = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Motion:
    """A motion: where it leads, and how an operator takes what lies between."""

    to: Callable[[str, int], int]
    lines: bool = False
    """Whether operators take whole lines."""
    inclusive: bool = False
    """Whether operators take the character at the end too."""


def line_start(text: str, at: int) -> int:
    """The start of the line."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """The end of the line, before its break."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def first_letter(text: str, at: int) -> int:
    """The first character of the line that is no blank."""
    start, end = line_start(text, at), line_end(text, at)
    return start + len(text[start:end]) - len(text[start:end].lstrip())


def last_place(text: str, at: int) -> int:
    """The last character of the line, where the cursor of normal mode can be."""
    return max(line_start(text, at), line_end(text, at) - 1)


def _left(text: str, at: int) -> int:
    return max(line_start(text, at), at - 1)


def _right(text: str, at: int) -> int:
    return min(line_end(text, at), at + 1)


def _next_word(words: re.Pattern[str]) -> Callable[[str, int], int]:
    return lambda text, at: next(
        (word.start() for word in words.finditer(text) if word.start() > at), len(text)
    )


def _word_end(words: re.Pattern[str]) -> Callable[[str, int], int]:
    return lambda text, at: next(
        (word.end() - 1 for word in words.finditer(text) if word.end() - 1 > at), max(0, len(text) - 1)
    )


def _word_before(words: re.Pattern[str]) -> Callable[[str, int], int]:
    def before(text: str, at: int) -> int:
        starts = [word.start() for word in words.finditer(text[:at])]
        return starts[-1] if starts else 0

    return before


def _row(by: int) -> Callable[[str, int], int]:
    def other_row(text: str, at: int) -> int:
        column = at - line_start(text, at)
        if by > 0:
            start = line_end(text, at) + 1
            if start > len(text):
                return at
        else:
            start = line_start(text, max(0, line_start(text, at) - 1))
            if line_start(text, at) == 0:
                return at
        return min(start + column, line_end(text, start))

    return other_row


def to_character(text: str, at: int, how: str, character: str) -> int:
    """Where ``f``, ``F``, ``t`` and ``T`` lead; ``at`` where the line has no such character."""
    if how in "ft":
        found = text.find(character, at + 1, line_end(text, at))
        return at if found < 0 else found - (how == "t")
    found = text.rfind(character, line_start(text, at), at)
    return at if found < 0 else found + (how == "T")


MOTIONS = {
    "h": Motion(_left),
    "l": Motion(_right),
    "j": Motion(_row(1), lines=True),
    "k": Motion(_row(-1), lines=True),
    "w": Motion(_next_word(_WORD)),
    "W": Motion(_next_word(_LONG_WORD)),
    "b": Motion(_word_before(_WORD)),
    "B": Motion(_word_before(_LONG_WORD)),
    "e": Motion(_word_end(_WORD), inclusive=True),
    "E": Motion(_word_end(_LONG_WORD), inclusive=True),
    "0": Motion(line_start),
    "^": Motion(first_letter),
    "$": Motion(line_end),
    "gg": Motion(lambda text, at: 0, lines=True),
    "G": Motion(lambda text, at: line_start(text, len(text)), lines=True),
}
"""The motions by their keys."""
SAME_AS = {
    "left": "h",
    "right": "l",
    "up": "k",
    "down": "j",
    "backspace": "h",
    "space": "l",
    " ": "l",
    "home": "0",
    "end": "$",
}
"""Keys that are another name of a motion."""
