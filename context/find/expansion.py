"""Expands the words of a request by the project's own vocabulary: other forms of a word that the code uses.

A request says "parsing the queries" where code says ``parse`` and ``query``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from context.index.postings import Words

_WEIGHT = 0.6
"""Weight of another form of a word, relative to the word."""
_FEW_WORDS = 10
"""Number of words up to which a request needs this; it counts less in a longer one, which tells enough."""
_MOST_WORDS = 40
"""Number of words above which a request is not expanded."""
_SHORTEST = 3
"""Length of the shortest stem that is left when an ending is cut off."""
_ENDINGS = ("ation", "ing", "ion", "er", "or", "ed", "es", "s", "e")
_ADDED = ("", "e", "s", "es", "ed", "ing", "er", "ers", "ion", "or")


def other_forms(asked: Mapping[str, float], index: Words) -> dict[str, float]:
    """Weighted words that the project has and that are forms of the weighted words of a request."""
    found: dict[str, float] = {}
    if len(asked) > _MOST_WORDS:
        return found
    weight = _WEIGHT * min(1.0, _FEW_WORDS / max(1, len(asked)))
    unknown = index.rarity_of(0)
    for word in asked:
        if not (word.isascii() and word.isalpha()):
            continue
        for form in forms(word):
            if form not in asked and index.rarity(form) < unknown:
                found[form] = max(found.get(form, 0.0), weight * asked[word])
    return found


def forms(word: str) -> Iterator[str]:
    """The forms that an English word may have in a name, whether or not they exist."""
    yield from dict.fromkeys(
        f"{stem}{ending}" for stem in dict.fromkeys(stems(word)) for ending in _ADDED if stem + ending != word
    )


def stems(word: str) -> Iterator[str]:
    """The word, and what is left without an ending: ``map`` of ``mapping``, ``query`` of ``queries``."""
    yield word
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem == word or len(stem) < _SHORTEST:
            continue
        yield stem
        if stem[-1] == stem[-2] and len(stem) > _SHORTEST:
            yield stem[:-1]
        if stem[-1] == "i":
            yield f"{stem[:-1]}y"
        while stem.endswith(("er", "or")) and len(stem) > _SHORTEST + 2:
            stem = stem[:-2]
            yield stem
