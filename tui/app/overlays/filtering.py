"""Filters choices by words: each typed word must occur somewhere in a choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a list: ``value`` is what choosing it gives, ``name`` and ``detail`` are shown, ``heading``
    is the section it stands in."""

    value: str
    name: str
    detail: str = ""
    heading: str = ""


def filtered(query: str, choices: Sequence[Choice]) -> list[Choice]:
    """The choices that have every word of ``query``, ignoring case: in their own order, but those first that
    have all words in their name."""
    words = query.lower().split()
    found = [each for each in choices if _has(words, f"{each.name}\n{each.detail}\n{each.heading}")]
    return sorted(found, key=lambda each: not _has(words, each.name)) if words else found


def _has(words: Sequence[str], text: str) -> bool:
    text = text.lower()
    return all(word in text for word in words)


def marked(query: str, text: str) -> frozenset[int]:
    """The places in ``text`` that the words of ``query`` stand at."""
    lower, places = text.lower(), set[int]()
    if len(lower) != len(text):
        return frozenset()
    for word in query.lower().split():
        at = lower.find(word)
        if at >= 0:
            places.update(range(at, at + len(word)))
    return frozenset(places)
