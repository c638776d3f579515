"""The words of a text, for matching requests with files: identifiers whole, and cut at humps."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

IDENTIFIER = re.compile(r"[^\W\d]\w*")
"""A word as code has it."""
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\dA-Z_]+")
_SHORTEST = 3
_LONGEST = 60


def identifiers(text: str) -> Counter[str]:
    """The identifiers of a text, as written, with how often each stands in it."""
    return Counter(word for word in IDENTIFIER.findall(text) if _SHORTEST <= len(word) <= _LONGEST)


def words(text: str) -> Counter[str]:
    """The words of a text in lower case, with how often each stands in it.

    ``parseHTTPRequest`` gives itself and ``parse``, ``http``, ``request``; words of fewer than three
    letters are left out.
    """
    found: Counter[str] = Counter()
    for identifier, count in identifiers(text).items():
        for word in words_of(identifier):
            found[word] += count
    return found


@lru_cache(maxsize=50_000)
def words_of(identifier: str) -> tuple[str, ...]:
    """The words of one identifier, in lower case: itself and its parts; none of one that is too short or
    too long."""
    if not _SHORTEST <= len(identifier) <= _LONGEST:
        return ()
    parts = [part for part in _PART.findall(identifier) if len(part) >= _SHORTEST]
    if len(parts) > 1 or "_" in identifier:
        return (identifier.lower(), *(part.lower() for part in parts))
    return (identifier.lower(),)
