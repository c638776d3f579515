"""Finds the definitions in source text with tree-sitter and the queries in ``queries/``.

Empties the bodies of C functions and initialisers before parsing.

They are two thirds of the text, and no outline shows anything in them.

Reads lines of the C preprocessor: constants of ``#define``, and definitions that it chooses between.

Constants are found by a regular expression, since parsing their long tables is slow.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from context.code.languages import Language, load, named_language
from context.code.notebook import without_prose
from context.code.parsing import ParseBudget, TooHardError
from context.code.signatures import symbol_of
from context.code.symbols import CUT, KINDS, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node


_DEFINE = re.compile(
    # It begins with a plain character, since that makes the search many times faster.
    rb"#(?<![^\n/]#)(?<![*/]\n#)(?<!\\\n#)[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+([^\s/][^\n\\/]*)"
    rb"(?:/\*[^\n*]*\*/[ \t]*)?(?=\n)"
)
"""Matches a whole line that defines a constant, except below a comment, which documents it, and except with a
continuation line."""
_VALUE = 100
# It begins with a plain character, since that makes the search many times faster.
_CONDITION = re.compile(rb"#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b((?:\\\r?\n|[^\n])*)")
_ALTERNATIVE = re.compile(rb"#[ \t]*el(?:se|if)\b")
_COMMENT = re.compile(r"/\*.*?\*/|//.*")
_LONGEST_CONDITION = 40
_DEEPEST = 20
"""Number of nested ``#if`` that count, the outermost ones."""
_MOST_COMPARED = 30
"""Number of definitions of one name that a further one is compared with."""
_MOST_VARIANTS = 4
"""Number of conditions of one definition that are told."""


def take_macros(source: bytes) -> tuple[bytes, list[Symbol]]:
    """``source`` with the lines of plain constants emptied, and the constants."""
    if b"define" not in source:
        return source, []
    symbols: list[Symbol] = []
    kept: list[bytes] = []
    line = at = 0
    for match in _DEFINE.finditer(source):
        start = match.start()
        line += source.count(b"\n", at, start)
        kept.append(source[at:start])
        at = match.end()
        value = " ".join(match[2].decode("utf-8", "replace").split())
        name = match[1].decode("ascii")
        signature = f"#define {name} {value}".rstrip(" {:;=,\\")
        if len(signature) > _VALUE:
            signature = f"{signature[: _VALUE - 1].rstrip()}{CUT}"
        symbols.append(Symbol("constant", name, signature, "", line, line + 1, line, line + 1))
    kept.append(source[at:])
    return b"".join(kept), symbols


def with_macros(symbols: tuple[Symbol, ...], macros: list[Symbol]) -> tuple[Symbol, ...]:
    """All symbols in the order of the file; a constant inside a definition is one level deeper."""
    if not macros:
        return symbols
    merged: list[Symbol] = []
    around: list[Symbol] = []
    for symbol in sorted((*symbols, *macros), key=lambda symbol: symbol.start):
        while around and around[-1].end <= symbol.start:
            around.pop()
        if around and symbol.name and symbol.signature.startswith("#define") and symbol.depth == 0:
            depth = around[-1].depth + 1
            symbol = Symbol(
                symbol.kind,
                symbol.name,
                symbol.signature,
                "",
                symbol.start,
                symbol.end,
                symbol.head,
                symbol.head_end,
                depth,
                any(other.kind == "function" for other in around),
            )
        else:
            around.append(symbol)
        merged.append(symbol)
    return tuple(merged)


Place = tuple[tuple[int, int], ...]
"""Where a line is: for each ``#if`` around it, the number of that one and the branch of it."""


def with_variants(source: bytes, symbols: Sequence[Symbol]) -> tuple[Symbol, ...]:
    """The definitions, those with the same name in branches of one ``#if`` marked as variants of the first,
    whose documentation begins with their conditions."""
    if not _ALTERNATIVE.search(source):
        return tuple(symbols)
    starts, places, conditions = _branches(source)
    # The first variants, by the outermost ``#if``, the line of what encloses them, and their name.
    kept: dict[tuple[int, int, str], list[int]] = {}
    told: dict[int, list[str]] = {}
    found = list(symbols)
    around: list[Symbol] = []
    for at, symbol in enumerate(found):
        while around and around[-1].end <= symbol.start:
            around.pop()
        if around and around[-1].variant:
            found[at] = symbol._replace(variant=True)
            continue
        if symbol.inside_function or not symbol.name:
            continue
        place = places[bisect_right(starts, symbol.head) - 1]
        if place:
            same = kept.setdefault((place[0][0], around[-1].start if around else -1, symbol.name), [])
            for first in same:
                other = places[bisect_right(starts, found[first].head) - 1]
                if (shared := _parted(other, place)) is not None:
                    told.setdefault(first, [conditions[other[shared]]]).append(conditions[place[shared]])
                    found[at] = symbol._replace(variant=True)
                    break
            else:
                if len(same) < _MOST_COMPARED:
                    same.append(at)
        around.append(found[at])
    for at, said in told.items():
        few = list(dict.fromkeys(said))
        listed = ", ".join(few[:_MOST_VARIANTS]) + (f", {CUT}" if len(few) > _MOST_VARIANTS else "")
        found[at] = found[at]._replace(doc=f"{listed}; {found[at].doc}" if found[at].doc else listed)
    return tuple(found)


def _parted(one: Place, other: Place) -> int | None:
    """The level at which two places are in different branches of the same ``#if``, or None."""
    for level, (mine, its) in enumerate(zip(one, other, strict=False)):
        if mine[0] != its[0]:
            return None
        if mine[1] != its[1]:
            return level
    return None


def _branches(source: bytes) -> tuple[list[int], list[Place], dict[tuple[int, int], str]]:
    """The lines from which a new place holds, these places, and the condition of each branch in words."""
    starts, places = [0], [Place()]
    conditions: dict[tuple[int, int], str] = {}
    stack: list[tuple[int, int]] = []
    line = counted = number = 0
    for match in _conditions(source):
        line += source.count(b"\n", counted, match.start())
        counted = match.start()
        word = match[1].decode("ascii")
        if word.startswith("if"):
            number += 1
            stack.append((number, 0))
        elif not stack:
            continue
        elif word == "endif":
            stack.pop()
        else:
            stack[-1] = (stack[-1][0], stack[-1][1] + 1)
        if stack and word != "endif":
            conditions[stack[-1]] = _in_words(word, match[2])
        starts.append(line)
        places.append(tuple(stack[:_DEEPEST]))
    return starts, places, conditions


def _conditions(source: bytes) -> Iterator[re.Match[bytes]]:
    """The lines with conditions."""
    at = 0
    while match := _CONDITION.search(source, at):
        start = match.start()
        if source[source.rfind(b"\n", 0, start) + 1 : start].strip(b" \t"):
            # It is inside a line. One may follow on a line that it would go on to.
            at = start + 1
        else:
            at = match.end()
            yield match


def _in_words(word: str, text: bytes) -> str:
    """A condition as it is told: ``#ifndef A``, ``#if A && B``, ``#else``."""
    plain = " ".join(_COMMENT.sub("", text.decode("utf-8", "replace").replace("\\", " ")).split())
    said = f"#{word} {plain}" if word != "else" else "#else"
    return said if len(said) <= _LONGEST_CONDITION else f"{said[: _LONGEST_CONDITION - 1].rstrip()}{CUT}"


_NO_DECLARATION = (b" ", b"\t", b"\f", b"\v", b"\r", b"#")
"""First characters of a line that is indented, or is a directive."""


def without_bodies(source: bytes) -> bytes:
    """``source`` with only line ends between the braces of functions and initialisers.

    The opening brace of a body is at the end of a line. It follows a line that ends in ``)``, or ``= `` in a
    line that is neither indented nor a directive. The closing brace is the first at the beginning of a line.
    """
    kept: list[bytes] = []
    done = at = 0
    while (at := source.find(b"{\n", at)) >= 0:
        if not _opens_body(source, at):
            at += 2
            continue
        end = source.find(b"\n}", at)
        if end < 0:
            break
        kept += (source[done : at + 1], b"\n" * source.count(b"\n", at, end + 1))
        done = at = end + 1
    kept.append(source[done:])
    return b"".join(kept)


def _opens_body(source: bytes, brace: int) -> bool:
    before = source[max(0, brace - 2) : brace]
    if before == b")\n":
        return True
    if before == b"= ":
        line = source.rfind(b"\n", 0, brace) + 1
        return source[line : line + 1] not in _NO_DECLARATION
    if before[-1:] != b"\n":
        return False
    end = brace - 1
    while source[end - 1 : end] in (b" ", b"\t"):
        end -= 1
    return source[end - 1 : end] == b")"


_ONE_LINE_BODY = re.compile(
    rb"^([^\n{}\"/*]*\b(?:class|interface|object)\b[^\n{}\"/]*\{[^\n]*\S) \}(?=[ \t]*$)", re.MULTILINE
)
"""Matches a class on one line. Kotlin's grammar wants a semicolon or a line end behind its last member."""

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
    source = (without_prose(text) if language.cells else text).encode("utf-8", "replace")
    whole = source
    if language.bodies:
        source = without_bodies(source)
    if language.one_line_bodies:
        source = _ONE_LINE_BODY.sub(rb"\1;}", source)
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
