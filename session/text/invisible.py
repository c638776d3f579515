"""Finding characters that a person does not see."""

from __future__ import annotations

import unicodedata

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""The general categories of Unicode whose characters have no shape of their own."""


def invisible_character(text: str) -> str:
    """The first character of ``text`` that cannot be seen, as ``U+200B``; empty if there is none.

    Tabs and line breaks are seen by what they do.
    """
    for character in text:
        if character not in "\n\t" and unicodedata.category(character) in _UNSEEN:
            return f"U+{ord(character):04X}"
    return ""
