"""Shortens text to a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

LEAST_ROOM = 200
"""Fewest tokens of room for which a call is made."""
LONGEST_LINE = 400
"""Most characters of a line if not all lines fit."""
_NOTE = 60
"""The tokens reserved for the text around the lines."""
_CHARS = 8
"""Tokens are rarely longer; text beyond this many characters per token is not counted."""


def lines_that_fit(lines: Sequence[str], room: int, count: Callable[[str], int]) -> int:
    """The number of first ``lines`` that fit into ``room`` tokens with a few words around them."""
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
    """``line``, without its middle if it is long."""
    more, end = len(line) - LONGEST_LINE, LONGEST_LINE // 2
    return line if more <= 0 else f"{line[:end]}… {more:,} characters not shown …{line[-end:]}"


def plural(number: int, word: str, many: str = "") -> str:
    """A number with its noun: ``1 match``, ``1,200 matches``."""
    return f"{number:,} {word if number == 1 else many or word + 's'}"
