"""The names that a text of the project defines and imports, as parsers tell them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from session.base.text.sanitize import clean_line

_NAME = re.compile(r"identifier|^(?:name|constant|word|variable_name|simple_symbol|atom)$")
"""The kinds of nodes that are names, in the grammars that there are."""
_LARGEST = 2_000_000
"""Characters of a text above which no definitions are looked for."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition: its kind (``function``, ``class``, …), its name with those around it (``Store.add``), its
    lines from 0, ``end`` one past the last, and the line where its signature begins."""

    kind: str
    name: str
    start: int
    end: int
    head: int


def definitions_in(path: str, text: str) -> tuple[Definition, ...]:
    """The definitions in ``text``, in their order; none in a language without a grammar. It waits for
    a parser: call it in a worker thread."""
    from context.code.languages import language_of
    from context.index.outliner import OUTLINER

    language = language_of(path)
    if language is None or len(text) > _LARGEST:
        return ()
    found: list[Definition] = []
    around: list[str] = []
    for symbol in OUTLINER.definitions(language.name, text):
        del around[symbol.depth :]
        name = clean_line(symbol.name)
        whole = name if "." in name or not around else f"{around[-1]}.{name}"
        around.append(whole)
        found.append(Definition(symbol.kind, whole, symbol.start, symbol.end, symbol.head or symbol.start))
    return tuple(found)


def imported_words(path: str, text: str) -> frozenset[str]:
    """The words of the statements that import names in ``text``: the names, and where they are from. It
    parses: call it in a worker thread."""
    from context.code.languages import language_of
    from context.code.uses import imports
    from context.text.words import identifiers

    language = language_of(path)
    if language is None or len(text) > _LARGEST:
        return frozenset()
    return frozenset(word for each in imports(language, text) for word in identifiers(each.text))


def names_used(path: str, text: str, rows: Collection[int]) -> frozenset[str]:
    """The names in these rows (from 0) of ``text`` that are code: words of comments, strings and prose are
    none. It parses: call it in a worker thread."""
    from context.code.languages import is_code, language_of
    from context.code.parsing import nodes, text_of
    from context.text.words import identifiers

    if not is_code(path) or len(text) > _LARGEST or not rows:
        return frozenset()
    language = language_of(path)
    if language is None:
        lines = text.splitlines()
        return frozenset(word for row in rows if row < len(lines) for word in identifiers(lines[row]))
    return frozenset(
        text_of(node)
        for node in nodes(language, text)
        if node.start_point.row in rows and not node.named_child_count and _NAME.search(node.type)
    )


def innermost(found: tuple[Definition, ...], line: int) -> str:
    """The name of the definition that line ``line`` (from 0) is in; empty outside of all."""
    names = [each.name for each in found if each.start <= line < each.end and each.kind != "section"]
    return names[-1] if names else ""
