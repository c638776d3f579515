"""Terms: what files are found by. A term is a word, a name that the file defines, its own name's stem,
or that nobody edits it."""

from __future__ import annotations

import re
from binascii import crc_hqx
from collections.abc import Iterable
from itertools import repeat
from zlib import crc32

_MAKES = "\x01"
_STEM = "\x02"
UNEDITED = "\x03"
"""The term of files that nobody edits by hand."""
_AFFIX = re.compile(r"^(?:tests?|spec)[_.-]|[_.-]?(?:tests?|spec|impl|mock)$")
_CRC_BITS = 16

NUMBER_BITS = 48


def makes(name: str) -> str:
    """The term under which files stand that define ``name`` (in lower case)."""
    return f"{_MAKES}{name}"


def stem_term(stem: str) -> str:
    """The term under which files stand whose names have this stem."""
    return f"{_STEM}{stem}"


def stem(path: str) -> str:
    """A file's name without its extensions and without saying that it is a test."""
    return _AFFIX.sub("", path.rpartition("/")[2].partition(".")[0].lower())


def term_numbers(terms: Iterable[str]) -> list[int]:
    """The numbers that stand for terms on disk: the remainders by two polynomials, 48 bits, the same on all
    machines. Of a hundred million words that are not there, one is found among three million that are."""
    encoded = [term.encode("utf-8", "surrogatepass") for term in terms]
    parts = zip(map(crc32, encoded), map(crc_hqx, encoded, repeat(0)), strict=False)
    return [high << _CRC_BITS | low for high, low in parts]
