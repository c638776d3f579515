"""What commands print, as text that is safe to show and in which keys are found: without escape sequences."""

from __future__ import annotations

import re

from context.text.secrets import redact
from session.base.text.sanitize import clean

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # control sequences: colours, moves
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # strings: links, titles, images
    r"|\x1b[ -/]+[0-~]"  # character sets
    r"|\x1b[0-?@-Z\\^_`-~]"
)
"""Escape sequences of ECMA-48 and ECMA-35, which some tools print to any output."""


def without_escapes(text: str) -> str:
    """``text`` without colours, links and other escape sequences."""
    return _ESCAPE.sub("", text)


def plain(text: str) -> str:
    """``text`` safe to show, with its keys. A line that was overwritten, as progress bars are, keeps only its
    last state. Escape sequences go first: a key that has one in its middle is not known as a key."""
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in without_escapes(text).split("\n")]
    return clean("\n".join(lines))


def printable(text: str) -> str:
    """``text`` safe to show, without keys."""
    return redact(plain(text)).text
