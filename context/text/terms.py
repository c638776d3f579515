"""The terms that the index finds files by.

A term is a word of the file, a name that it defines, the stem of its own name, or the mark of a file that
nobody edits by hand.
"""

from __future__ import annotations

import re
from binascii import crc_hqx
from collections.abc import Iterable
from itertools import repeat
from zlib import crc32

_DEFINES = "\x01"
_STEM = "\x02"
UNEDITED = "\x03"
"""The term of files that nobody edits by hand."""
_AFFIX = re.compile(r"^(?:tests?|spec)[_.-]|[_.-]?(?:tests?|spec|impl|mock)$")
_CRC_BITS = 16

NUMBER_BITS = 48


def definition_term(name: str) -> str:
    """The term of the files that define ``name``, which is in lower case."""
    return f"{_DEFINES}{name}"


def stem_term(stem: str) -> str:
    """The term of the files whose names have this stem."""
    return f"{_STEM}{stem}"


def stem(path: str) -> str:
    """A file's name in lower case, without its extensions and without ``test`` and the like."""
    return _AFFIX.sub("", path.rpartition("/")[2].partition(".")[0].lower())


def term_numbers(terms: Iterable[str]) -> list[int]:
    """The 48-bit numbers that stand for terms on disk: two checksums of each, the same on all machines.

    If three million terms are stored, one in a hundred million other words has the number of one of them.
    """
    encoded = [term.encode("utf-8", "surrogatepass") for term in terms]
    parts = zip(map(crc32, encoded), map(crc_hqx, encoded, repeat(0)), strict=False)
    return [high << _CRC_BITS | low for high, low in parts]
