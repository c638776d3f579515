"""Text in token-sized pieces, and counts of them: an approximation that needs no vocabulary.

A piece is a word (in parts of at most eight letters) with the space before it, up to three digits, up
to four marks, or a run of white space: about what real tokenisers make of prose and code.
"""

from __future__ import annotations

import re

_PIECE = re.compile(r" ?[^\W\d_]{1,8}| ?\d{1,3}|_| ?[^\w\s]{1,4}|\n+ *|\s+?(?= \S)|\s+")
_BYTES_PER_TOKEN = 4


def pieces(text: str) -> list[str]:
    """``text`` in pieces; joined they are ``text`` again."""
    return _PIECE.findall(text)


def count_output(text: str) -> int:
    """The tokens of generated text: its pieces."""
    return len(pieces(text))


def count_input(text: str) -> int:
    """The tokens of input text: its UTF-8 bytes by four, rounded up; cheap for a whole window."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)
