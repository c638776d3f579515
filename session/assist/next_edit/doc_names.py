"""Finds a renamed name in comments that document: where it is marked as a name, above its definition."""

from __future__ import annotations

import re
from collections.abc import Iterator

from context.code.scopes import NamedText
from session.assist.next_edit.rename import Piece, Rename

_MARKS = (
    r"(?:`(?:[\w.:]*[.:])?|\[`?(?:[\w.:]*[.:])?|@(?:link|see)\s+(?:\w+[.#])?)(NAME)\b",
    r"\b(NAME)\b",
)
_SCRIPT_MARKS = r"(?:\{@link(?:code|plain)?\s+|@\w+\s+\{[^}\n]*?\b|@see\s+)(NAME)\b"
"""What a name in a comment follows where it is marked as one; in Go the comment of a definition says it."""


def above_definition(text: NamedText, rename: Rename) -> Iterator[Piece]:
    """The name in the comment above its definition, where it is marked as one or, in Go, wherever it is."""
    marks = _MARKS[text.language.name == "go"].replace("NAME", re.escape(rename.old))
    lines = text.source.split(b"\n")
    row = first = rename.row
    while row > 0 and re.match(rb"\s*(?:///|//|/?\*|#(?!\[)|\*/)", lines[row - 1]):
        row -= 1
    yield from (piece for piece in _marked(text, marks, rename.new) if row <= piece.row < first)


def in_script_docs(text: NamedText, rename: Rename) -> Iterator[Piece]:
    """The name in the marks of a script's comments, anywhere in a file that sees it."""
    yield from _marked(text, _SCRIPT_MARKS.replace("NAME", re.escape(rename.old)), rename.new)


def _marked(text: NamedText, marks: str, new: str) -> Iterator[Piece]:
    """The name where an expression finds it in a line of a comment."""
    for match in re.finditer(marks.encode(), text.source):
        start = text.source.rfind(b"\n", 0, match.start(1)) + 1
        if re.match(rb"\s*(?://|/?\*|#)", text.source[start : match.start(1)]):
            row = text.source.count(b"\n", 0, start)
            yield Piece(row, match.start(1) - start, match.end(1) - start, new)
