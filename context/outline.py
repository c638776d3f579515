"""A file's outline: its definitions as signatures, nested, each with the first line of its documentation.

The rendered text holds no line numbers, so that an edit elsewhere in the file leaves it as it was and the
server's prompt cache holds. The line ranges stay in the data: they find the symbols a change touched.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
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
_LOOSE = ((re.compile(r"\(\s"), "("), (re.compile(r",?\s\)"), ")"), (re.compile(r",\s\}"), " }"))
_BROKEN = 3
"""Lines of text that the parser could make nothing of, from which it is tried again further down, …"""
_RETRIES = 8
"""… so many times in a file."""
_FRESH_START = re.compile(rb"^[^\s)\]}#]", re.MULTILINE)
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
    head: int = 0
    """The line where the signature begins, past comments and decorators."""
    head_end: int = 0
    """One past the line where the signature ends."""
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
    """All definitions. Where the parser lost its way it starts afresh at the next line that stands at the
    margin, so that one unfinished line does not hide the rest of a file that is being written."""
    from tree_sitter import Parser

    grammar, _ = load(language)
    source = text.encode("utf-8", "replace")
    symbols: list[Symbol] = []
    first_line = 0
    for tries_left in range(_RETRIES, -1, -1):
        root = Parser(grammar).parse(source).root_node
        found = _definitions(language, source, root)
        lost = next((node for node in (root, *root.children) if _is_lost(node)), None)
        restart = None
        if lost is not None and tries_left:
            line_end = source.find(b"\n", lost.start_byte)
            restart = _FRESH_START.search(source, line_end + 1) if line_end >= 0 else None
        if restart is None:
            return tuple(symbols + [_moved(symbol, first_line) for symbol in found])
        lines = source.count(b"\n", 0, restart.start())
        symbols += [_moved(symbol, first_line) for symbol in found if symbol.start < lines]
        source = source[restart.start() :]
        first_line += lines
    return tuple(symbols)


def _is_lost(node: Node) -> bool:
    return node.type == "ERROR" and node.end_point.row - node.start_point.row >= _BROKEN


def _moved(symbol: Symbol, lines: int) -> Symbol:
    return replace(
        symbol,
        start=symbol.start + lines,
        end=symbol.end + lines,
        head=symbol.head + lines,
        head_end=symbol.head_end + lines,
    )


def _definitions(language: Language, source: bytes, root: Node) -> list[Symbol]:
    from tree_sitter import QueryCursor

    found: dict[tuple[int, int], tuple[int, Node, dict[str, list[Node]]]] = {}
    for _, captures in QueryCursor(load(language)[1]).matches(root):
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
    return symbols


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
    while whole.parent is not None and _belongs(language, whole.parent):
        whole = whole.parent
    body = captures["body"][0] if "body" in captures else None
    end = body.start_byte if body else whole.end_byte
    end = min([end, *(child.start_byte for child in node.children if child.type in language.comments)])
    signature = _one_line(source[whole.start_byte : end])
    for loose, tight in _LOOSE:
        signature = loose.sub(tight, signature)
    signature = signature.rstrip(" {:;=,\\").removesuffix(" =>").rstrip()
    limit = _SIGNATURE if body or kind == "function" else _VALUE
    comments, first = _leading(language, whole)
    doc = _string_doc(language, source, body) or _comment_doc(source, comments)
    name = _name(source, captures)
    if kind == "class" and "declarator" in captures:
        signature = f"{signature} {name}"
    return Symbol(
        kind,
        name,
        _cut(signature, limit),
        _cut(doc, _DOC),
        first.start_point.row,
        whole.end_point.row + (1 if whole.end_point.column else 0),
        head=node.start_point.row,
        head_end=node.start_point.row + source[node.start_byte : end].rstrip().count(b"\n") + 1,
        depth=depth,
        inside_function=inside_function,
    )


def _belongs(language: Language, parent: Node) -> bool:
    return parent.type in language.wrappers or (
        parent.type in language.lone_wrappers and parent.named_child_count == 1
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
