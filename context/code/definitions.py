"""Finds the definitions in source text with tree-sitter and the queries in ``queries/``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from context.code.bounded_parsing import ParseBudget, TooHardError
from context.code.c_function_bodies import without_bodies
from context.code.c_preprocessor import take_macros, with_macros, with_variants
from context.code.languages import Language, load, named_language
from context.code.signatures import symbol_of
from context.code.symbols import KINDS, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_MIN_ERROR_LINES = 3
"""Number of lines of an error node from which parsing is tried again further down."""
_RETRIES = 8
"""Number of such retries in one file."""
_FRESH_START = re.compile(rb"^[^\s)\]}#]", re.MULTILINE)
_NESTED = 3
"""Levels of embedded languages, such as a page in a document and a script in the page."""
_END_BITS = 32
_LAST = (1 << _END_BITS) - 1

_Found: TypeAlias = "tuple[int, Language | None, Node, dict[str, list[Node]]]"
"""A match at a place: its weight (lower is better), its language if that is embedded code, its node, and the
query's captures."""


def definitions(language: Language, text: str) -> tuple[Symbol, ...]:
    """All definitions in a text in order, including those in embedded code of other languages.

    After a long stretch that cannot be parsed, parsing restarts at the next line without indentation, so that
    one unfinished line does not hide the rest of a file that is being written. A text that takes too long to
    parse, which no text by people does, has no definitions.
    """
    try:
        return _all_definitions(language, text, ParseBudget())
    except TooHardError:
        return ()


def _all_definitions(language: Language, text: str, budget: ParseBudget) -> tuple[Symbol, ...]:
    source = text.encode("utf-8", "replace")
    whole = source
    if language.bodies:
        source = without_bodies(source)
    if not language.macros:
        found = _read(language, source, _NESTED, budget)
    else:
        source, macros = take_macros(source)
        found = with_macros(_read(language, source, _NESTED, budget), macros)
    return with_variants(whole, found) if language.conditions else found


def _read(language: Language, source: bytes, levels: int, budget: ParseBudget) -> tuple[Symbol, ...]:
    grammar = load(language).grammar
    symbols: list[Symbol] = []
    first_line = 0
    for tries_left in range(_RETRIES, -1, -1):
        root = budget.parse(language, grammar, source).root_node
        found = _definitions(language, source, root, levels, budget)
        error = _first_error(root)
        restart = None
        if error is not None and tries_left:
            line_end = source.find(b"\n", error.start_byte)
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


def _first_error(root: Node) -> Node | None:
    """The first long stretch of text that could not be parsed, or None."""
    for node in (root, *root.children) if root.has_error else ():
        if node.is_error and node.end_point.row - node.start_point.row >= _MIN_ERROR_LINES:
            return node
    return None


def _moved(symbol: Symbol, lines: int) -> Symbol:
    return symbol._replace(
        start=symbol.start + lines,
        end=symbol.end + lines,
        head=symbol.head + lines,
        head_end=symbol.head_end + lines,
    )


def _definitions(
    language: Language, source: bytes, root: Node, levels: int, budget: ParseBudget
) -> list[Symbol]:
    _, query, kinds = load(language)
    found: dict[int, _Found] = {}
    for pattern, captures in budget.matches(query, root):
        rank = kinds[pattern]
        if rank is None:
            inside = _embedded_language(query.pattern_settings(pattern), source, captures)
            if inside is not None and levels:
                node = captures["embedded"][0]
                found[_place(node)] = -1, inside, node, captures
            continue
        node = captures[KINDS[rank]][0]
        # As _place, whose call would take longer than the rest.
        place = node.start_byte << _END_BITS | _LAST - node.end_byte
        # Of two matches of one node, prefer the one that captures where the signature ends.
        weight = 2 * rank + ("body" not in captures and "signature" not in captures)
        if place not in found or weight < found[place][0]:
            found[place] = weight, None, node, captures
    symbols: list[Symbol] = []
    around: list[tuple[int, bool, bool]] = []
    line = counted = 0
    for place in sorted(found):
        weight, inside, node, captures = found[place]
        start, end = place >> _END_BITS, _LAST - (place & _LAST)
        while around and around[-1][0] <= start:
            around.pop()
        line += source.count(b"\n", counted, start)
        counted = start
        if inside is not None:
            symbols += _embedded_symbols(language, inside, source, node, len(around), levels, budget)
            continue
        if language.deepest is not None and len(around) >= language.deepest:
            continue
        kind = KINDS[weight >> 1]
        in_function = bool(around) and (around[-1][1] or (around[-1][2] and kind != "section"))
        symbols.append(symbol_of(language, source, kind, node, captures, line, len(around), in_function))
        in_tests = kind == "section" and language.most is None
        around.append((end, in_function or kind == "function", in_tests))
    return symbols


def _place(node: Node) -> int:
    """A node's position as a number; sorted by it, a node comes before all nodes inside it."""
    return node.start_byte << _END_BITS | _LAST - node.end_byte


def _embedded_language(
    settings: Mapping[str, object], source: bytes, captures: dict[str, list[Node]]
) -> Language | None:
    """The language of embedded code, from the query or from the text beside it; None if unknown."""
    word = settings.get("language")
    if "language" in captures:
        node = captures["language"][0]
        word = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    return named_language(word) if isinstance(word, str) else None


def _embedded_symbols(
    outer: Language, inner: Language, source: bytes, node: Node, depth: int, levels: int, budget: ParseBudget
) -> Iterator[Symbol]:
    """The definitions in embedded code, with their positions in the file around it."""
    for symbol in _read(inner, source[node.start_byte : node.end_byte], levels - 1, budget):
        moved = _moved(symbol, node.start_point.row)
        yield moved._replace(kind="section" if outer.quotes else symbol.kind, depth=symbol.depth + depth)
