"""The forms of files that the request does not name but is likely about: whole, or matching parts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping

from context.code.symbols import Symbol
from context.disk.source import Unread
from context.index.file_text import FileText, file_text
from context.project.snapshot import Snapshot
from context.text.words import words_of_name
from context.window.file_views import FileView, Form, parts_form, whole_form
from context.window.pieces import Kind

_LONGEST_DEFINITION = 400
"""Number of lines above which a definition is not shown whole, only definitions inside it."""
_PARTS_SHARES = (0.8, 0.4)
"""Shares of the limit that are tried for the parts; the rest is for the other signatures."""
_ALONE_SHARES = (0.6, 0.4)
"""Shares of the limit that are tried for the parts if all signatures would take too much."""
_MOST_WORDS = 60
"""Number of words that a file's parts are scored by: the rarest ones."""


def related_view(
    path: str, reason: str, wanted: Mapping[str, float], limit: int, snapshot: Snapshot
) -> FileView:
    """The forms of a file in about ``limit`` characters; the view's ``problem`` says why it has none."""
    source = snapshot.read(path)
    if isinstance(source, Unread):
        return FileView(Kind.MENTIONED, problem=source.why)
    file = file_text(source)
    return FileView(Kind.MENTIONED, _forms(file, reason, wanted, limit, snapshot), source.digest, file.sums)


def _forms(
    file: FileText, reason: str, wanted: Mapping[str, float], limit: int, snapshot: Snapshot
) -> Iterator[Form]:
    safe = file.safe
    masked = f"; masked: {', '.join(safe.kinds)}" if safe.kinds else ""
    if len(file.source.text) <= limit:
        yield whole_form(file, f"likely to matter: {reason}; whole{masked}")
    scored = _scores(file, wanted, snapshot)
    why = f"likely to matter: {reason}; the definitions that match best{masked}"
    for shares, signatures in ((_PARTS_SHARES, True), (_ALONE_SHARES, False)):
        for share in shares:
            chosen = _best(file, scored, int(limit * share))
            if chosen:
                yield parts_form(file, chosen, why, signatures=signatures)


def _best(file: FileText, scored: list[tuple[float, Symbol]], room: int) -> list[range]:
    """The line ranges of the best definitions that fit in ``room`` characters."""
    lines, before = file.lines, file.starts
    chosen: list[range] = []
    taken = bytearray(len(lines))
    for score, symbol in scored:
        if score <= 0:
            break
        end = min(symbol.end, len(lines))
        cost = before[end] - before[min(symbol.start, end)]
        if 1 in taken[symbol.start : end]:
            cost = sum(len(lines[line]) + 1 for line in range(symbol.start, end) if not taken[line])
        if cost > room:
            continue
        room -= cost
        taken[symbol.start : end] = b"\1" * max(0, end - symbol.start)
        chosen.append(range(symbol.start, symbol.end))
    return sorted(chosen, key=lambda part: part.start)


def _scores(file: FileText, wanted: Mapping[str, float], snapshot: Snapshot) -> list[tuple[float, Symbol]]:
    """The definitions with their scores, best first: the wanted words in each, relative to its length."""
    symbols = [
        symbol
        for symbol in file.outline.symbols
        if symbol.kind in ("function", "class", "type")
        and not symbol.inside_function
        and symbol.end - symbol.start <= _LONGEST_DEFINITION
    ]
    if not symbols or not wanted:
        return []
    places = file.places
    weights = {
        word: snapshot.words.rarity(word) * weight for word, weight in wanted.items() if word in places
    }
    rarest = sorted(weights, key=lambda word: (-weights[word], word))[:_MOST_WORDS]
    scored = []
    for symbol in symbols:
        score = 0.0
        for word in rarest:
            found = places[word]
            count = bisect_left(found, symbol.end) - bisect_left(found, symbol.start)
            if count:
                score += weights[word] * count / (count + 1.0)
        named = sum(weights.get(word, 0.0) for word in words_of_name(symbol.name))
        length = symbol.end - symbol.start
        scored.append(((score + named) / (1 + 0.01 * length), symbol))
    return sorted(scored, key=lambda item: (-item[0], item[1].start))
