"""Files that nobody named but that a request is likely about: whole, or their parts that match."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping

from context.changes import line_sums
from context.files_shown import FileView, Form, outline_of, parts_form, whole_form
from context.pieces import Kind
from context.redact import redact
from context.snapshot import Snapshot
from context.source import Source, Unread, split_lines
from context.symbols import Symbol
from context.words import IDENTIFIER, words, words_of

_LONGEST = 400
"""Lines: of a longer definition only what is inside it counts as a part."""
_PARTS_SHARES = (0.8, 0.4)
"""Of the limit, for the parts; the rest is for the signatures of all other definitions."""
_TELLING = 60
"""Words that a file's parts are weighed by at most: the rarest."""


def related_view(
    path: str, reason: str, wanted: Mapping[str, float], limit: int, snapshot: Snapshot
) -> FileView | None:
    """How to show a file in about ``limit`` characters; None when it cannot be read."""
    source = snapshot.read(path)
    if isinstance(source, Unread):
        return None
    return FileView(
        Kind.MENTIONED, _forms(source, reason, wanted, limit, snapshot), source.digest, line_sums(source)
    )


def _forms(
    source: Source, reason: str, wanted: Mapping[str, float], limit: int, snapshot: Snapshot
) -> Iterator[Form]:
    safe = redact(source.text)
    masked = f"; masked: {', '.join(safe.kinds)}" if safe.kinds else ""
    if len(source.text) <= limit:
        yield whole_form(source.path, safe, f"likely to matter: {reason}; whole{masked}")
    scored = _scores(source, wanted, snapshot)
    for share in _PARTS_SHARES:
        chosen = _best(source, scored, int(limit * share))
        if chosen:
            why = f"likely to matter: {reason}; the definitions that match best{masked}"
            yield parts_form(source, safe, chosen, why)


def _best(source: Source, scored: list[tuple[float, Symbol]], room: int) -> list[range]:
    """The best definitions (as line ranges) in ``room`` characters."""
    lines = split_lines(source.text)
    chosen: list[range] = []
    taken: set[int] = set()
    for score, symbol in scored:
        fresh = [line for line in range(symbol.start, min(symbol.end, len(lines))) if line not in taken]
        cost = sum(len(lines[line]) + 1 for line in fresh)
        if score <= 0 or cost > room:
            continue
        room -= cost
        taken.update(fresh)
        chosen.append(range(symbol.start, symbol.end))
    return sorted(chosen, key=lambda part: part.start)


def _scores(source: Source, wanted: Mapping[str, float], snapshot: Snapshot) -> list[tuple[float, Symbol]]:
    """Each definition with how well it holds the wanted words for its length, the best first."""
    symbols = [
        symbol
        for symbol in outline_of(source).symbols
        if symbol.kind in ("function", "class", "type")
        and not symbol.inside_function
        and symbol.end - symbol.start <= _LONGEST
    ]
    if not symbols or not wanted:
        return []
    places = _places(source.text, wanted)
    weights = {word: snapshot.words.rarity(word) * wanted[word] for word in places}
    telling = sorted(weights, key=lambda word: (-weights[word], word))[:_TELLING]
    scored = []
    for symbol in symbols:
        score = 0.0
        for word in telling:
            found = places[word]
            count = bisect_left(found, symbol.end) - bisect_left(found, symbol.start)
            if count:
                score += weights[word] * count / (count + 1.0)
        named = sum(weights.get(word, 0.0) for word in words(symbol.name))
        length = symbol.end - symbol.start
        scored.append(((score + named) / (1 + 0.01 * length), symbol))
    return sorted(scored, key=lambda item: (-item[0], item[1].start))


def _places(text: str, wanted: Mapping[str, float]) -> dict[str, list[int]]:
    """The line numbers on which each wanted word stands, in order."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    known: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(split_lines(text)):
        for identifier in IDENTIFIER.findall(line):
            held = known.get(identifier)
            if held is None:
                held = known[identifier] = tuple(word for word in words_of(identifier) if word in wanted)
            for word in held:
                places[word].append(number)
    return places
