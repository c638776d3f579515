"""Text shown as exactly what it is: what would be run must be read before it is allowed.

Runs of blanks could push the end of a command off the screen, and characters that cannot be seen could
change what it does, so both are written out.
"""

from __future__ import annotations

import re
import unicodedata

from session.base.text.invisible import is_invisible

LONGEST_RUN = 8
"""Blanks in a row that are still shown as blanks."""
_RUN = re.compile(rf"[^\S\n]{{{LONGEST_RUN + 1},}}")
_BLANK_LINES = re.compile(rf"\n{{{LONGEST_RUN + 1},}}")


def exact_lines(text: str) -> list[str]:
    """The lines of ``text``, with long runs of blanks as a count and unseen characters by their names."""
    text = _BLANK_LINES.sub(lambda run: f"\n⟨{len(run[0]) - 1:,} empty lines⟩\n", text)
    return [_RUN.sub(_count, line) for line in map(_named, text.split("\n"))]


def _count(run: re.Match[str]) -> str:
    return f"⟨{len(run[0]):,} blanks⟩"


def _named(line: str) -> str:
    return "".join(_name(character) for character in line)


def _name(character: str) -> str:
    if character == "\t":
        return "    "
    odd_blank = character.isspace() and character != " "
    if not odd_blank and not is_invisible(character):
        return character
    return f"⟨{unicodedata.name(character, f'U+{ord(character):04X}').lower()}⟩"
