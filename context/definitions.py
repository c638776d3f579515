"""Finding the definitions in source text with tree-sitter, by the queries in ``queries/``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from context.bounded import Effort, TooHardError
from context.languages import Language, load, named_language
from context.macros import take_macros, with_macros
from context.symbols import KINDS, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE = 200
_VALUE = 100
_DOC = 100
_SPACE = re.compile(r"\s+")
_LOOSE = ((re.compile(r"\(\s"), "("), (re.compile(r",?\s\)"), ")"), (re.compile(r",\s\}"), " }"))
_BROKEN = 3
"""Lines of text that the parser could make nothing of, from which it is tried again further down, …"""
_RETRIES = 8
"""… so many times in a file."""
_FRESH_START = re.compile(rb"^[^\s)\]}#]", re.MULTILINE)
_COMMENT_MARKS = re.compile(r"^(?:<!--|[\s/*!#-])*|(?:-->|[\s*/])*$")
_DOC_TAGS = re.compile(r"</?(?:summary|remarks|para)>")
_NESTED = 3
"""Languages inside languages that are read: a page in a document, a script in the page."""


def definitions(language: Language, text: str) -> tuple[Symbol, ...]:
    """All definitions of a text, in the order they stand; code in other languages inside it is read too.

    Where the parser lost its way it starts afresh at the next line that stands at the margin, so that
    one unfinished line does not hide the rest of a file that is being written. A text that takes the parser
    too long, as nothing that people write does, has none.
    """
    try:
        return _all_definitions(language, text, Effort())
    except TooHardError:
        return ()


def _all_definitions(language: Language, text: str, effort: Effort) -> tuple[Symbol, ...]:
    source = text.encode("utf-8", "replace")
    if language.body is not None:
        # Nothing in a function's body can be outlined: two thirds of the text need no parsing.
        source = re.sub(language.body, _emptied, source)
    if not language.macros:
        return _read(language, source, _NESTED, effort)
    source, macros = take_macros(source)
    return with_macros(_read(language, source, _NESTED, effort), macros)


def _emptied(body: re.Match[bytes]) -> bytes:
    """A body of as many lines, with nothing in it."""
    head, _, rest = body[0].partition(b"{")
    return head + b"{" + b"\n" * rest.count(b"\n") + rest[rest.rindex(b"}") :]


def _read(language: Language, source: bytes, levels: int, effort: Effort) -> tuple[Symbol, ...]:
    grammar, _ = load(language)
    symbols: list[Symbol] = []
    first_line = 0
    for tries_left in range(_RETRIES, -1, -1):
        root = effort.parsed(language, grammar, source).root_node
        found = _definitions(language, source, root, levels, effort)
        lost = next((node for node in (root, *root.children) if _is_lost(node)), None)
        restart = None
        if lost is not None and tries_left:
            line_end = source.find(b"\n", lost.start_byte)
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


def _definitions(language: Language, source: bytes, root: Node, levels: int, effort: Effort) -> list[Symbol]:
    query = load(language)[1]
    found: dict[tuple[int, int], tuple[_Found, Node, dict[str, list[Node]]]] = {}
    for pattern, captures in effort.matches(query, root):
        if "embedded" in captures:
            inside = _embedded(query.pattern_settings(pattern), source, captures)
            if inside is not None and levels:
                node = captures["embedded"][0]
                found[node.start_byte, node.end_byte] = (inside, node, captures)
            continue
        rank, kind = next((rank, kind) for rank, kind in enumerate(KINDS) if kind in captures)
        node = captures[kind][0]
        place = (node.start_byte, node.end_byte)
        # Of two matches of one node, the one that says where the signature ends knows more.
        match = _Found(rank, "body" not in captures and "signature" not in captures)
        if place not in found or match < found[place][0]:
            found[place] = (match, node, captures)
    symbols: list[Symbol] = []
    around: list[tuple[int, str]] = []
    for (start, end), (match, node, captures) in sorted(
        found.items(), key=lambda item: (item[0][0], -item[0][1])
    ):
        while around and around[-1][0] <= start:
            around.pop()
        if match.language is not None:
            symbols += _inner(language, match.language, source, node, len(around), levels, effort)
            continue
        if language.deepest is not None and len(around) >= language.deepest:
            continue
        inside_function = any(kind == "function" for _, kind in around)
        kind = KINDS[match.rank]
        symbols.append(
            _symbol(language, source, kind, node, captures, len(around), inside_function=inside_function)
        )
        around.append((end, kind))
    return symbols


class _Found(NamedTuple):
    """What a match is worth: the rank of its kind, and whether it is less exact than it could be.
    ``language`` is set for code in another language."""

    rank: int
    vague: bool = False
    language: Language | None = None


def _embedded(
    settings: Mapping[str, object], source: bytes, captures: dict[str, list[Node]]
) -> _Found | None:
    """The language that embedded code is in, from the query or from the text beside it, if it is known."""
    word = settings.get("language")
    if "language" in captures:
        node = captures["language"][0]
        word = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
    language = named_language(word) if isinstance(word, str) else None
    return None if language is None else _Found(0, language=language)


def _inner(
    outer: Language, inner: Language, source: bytes, node: Node, depth: int, levels: int, effort: Effort
) -> Iterator[Symbol]:
    """The definitions of embedded code, as part of the file around it."""
    for symbol in _read(inner, source[node.start_byte : node.end_byte], levels - 1, effort):
        moved = _moved(symbol, node.start_point.row)
        yield replace(moved, kind="section" if outer.quotes else symbol.kind, depth=symbol.depth + depth)


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
    start = whole.start_byte
    if "signature" in captures:
        start, end = captures["signature"][0].start_byte, captures["signature"][0].end_byte
    signature = _one_line(source[start:end])
    if "( " in signature or " )" in signature or ", }" in signature:
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
        if inner is None and declarator.type == "reference_declarator" and declarator.named_children:
            inner = declarator.named_children[-1]
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
            bare = _COMMENT_MARKS.sub("", _DOC_TAGS.sub("", line))
            if bare:
                return _SPACE.sub(" ", bare)
    return ""


def _one_line(text: bytes) -> str:
    # As fast as it gets: this is done for every signature and name of a project.
    return " ".join(text.decode("utf-8", "replace").split())


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
