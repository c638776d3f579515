"""Outlines a file: its nested definitions as signatures, each with the first line of its documentation.

The rendered text has no line numbers, so that an edit elsewhere in the file does not change it and the
server's prompt cache stays valid. The symbols keep their line ranges, by which those that a change
touched are found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from context.code.definitions import definitions
from context.code.languages import language_of, named_language
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
    language = language_of(path)
    if language is None:
        return outline_by_head(text)
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
