"""Splits text into words, for matching requests with files: whole identifiers, and their parts.

The index finds files by terms. A term is a word of the file, a name that it defines, the stem of its own
name, or the mark of a file that nobody edits by hand.
"""

from __future__ import annotations

import re
from binascii import crc_hqx
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import repeat
from zlib import crc32

from context.text.lines import slices

IDENTIFIER = re.compile(r"\b[^\W\d]\w*")
"""A word in code. Anything that begins with a digit is a number, such as ``0xFFFE``."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+")
_SHORTEST = 3
_LONGEST = 60
_DIGITS = "0123456789"
_SHORT_SLICE = 5_000
"""Characters of a slice of a text that is not all ASCII: most of its slices are, and those that are not take
ten times as long."""
_SPACED = bytes(c if (chr(c).isalnum() and c < 128) or c == ord("_") else ord(" ") for c in range(256))
_UNJOINED = "".join(c if c.isalpha() or c == "\n" else " " for c in map(chr, range(128)))


def identifiers(text: str) -> Counter[str]:
    """Count the identifiers of a text, as written, that are neither too short nor too long."""
    found = count_tokens(text)
    for word in [word for word in found if not _SHORTEST <= len(word) <= _LONGEST or word[0] in _DIGITS]:
        del found[word]
    return found


def count_tokens(text: str) -> Counter[str]:
    """Count the :func:`tokens` of a text."""
    found: Counter[str] = Counter()
    for part in _parts(text):
        found.update(tokens(part))
    return found


def tokens(text: str) -> list[str]:
    """The identifiers of a text in order, with the numbers that are between them if it is ASCII."""
    if not text.isascii():
        return IDENTIFIER.findall(text)
    # Many times faster than the expression.
    return spaced(text).split()


def spaced(text: str) -> str:
    """An ASCII text with a space for each character that is no letter, digit or ``_``."""
    return text.encode("ascii").translate(_SPACED).decode("ascii")


def unique_tokens(text: str) -> str:
    """The :func:`tokens` of a text without repeats, one a line."""
    found: dict[str, None] = {}
    for part in _parts(text):
        found |= dict.fromkeys(tokens(part))
    return "\n".join(found)


def _parts(text: str) -> Iterator[str]:
    """``text`` in slices, since one long call would block all other threads."""
    for start, end in slices(text) if text.isascii() else slices(text, _SHORT_SLICE):
        yield text[start:end]


def words(text: str) -> dict[str, int]:
    """Count the words of a text, in lower case.

    ``parseHTTPRequest`` gives itself and ``parse``, ``http``, ``request``; words of fewer than three
    letters are left out.
    """
    return words_in(count_tokens(text))


def words_in(counted: Mapping[str, int]) -> dict[str, int]:
    """The :func:`words` of a text whose tokens are counted."""
    found: dict[str, int] = {}
    get = found.get
    # Most identifiers are a plain word, or words of one case joined by "_"; the latter are split all at once.
    joined: dict[int, list[str]] = {}
    others: list[tuple[str, int]] = []
    for identifier, count in counted.items():
        if not _SHORTEST <= len(identifier) <= _LONGEST or identifier[0] in _DIGITS:
            continue
        if identifier.isalpha() and identifier.islower():
            found[identifier] = count
        elif "_" in identifier and identifier.isascii() and (identifier.islower() or identifier.isupper()):
            joined.setdefault(count, []).append(identifier)
        else:
            others.append((identifier, count))
    for identifier, count in others:
        for word in _parts_of(identifier).split():
            found[word] = get(word, 0) + count
    whole = "\n".join(map(" ".join, joined.values())).lower()
    for count, line, parts in zip(
        joined, whole.split("\n"), whole.translate(_UNJOINED).split("\n"), strict=False
    ):
        for word in line.split():
            found[word] = get(word, 0) + count
        for word in parts.split():
            if len(word) >= _SHORTEST:
                found[word] = get(word, 0) + count
    return found


@lru_cache(maxsize=20_000)
def words_of_name(name: str) -> tuple[str, ...]:
    """The words of a definition's name, without repeats."""
    return tuple(words(name))


def words_of(identifier: str) -> list[str]:
    """One identifier and its parts, in lower case; nothing if it is too short or too long, or a number."""
    return _parts_of(identifier).split()


@lru_cache(maxsize=20_000)
def _parts_of(identifier: str) -> str:
    """The :func:`words_of` an identifier in one text: the garbage collector would look at each of a tuple."""
    if not _SHORTEST <= len(identifier) <= _LONGEST or identifier[0] in _DIGITS:
        return ""
    parts = [part for part in _PART.findall(identifier) if len(part) >= _SHORTEST]
    if len(parts) > 1 or "_" in identifier:
        return " ".join((identifier, *parts)).lower()
    return identifier.lower()


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
