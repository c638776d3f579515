"""A file's outline: its definitions as signatures, nested, each with the first line of its documentation.

The rendered text holds no line numbers, so that an edit elsewhere in the file leaves it as it was and the
server's prompt cache holds. The line ranges stay in the data: they find the symbols a change touched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from context.languages import Language, language_of, load

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE = 200
_VALUE = 100
_DOC = 100
_HEAD_LINES = 5
_HEAD_WIDTH = 100
_KINDS = ("function", "class", "type", "field", "constant")
_SPACE = re.compile(r"\s+")
_COMMENT_MARKS = re.compile(r"^[\s/*!#]*|[\s*/]*$")


@dataclass(frozen=True, slots=True)
class Symbol:
    """One definition. ``start`` and ``end`` are line indices from 0, ``end`` one past the last; they
    include the comments, attributes and decorators that belong to it. ``depth`` counts the
    definitions around it; ``inside_function`` is true for a local one, which no outline shows."""

    kind: str
    name: str
    signature: str
    doc: str
    start: int
    end: int
    depth: int = 0
    inside_function: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """The definitions of a file in the order they stand, or the head of a file in no known language."""

    symbols: tuple[Symbol, ...] = ()
    head: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The outline as the model reads it: one line a definition, indented by nesting; every line
        ends in a line end; empty for a file that defines nothing."""
        lines = [
            f"{'  ' * symbol.depth}{symbol.signature}{f' — {symbol.doc}' if symbol.doc else ''}\n"
            for symbol in self.symbols
            if not symbol.inside_function
        ]
        return "".join(lines or (f"{line}\n" for line in self.head))

    @property
    def names(self) -> frozenset[str]:
        """The names that the file defines for others."""
        return frozenset(symbol.name for symbol in self.symbols if symbol.name and not symbol.inside_function)


def outline(path: str, text: str) -> Outline:
    """The outline of a file. Text that does not parse gives what can be made out in it."""
    language = language_of(path)
    symbols = _symbols(language, text) if language is not None else ()
    return Outline(symbols, () if symbols else _head(text))


def _head(text: str) -> tuple[str, ...]:
    lines = (line.rstrip() for line in text[: _HEAD_WIDTH * _HEAD_LINES * 4].split("\n"))
    return tuple(line[:_HEAD_WIDTH] for line in lines if line)[:_HEAD_LINES]


def _symbols(language: Language, text: str) -> tuple[Symbol, ...]:
    from tree_sitter import Parser, QueryCursor

    grammar, query = load(language)
    source = text.encode("utf-8", "replace")
    tree = Parser(grammar).parse(source)
    found: dict[tuple[int, int], tuple[int, Node, dict[str, list[Node]]]] = {}
    for _, captures in QueryCursor(query).matches(tree.root_node):
        rank, kind = next((rank, kind) for rank, kind in enumerate(_KINDS) if kind in captures)
        node = captures[kind][0]
        place = (node.start_byte, node.end_byte)
        if place not in found or rank < found[place][0]:
            found[place] = (rank, node, captures)
    symbols: list[Symbol] = []
    around: list[tuple[int, str]] = []
    for (start, end), (rank, node, captures) in sorted(
        found.items(), key=lambda item: (item[0][0], -item[0][1])
    ):
        while around and around[-1][0] <= start:
            around.pop()
        inside_function = any(kind == "function" for _, kind in around)
        symbols.append(
            _symbol(
                language, source, _KINDS[rank], node, captures, len(around), inside_function=inside_function
            )
        )
        around.append((end, _KINDS[rank]))
    return tuple(symbols)


def _symbol(
    language: Language,
    source: bytes,
    kind: str,
    node: Node,
    captures: dict[str, list[Node]],
    depth: int,
    *,
    inside_function: bool,
) -> Symbol:
    whole = node
    while whole.parent is not None and whole.parent.type in language.wrappers:
        whole = whole.parent
    body = captures["body"][0] if "body" in captures else None
    signature = _one_line(source[whole.start_byte : body.start_byte if body else whole.end_byte])
    limit = _SIGNATURE if body or kind == "function" else _VALUE
    comments, first = _leading(language, whole)
    doc = _string_doc(language, source, body) or _comment_doc(source, comments)
    name = _name(source, captures)
    return Symbol(
        kind,
        name,
        _cut(signature.rstrip(" {:;=").removesuffix(" =>").rstrip(), limit),
        _cut(doc, _DOC),
        first.start_point.row,
        whole.end_point.row + (1 if whole.end_point.column else 0),
        depth,
        inside_function,
    )


def _name(source: bytes, captures: dict[str, list[Node]]) -> str:
    if "name" in captures:
        node = captures["name"][0]
        return _one_line(source[node.start_byte : node.end_byte])
    declarator = captures["declarator"][0] if "declarator" in captures else None
    while declarator is not None:
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            return _one_line(source[declarator.start_byte : declarator.end_byte])
        declarator = inner
    return ""


def _leading(language: Language, node: Node) -> tuple[list[Node], Node]:
    """The comments right above a definition, in order, and the first node that belongs to it."""
    comments: list[Node] = []
    first = node
    before = node.prev_named_sibling
    while (
        before is not None
        and before.end_point.row + (1 if before.end_point.column else 0) >= first.start_point.row
    ):
        if before.type in language.comments and not _trails(before):
            comments.insert(0, before)
        elif before.type not in language.leading:
            break
        first = before
        before = before.prev_named_sibling
    return comments, first


def _trails(comment: Node) -> bool:
    """Whether a comment stands at the end of a line of code, and so documents that."""
    before = comment.prev_sibling
    return (
        before is not None and before.end_point.row == comment.start_point.row and before.end_point.column > 0
    )


def _string_doc(language: Language, source: bytes, body: Node | None) -> str:
    if body is None or not language.strings or not body.named_child_count:
        return ""
    statement = body.named_children[0]
    string = (
        statement.named_children[0]
        if statement.type == "expression_statement" and statement.named_children
        else None
    )
    if string is None or string.type not in language.strings:
        return ""
    inner = [child for child in string.named_children if child.type == "string_content"]
    if not inner:
        return ""
    text = source[inner[0].start_byte : inner[-1].end_byte].decode("utf-8", "replace")
    return _one_line(text.strip().partition("\n")[0].encode())


def _comment_doc(source: bytes, comments: list[Node]) -> str:
    for comment in comments:
        text = source[comment.start_byte : comment.end_byte].decode("utf-8", "replace")
        for line in text.split("\n"):
            bare = _COMMENT_MARKS.sub("", line)
            if bare:
                return _SPACE.sub(" ", bare)
    return ""


def _one_line(text: bytes) -> str:
    return _SPACE.sub(" ", text.decode("utf-8", "replace")).strip()


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
