"""Whether the terminal's background is dark, from its answer to OSC 11 (xterm's ctlseqs, "Operating System
Commands")."""

from __future__ import annotations

import re
from collections.abc import Mapping

_ANSWER = re.compile(r"\x1b\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})")


def is_dark(answer: str) -> bool | None:
    """Whether the colour in ``answer`` is a dark one; None where the answer is none."""
    found = _ANSWER.match(answer)
    if found is None:
        return None
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return bool(0.299 * red + 0.587 * green + 0.114 * blue < 0.5)


def is_dark_by(environ: Mapping[str, str]) -> bool | None:
    """Whether the background is dark according to ``COLORFGBG``, which some terminals set; None where it does
    not say."""
    last = environ.get("COLORFGBG", "").rpartition(";")[2]
    if not last.isdecimal() or int(last) > 15:
        return None
    return int(last) in (0, 1, 2, 3, 4, 5, 6, 8)
