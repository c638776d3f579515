"""Terms: what files are found by. A term is a word, a name that the file defines, or its own name's stem."""

from __future__ import annotations

import re
from binascii import crc_hqx
from zlib import crc32

_MAKES = "\x01"
_STEM = "\x02"
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


def term_number(term: str) -> int:
    """The number that stands for a term on disk: the remainder by two polynomials, 48 bits, the same on
    all machines. Of a million words that are asked for, one may find those of another among three million."""
    encoded = term.encode("utf-8", "surrogatepass")
    return crc32(encoded) << _CRC_BITS | crc_hqx(encoded, 0)
