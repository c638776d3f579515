"""As much of something as its room allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

LEAST_ROOM = 200
"""Tokens below which a call is not worth making."""
LONGEST_LINE = 400
"""Characters of a line that are shown where there is no room for all of it."""
_NOTE = 60
"""Tokens kept for what is said around the lines."""
_CHARS = 8
"""More characters than this a token seldom has; text beyond is not even counted."""


def fitting(lines: Sequence[str], room: int, count: Callable[[str], int]) -> int:
    """How many of ``lines``, from the first, fit in ``room`` tokens together with a few words around them."""
    room -= _NOTE
    least, most = 0, _at_most(lines, room * _CHARS)
    if count("\n".join(lines[:most])) <= room:
        return most
    while least < most:
        middle = (least + most + 1) // 2
        if count("\n".join(lines[:middle])) <= room:
            least = middle
        else:
            most = middle - 1
    return least


def _at_most(lines: Sequence[str], characters: int) -> int:
    for number, line in enumerate(lines):
        characters -= len(line) + 1
        if characters < 0:
            return number
    return len(lines)


def shortened(line: str) -> str:
    """``line`` without its middle, where it is long."""
    more, end = len(line) - LONGEST_LINE, LONGEST_LINE // 2
    return line if more <= 0 else f"{line[:end]}… {more:,} characters not shown …{line[-end:]}"


def plural(number: int, word: str, many: str = "") -> str:
    """``number`` things: ``1 match``, ``1,200 matches``."""
    return f"{number:,} {word if number == 1 else many or word + 's'}"
