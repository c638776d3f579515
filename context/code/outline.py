"""A file's outline: its definitions as signatures, nested, each with the first line of its documentation.

The rendered text holds no line numbers, so that an edit elsewhere in the file leaves it as it was and the
server's prompt cache holds. The line ranges stay in the data: they find the symbols a change touched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from context.code.definitions import definitions
from context.code.languages import language_of, named_language
from context.code.symbols import Symbol

__all__ = ["Outline", "Symbol", "outline"]

MORE = "… more\n"
"""The last line of an outline that leaves entries out."""
_HEAD_LINES = 5
_HEAD_WIDTH = 100
_DATA_READ = 50_000
"""Characters of a file of data or prose that are looked at."""
_CPP = re.compile(
    r"^[ \t]*(?:(?:inline\s+)?namespace(?:\s+[\w:]+)?\s*\{"
    r"|class\s+\w[\w \t]*(?::\s*(?:public|private|protected)\b|\{|\n\s*[:{])"
    r"|template\s*<|using\s+\w+\s*=|using\s+namespace\s+\w+;)",
    re.MULTILINE,
)
"""What a header holds that is C++ and never C, nor the prose of its comments."""
_LAST_NAME = re.compile(r"[^\W\d]\w*(?=\W*$)")


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions of a file in the order they stand, or the head of a file in no known language.
    ``more``: a data file has further entries."""

    symbols: tuple[Symbol, ...] = ()
    head: tuple[str, ...] = ()
    more: bool = False

    @property
    def text(self) -> str:
        """The outline as the model reads it: one line a definition, indented by nesting; every line
        ends in a line end; empty for a file that defines nothing."""
        lines = [
            f"{'  ' * symbol.depth}{symbol.signature}{f' — {symbol.doc}' if symbol.doc else ''}\n"
            for symbol in self.symbols
            if not symbol.inside_function
        ]
        if self.more:
            lines.append(MORE)
        return "".join(lines or (f"{line}\n" for line in self.head))

    @property
    def names(self) -> frozenset[str]:
        """The names that the file defines for others, without what stands before a dot in them."""
        found = {
            symbol.name for symbol in self.symbols if symbol.kind != "section" and not symbol.inside_function
        }
        return frozenset(map(last_name, found)) - {""}


def last_name(name: str) -> str:
    """What code calls a definition by: ``Grid::at`` and ``exports.at`` are ``at``; empty for none."""
    if name.isidentifier():
        return name
    found = _LAST_NAME.search(name)
    return found[0] if found is not None else ""


def definitions_called(name: str, found: Outline) -> list[Symbol]:
    """The definitions that ``name`` means. ``Grid.at`` is what is called ``at`` inside of ``Grid``, or says
    so itself (``Grid::at``, ``func (g *Grid) at``); where nothing is, whatever is called ``at``."""
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


def outline(path: str, text: str) -> Outline:
    """The outline of a file. Text that does not parse gives what can be made out in it."""
    language = language_of(path)
    if language is None:
        return Outline(head=_head(text))
    if path.endswith(".h") and _CPP.search(text):
        language = named_language("cpp") or language
    if language.most is None:
        symbols = definitions(language, text)
        return Outline(symbols, () if symbols else _head(text))
    # Few entries of such a file are shown: its beginning is enough, however long it is.
    start = text if len(text) <= _DATA_READ else text[: text.rfind("\n", 0, _DATA_READ) + 1 or _DATA_READ]
    symbols = definitions(language, start)
    shown = symbols if len(symbols) <= language.most else _shallowest(symbols, language.most)
    if not shown:
        return Outline(head=_head(text))
    return Outline(shown, more=len(shown) < len(symbols) or len(start) < len(text))


def _shallowest(symbols: tuple[Symbol, ...], most: int) -> tuple[Symbol, ...]:
    """At most so many of them: whole levels as far as they fit, then of the level below the first entry under
    each, the second under each, and so on."""
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
