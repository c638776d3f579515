"""Finds paths that contain the typed letters in order, as fuzzy finders of editors do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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
