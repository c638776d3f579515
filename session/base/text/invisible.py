"""Finding characters that a person does not see in text that must be read exactly, such as a command."""

from __future__ import annotations

import unicodedata

_NO_SHAPE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""The general categories of Unicode whose characters have no shape of their own."""


def is_invisible(character: str) -> bool:
    """Whether one character cannot be seen. Stricter than ``context.text.unseen``, whose characters are all
    among these: here private and unassigned characters count too, and no script is excused."""
    if " " <= character <= "~":
        return False
    from context.text.unseen import is_unseen  # commands are seldom anything but ASCII

    return unicodedata.category(character) in _NO_SHAPE or is_unseen(character)


def invisible_character(text: str) -> str:
    """The first character of ``text`` that cannot be seen, as ``U+200B``; empty if there is none.

    Tabs and line breaks are seen by what they do.
    """
    for character in text:
        if character not in "\n\t" and is_invisible(character):
            return f"U+{ord(character):04X}"
    return ""
