"""Splits text into pieces the size of tokens: an approximation that needs no vocabulary.

A piece is a word (in parts of at most eight letters) with the space before it, up to three digits, up
to four marks, or a run of white space: about what real tokenisers make of prose and code.
"""

from __future__ import annotations

import re

_PIECE = re.compile(r" ?[^\W\d_]{1,8}| ?\d{1,3}|_| ?[^\w\s]{1,4}|\n+ *|\s+?(?= \S)|\s+")
_BYTES_PER_TOKEN = 4


def split_tokens(text: str) -> list[str]:
    """The pieces of ``text``; joined they are ``text`` again."""
    return _PIECE.findall(text)


def count_input_tokens(text: str) -> int:
    """The tokens of input text: its UTF-8 bytes by four, rounded up; cheap for a whole window."""
    return -(-len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN)
