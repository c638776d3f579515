"""Makes text from outside safe to show: every such text passes here on its way to a screen.

Models, files and servers may hold escape sequences that would move the cursor, set the clipboard
or hide text. Each character that cannot be seen is turned into a visible sign, so what was there can be seen
and none of it acts (``context.text.unseen`` says which they are). Text that must be read exactly, such as a
command, is searched for characters that a person does not see. The text of an edit on its way to a file
never passes here.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_PLAIN = re.compile(r"[\t\n -~]*")


def clean(text: str, before: str = "") -> str:
    """``text`` with every character that cannot be seen made visible; tabs and newlines stay, CR is dropped.

    Where a text comes in pieces, ``before`` is the piece in front of this one, or its end.
    """
    if _PLAIN.fullmatch(text):
        return text
    from context.text.unseen import shown  # most that is said before the first frame is plain

    first, *rest = text.split("\r")
    return shown(first, before) + "".join(shown(part, "\r") for part in rest)


def clean_line(text: str) -> str:
    """``text`` on one line: as :func:`clean`, with line breaks and tabs as single spaces."""
    return " ".join(clean(text.replace("\u2028", " ").replace("\u2029", " ")).split())


def json_line(record: Any) -> str:
    """``record`` as JSON on one line, in which everything that cannot be seen is escaped: no terminal acts on
    it, and a reader gets the exact text."""
    import json

    from context.text.unseen import escaped

    text = json.dumps(record, ensure_ascii=False)
    return escaped(text, lambda character: json.dumps(character)[1:-1])


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
