"""Printing lines that end between words: the terminal itself would break them anywhere."""

from __future__ import annotations

import re
from shutil import get_terminal_size

from prompt_toolkit.utils import get_cwidth

from tui.front.printing import say

CONTINUED = "↳"
"""Stands in the column of signs where a line of a diff goes on."""
_WORDS = re.compile(r"(\s*)(\S+)")


def say_in_words(text: str, first: str = "", rest: str = "") -> None:
    """Print lines, broken between words: ``first`` stands before each, and ``rest`` where one goes on."""
    width = get_terminal_size().columns - 1
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        before = max(get_cwidth(f"{each}{indent}".expandtabs()) for each in (first, rest))
        lead, *further = in_rows(line.lstrip(), width - before)
        say("\n".join([f"{first}{indent}{lead}", *(f"{rest}{indent}{each}" for each in further)]))


def say_diff(lines: list[str]) -> None:
    """Print lines of a diff, each with its sign as the first character."""
    for line in lines:
        say_in_words(line[1:], f"  {line[:1]}", f"  {CONTINUED} ")


def in_rows(text: str, width: int) -> list[str]:
    """``text`` in rows of at most ``width`` cells, without the blanks that it was broken at. A word that is
    longer stays whole."""
    if get_cwidth(text) <= width:
        return [text]
    rows, row = [], ""
    for blank, word in _WORDS.findall(text):
        if row and get_cwidth(f"{row}{blank}{word}") > width:
            rows.append(row)
            row = word
        else:
            row += f"{blank}{word}"
    return [*rows, row]
