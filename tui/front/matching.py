"""What is found for typed letters: paths that hold them in order, as fuzzy finders of editors do, and choices
that hold each typed word.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from heapq import nsmallest


def best(
    query: str, paths: Sequence[str], most: int, first: Collection[str] = ()
) -> list[tuple[str, frozenset[int]]]:
    """The best ``most`` matches, best first, each with the positions of the matched letters. All letters of
    ``query`` must occur in order; case and spaces are ignored. Of matches that are as good, those in
    ``first`` come first."""
    letters = "".join(query.split()).lower()
    if not letters:
        ordered = sorted(paths, key=lambda path: path not in first) if first else paths
        return [(path, frozenset()) for path in ordered[:most]]
    found = []
    for order, path in enumerate(paths):
        match = _match(letters, path)
        if match is not None:
            found.append((match[0], path not in first, len(path), order, path, match[1]))
    return [(path, hits) for *_, path, hits in nsmallest(most, found, key=lambda each: each[:4])]


def _match(letters: str, path: str) -> tuple[int, frozenset[int]] | None:
    """The cost of a match (lower is better) and its positions. Matches in the file's name and at word starts
    cost least."""
    lower = path.lower()
    name = path.rfind("/") + 1
    if len(lower) != len(path):
        return None
    whole = lower.rfind(letters)
    if whole >= 0:
        start = whole
        # What is typed is most often the beginning of a file's name.
        cost = 40 if start < name else int(start > name)
        cost += 0 if _starts_word(path, start) else 10
        return cost, frozenset(range(start, start + len(letters)))
    for begin, base in ((name, 60), (0, 120)):
        hits: list[int] = []
        cost, at = base, begin
        for letter in letters:
            found = lower.find(letter, at)
            if found < 0:
                break
            cost += (
                0 if not hits or found == at else (3 if _starts_word(path, found) else 6 + min(6, found - at))
            )
            hits.append(found)
            at = found + 1
        else:
            return cost, frozenset(hits)
    return None


def _starts_word(path: str, at: int) -> bool:
    return at == 0 or path[at - 1] in "/_-. " or (path[at].isupper() and path[at - 1].islower())


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
