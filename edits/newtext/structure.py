"""Whether lines are indented as code and prose are: deeper only below a line that opens something.

This knows no language. It compares two ways to indent the same lines, of which one breaks the rule more
often than the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from edits.files.folding import indentation

_OPENS_LAST = re.compile(
    r".*(?:[:{(\[=\\+*/|&?<>-]|=>|->|\b(?:then|do|begin|else|and|or|not|in|return|of|try|is|function|end))\s*"
)
_OPENS_FIRST = re.compile(
    r"(?:[-*+]\s|\d+[.)]\s|<\w|@|\.\w|#|if|for|while|else|elsif|elif|do|try|except|catch|finally|switch|case|default|when|with|unless"
    r"|until|def|class|module|struct|interface|func|fn|function|namespace|begin|loop|match|select|from|where"
    r"|join|set|values|end)(?![\w-])",
    re.IGNORECASE,
)
_CONTINUES = re.compile(r"(?:[.?:+|&=*]|/(?![/*])|-(?!-)|and\b|or\b)")
_MUST_OPEN = re.compile(
    r"(?:if|for|while|else|elif|def|class|try|except|finally|with|async|match)\b.*:|.*[{(\[]"
)
_COMMENT = re.compile(r"(?:#|//|/\*|\*|--|<!--|;|%|\"\"\"|''')")
_AS_DEEP = re.compile(r"(?:[)\]}]|case\b|default\b|#|//|/\*|\*|\w+:$|public\b|private\b|protected\b)")


def breaks(lines: Sequence[tuple[str, bool]]) -> int:
    """How often the indentation of ``lines`` breaks the rule; a pair counts if one of them is marked."""
    count = 0
    levels: list[str] = []
    above: tuple[str, bool] | None = None
    for text, marked in lines:
        if not text.strip():
            continue
        if above is not None and (marked or above[1]):
            count += _breaks(above[0], text, levels)
        here = indentation(text)
        levels = [*(level for level in levels if len(level) < len(here)), here]
        above = text, marked
    return count


def _breaks(above: str, below: str, levels: Sequence[str]) -> bool:
    outer, inner = indentation(above), indentation(below)
    first, second = above.strip(), below.strip()
    if not (inner.startswith(outer) or outer.startswith(inner)):
        return True
    if first[0] == second[0] == "*" and inner != outer:
        return True
    if second[0] in ")]}" and len(inner) >= len(levels[0]):
        return inner not in levels
    if len(inner) > len(outer):
        return not (
            _OPENS_LAST.fullmatch(first)
            or _OPENS_FIRST.match(first)
            or _CONTINUES.match(second)
            or first.count("(") > first.count(")")
            or first.count("[") > first.count("]")
        )
    if _MUST_OPEN.fullmatch(first) and not _COMMENT.match(first):
        return not _AS_DEEP.match(second)
    return len(levels[0]) < len(inner) and inner not in levels
