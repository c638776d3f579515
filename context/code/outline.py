"""Outlines a file: its nested definitions as signatures, each with the first line of its documentation.

The rendered text has no line numbers, so that an edit elsewhere in the file does not change it and the
server's prompt cache stays valid. The symbols keep their line ranges, by which those that a change
touched are found. An excerpt is the outline of a changed file with these symbols shown whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from context.code.definitions import definitions
from context.code.languages import language_in, named_language, script_name
from context.code.plain_languages import plain_language_of
from context.code.plain_outline import plain_symbols
from context.code.symbols import Symbol

__all__ = ["Outline", "Symbol", "outline"]

MORE = "… more\n"
"""The last line of an outline that is cut."""
_HEAD_LINES = 5
_HEAD_WIDTH = 100
_DATA_READ = 50_000
"""Number of characters that are read of a file of data or prose."""
_CPP = re.compile(
    r"^[ \t]*(?:(?:inline\s+)?namespace(?:\s+[\w:]+)?\s*\{"
    r"|class\s+\w[\w \t]*(?::\s*(?:public|private|protected)\b|\{|\n\s*[:{])"
    r"|template\s*<|using\s+\w+\s*=|using\s+namespace\s+\w+;)",
    re.MULTILINE,
)
"""Matches what occurs in C++ headers but not in C, nor in the prose of comments."""
_CPP_WORDS = ("namespace", "class", "template", "using")
"""One of these is in all that it matches; few headers of C have one, and looking for them takes less time."""
_LAST_NAME = re.compile(r"[^\W\d]\w*(?=\W*$)")


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions of a file in order, or the first lines of a file without any.

    ``more`` says that a file of data or prose has further entries.
    """

    symbols: tuple[Symbol, ...] = ()
    head: tuple[str, ...] = ()
    more: bool = False

    @property
    def text(self) -> str:
        """The outline for the model: one line for each definition, indented by nesting.

        Every line ends in ``\\n``. Without definitions it is the head of the file.
        """
        lines = [
            f"{'  ' * symbol.depth}{symbol.signature}{f' — {symbol.doc}' if symbol.doc else ''}\n"
            for symbol in self.symbols
            if not symbol.inside_function and not symbol.variant
        ]
        if self.more:
            lines.append(MORE)
        return "".join(lines or (f"{line}\n" for line in self.head))

    @property
    def names(self) -> frozenset[str]:
        """The names that the file defines for other files, without qualifiers."""
        found = {
            symbol.name for symbol in self.symbols if symbol.kind != "section" and not symbol.inside_function
        }
        return frozenset(map(last_name, found)) - {""}


def last_name(name: str) -> str:
    """The unqualified name: ``at`` for ``Grid::at`` and ``exports.at``; empty if there is none."""
    if name.isidentifier():
        return name
    found = _LAST_NAME.search(name)
    return found[0] if found is not None else ""


def definitions_called(name: str, found: Outline) -> list[Symbol]:
    """The definitions that ``name`` means.

    ``Grid.at`` means an ``at`` inside ``Grid``, or one whose own signature says so (``Grid::at``,
    ``func (g *Grid) at``). If there is none, it means any ``at``.
    """
    *around, last = name.split(".")
    called: list[Symbol] = []
    inside: list[Symbol] = []
    holders: list[Symbol] = []
    for symbol in found.symbols:
        del holders[symbol.depth :]
        if last_name(symbol.name) == last and not symbol.inside_function:
            called.append(symbol)
            before = symbol.signature.partition(f"{last}(")[0]
            said = re.findall(r"\w+", f"{before} {symbol.name.removesuffix(last)}")
            if around and (around[-1] in said or any(last_name(held.name) == around[-1] for held in holders)):
                inside.append(symbol)
        holders.append(symbol)
    return inside or called


def outline_by_head(text: str) -> Outline:
    """The outline of a file in which no definitions are looked for: its first lines."""
    return Outline(head=_head(text))


def outline(path: str, text: str) -> Outline:
    """The outline of a file. Of text with syntax errors it has the definitions that can be recognised."""
    language = language_in(path, text)
    if language is None:
        plain = plain_language_of(script_name(path, text))
        symbols = plain_symbols(plain, text) if plain is not None else ()
        return Outline(symbols) if symbols else outline_by_head(text)
    if path.endswith(".h") and any(map(text.__contains__, _CPP_WORDS)) and _CPP.search(text):
        language = named_language("cpp") or language
    if language.most is None:
        symbols = definitions(language, text)
        return Outline(symbols, () if symbols else _head(text))
    # Few entries of such a file are shown, so the beginning of a long one is enough.
    start = text if len(text) <= _DATA_READ else text[: text.rfind("\n", 0, _DATA_READ) + 1 or _DATA_READ]
    symbols = definitions(language, start)
    shown = symbols if len(symbols) <= language.most else _shallowest(symbols, language.most)
    if not shown:
        return outline_by_head(text)
    return Outline(shown, more=len(shown) < len(symbols) or len(start) < len(text))


def _shallowest(symbols: tuple[Symbol, ...], most: int) -> tuple[Symbol, ...]:
    """At most ``most`` symbols: whole levels as far as they fit, then of the next level the first entry of
    each parent, the second of each, and so on."""
    deepest = max(symbol.depth for symbol in symbols)
    while deepest and sum(symbol.depth <= deepest for symbol in symbols) > most:
        deepest -= 1
    room = most - sum(symbol.depth <= deepest for symbol in symbols)
    turns: list[tuple[int, int]] = []
    before = 0
    for at, symbol in enumerate(symbols):
        if symbol.depth <= deepest:
            before = 0
        elif symbol.depth == deepest + 1:
            turns.append((before, at))
            before += 1
    taken = {at for _, at in sorted(turns)[: max(room, 0)]}
    shown = tuple(symbol for at, symbol in enumerate(symbols) if symbol.depth <= deepest or at in taken)
    return shown[:most]


def _head(text: str) -> tuple[str, ...]:
    lines = (line.rstrip() for line in text[: _HEAD_WIDTH * _HEAD_LINES * 4].split("\n"))
    return tuple(line[:_HEAD_WIDTH] for line in lines if line)[:_HEAD_LINES]


_WHOLE_SYMBOL = 160
"""Number of lines up to which a changed symbol is shown whole; of a longer one only lines near the change."""
_NEAR = 4
NOT_SHOWN = "not shown"
"""What is said of the lines of a gap."""
_LONG_HEAD = 12
"""Number of lines that are shown of a signature."""


def excerpt(lines: Sequence[str], found: Outline, changed: Iterable[range], *, outline: bool = True) -> str:
    """The lines that matter, in order; each gap between them is marked with its number of lines.

    ``lines`` are the file's lines, and ``changed`` the ranges of them that changed (indices from 0). With
    ``outline`` the signatures of all definitions are included, else only those around a change.
    """
    keep = changed_parts(found, changed, len(lines))
    for symbol in found.symbols:
        if symbol.inside_function or symbol.kind == "constant":
            continue
        if outline or any(part.start < symbol.end and symbol.start < part.stop for part in keep if part):
            keep.append(_head_rows(symbol, len(lines)))
    return _with_gaps(lines, keep)


def changed_parts(found: Outline, changed: Iterable[range], count: int) -> list[range]:
    """The lines, of ``count``, that are shown for ``changed`` ranges: the definitions around them, or those
    near them."""
    return [part for touched in changed for part in _around(touched, found.symbols, count)]


def exact_excerpt(
    lines: Sequence[str],
    symbols: Iterable[Symbol],
    parts: Iterable[range],
    *,
    signatures: bool = False,
    gap: str = NOT_SHOWN,
) -> str:
    """These line ranges of a file as they are, below the signatures of what encloses them.

    With ``signatures`` those of all ``symbols`` are included. ``gap`` says what the lines between are.
    """
    keep = list(parts)
    starts = sorted(part.start for part in keep)
    for symbol in symbols:
        wanted = signatures and not symbol.inside_function and symbol.kind != "constant"
        inside = bisect_right(starts, symbol.start)
        if wanted or (inside < len(starts) and starts[inside] < symbol.end):
            keep.append(_head_rows(symbol, len(lines)))
    return _with_gaps(lines, keep, gap)


def _head_rows(symbol: Symbol, count: int) -> range:
    return range(symbol.head, min(symbol.head_end, symbol.head + _LONG_HEAD, count))


def _with_gaps(lines: Sequence[str], keep: Iterable[range], told: str = NOT_SHOWN) -> str:
    """The lines to keep, with a mark for each gap of more than one line."""
    out: list[str] = []
    at = 0
    for part in sorted(filter(None, keep), key=attrgetter("start")):
        start = max(at, part.start)
        if at < start:
            out += _between(lines, at, start, told)
        out += lines[start : part.stop]
        at = max(at, part.stop)
    out += _between(lines, at, len(lines), told)
    return "\n".join([*out, ""])


def _between(lines: Sequence[str], start: int, end: int, told: str) -> list[str]:
    """What stands for the lines from ``start`` to ``end``: one line is shown, since a mark is as long."""
    if end - start <= 1:
        return [*lines[start:end]]
    return [_gap(lines, start, end, told)]


def _around(touched: range, symbols: tuple[Symbol, ...], count: int) -> list[range]:
    """The lines to show for one change: the smallest symbol around it, or else the lines near it."""
    first, last = touched.start, max(touched.start, touched.stop - 1)
    holders = [
        symbol
        for symbol in symbols
        if symbol.start <= first
        and last < symbol.end
        and not symbol.inside_function
        and symbol.kind != "field"
    ]
    holder = min(holders, key=lambda symbol: symbol.end - symbol.start, default=None)
    if holder is not None and holder.end - holder.start <= _WHOLE_SYMBOL:
        return [range(holder.start, min(holder.end, count))]
    inside = [symbol for symbol in symbols if symbol.start < touched.stop and first < symbol.end]
    whole = [range(max(0, first - _NEAR), min(count, touched.stop + _NEAR))]
    for symbol in inside:
        if symbol.end - symbol.start <= _WHOLE_SYMBOL and symbol.kind != "field":
            whole.append(range(symbol.start, min(symbol.end, count)))
    return whole


def _gap(lines: Sequence[str], start: int, end: int, told: str) -> str:
    # A gap may be most of a long file, whose lines are made one by one: only the first ones are needed.
    first = next((line for line in map(lines.__getitem__, range(start, end)) if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    return f"{indent}… {end - start} lines {told}"
