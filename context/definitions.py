"""Finding the definitions in source text with tree-sitter, by the queries in ``queries/``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from context.bodies import without_bodies
from context.bounded import Effort, TooHardError
from context.languages import Language, load, named_language
from context.macros import take_macros, with_macros
from context.signatures import symbol_of
from context.symbols import KINDS, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_BROKEN = 3
"""Lines of text that the parser could make nothing of, from which it is tried again further down, …"""
_RETRIES = 8
"""… so many times in a file."""
_FRESH_START = re.compile(rb"^[^\s)\]}#]", re.MULTILINE)
_NESTED = 3
"""Languages inside languages that are read: a page in a document, a script in the page."""


def definitions(language: Language, text: str) -> tuple[Symbol, ...]:
    """All definitions of a text, in the order they stand; code in other languages inside it is read too.

    Where the parser lost its way it starts afresh at the next line that stands at the margin, so that
    one unfinished line does not hide the rest of a file that is being written. A text that takes the parser
    too long, as nothing that people write does, has none.
    """
    try:
        return _all_definitions(language, text, Effort())
    except TooHardError:
        return ()


def _all_definitions(language: Language, text: str, effort: Effort) -> tuple[Symbol, ...]:
    source = text.encode("utf-8", "replace")
    if language.bodies:
        source = without_bodies(source)
    if not language.macros:
        return _read(language, source, _NESTED, effort)
    source, macros = take_macros(source)
    return with_macros(_read(language, source, _NESTED, effort), macros)


def _read(language: Language, source: bytes, levels: int, effort: Effort) -> tuple[Symbol, ...]:
    grammar = load(language).grammar
    symbols: list[Symbol] = []
    first_line = 0
    for tries_left in range(_RETRIES, -1, -1):
        root = effort.parsed(language, grammar, source).root_node
        found = _definitions(language, source, root, levels, effort)
        lost = _lost(root)
        restart = None
        if lost is not None and tries_left:
            line_end = source.find(b"\n", lost.start_byte)
            restart = _FRESH_START.search(source, line_end + 1) if line_end >= 0 else None
        if restart is None:
            return tuple(
                symbols + ([_moved(symbol, first_line) for symbol in found] if first_line else found)
            )
        lines = source.count(b"\n", 0, restart.start())
        symbols += [_moved(symbol, first_line) for symbol in found if symbol.start < lines]
        source = source[restart.start() :]
        first_line += lines
    return tuple(symbols)


def _lost(root: Node) -> Node | None:
    """The first long stretch of text that the parser could make nothing of."""
    for node in (root, *root.children) if root.has_error else ():
        if node.is_error and node.end_point.row - node.start_point.row >= _BROKEN:
            return node
    return None


def _moved(symbol: Symbol, lines: int) -> Symbol:
    return symbol._replace(
        start=symbol.start + lines,
        end=symbol.end + lines,
        head=symbol.head + lines,
        head_end=symbol.head_end + lines,
    )


def _definitions(language: Language, source: bytes, root: Node, levels: int, effort: Effort) -> list[Symbol]:
    _, query, kinds = load(language)
    found: dict[tuple[int, int], tuple[_Found, Node, dict[str, list[Node]]]] = {}
    for pattern, captures in effort.matches(query, root):
        rank = kinds[pattern]
        if rank is None:
            inside = _embedded(query.pattern_settings(pattern), source, captures)
            if inside is not None and levels:
                node = captures["embedded"][0]
                found[node.start_byte, node.end_byte] = (inside, node, captures)
            continue
        node = captures[KINDS[rank]][0]
        place = (node.start_byte, node.end_byte)
        # Of two matches of one node, the one that says where the signature ends knows more.
        match = _Found(rank, "body" not in captures and "signature" not in captures)
        if place not in found or match < found[place][0]:
            found[place] = (match, node, captures)
    symbols: list[Symbol] = []
    around: list[tuple[int, bool]] = []
    line = counted = 0
    for start, end in sorted(found, key=_outer_first):
        match, node, captures = found[start, end]
        while around and around[-1][0] <= start:
            around.pop()
        line += source.count(b"\n", counted, start)
        counted = start
        if match.language is not None:
            symbols += _inner(language, match.language, source, node, len(around), levels, effort)
            continue
        if language.deepest is not None and len(around) >= language.deepest:
            continue
        inside_function = bool(around) and around[-1][1]
        kind = KINDS[match.rank]
        symbols.append(
            symbol_of(
                language, source, kind, node, captures, line, len(around), inside_function=inside_function
            )
        )
        around.append((end, inside_function or kind == "function"))
    return symbols


def _outer_first(place: tuple[int, int]) -> tuple[int, int]:
    return place[0], -place[1]


class _Found(NamedTuple):
    """What a match is worth: the rank of its kind, and whether it is less exact than it could be.
    ``language`` is set for code in another language."""

    rank: int
    vague: bool = False
    language: Language | None = None


def _embedded(
    settings: Mapping[str, object], source: bytes, captures: dict[str, list[Node]]
) -> _Found | None:
    """The language that embedded code is in, from the query or from the text beside it, if it is known."""
    word = settings.get("language")
    if "language" in captures:
        node = captures["language"][0]
        word = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    language = named_language(word) if isinstance(word, str) else None
    return None if language is None else _Found(0, language=language)


def _inner(
    outer: Language, inner: Language, source: bytes, node: Node, depth: int, levels: int, effort: Effort
) -> Iterator[Symbol]:
    """The definitions of embedded code, as part of the file around it."""
    for symbol in _read(inner, source[node.start_byte : node.end_byte], levels - 1, effort):
        moved = _moved(symbol, node.start_point.row)
        yield moved._replace(kind="section" if outer.quotes else symbol.kind, depth=symbol.depth + depth)
