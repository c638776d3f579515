"""Reads lines of the C preprocessor: constants of ``#define``, and definitions that it chooses between.

Constants are found by a regular expression, since parsing their long tables is slow.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from context.code.symbols import CUT, Symbol

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
