"""Makes a symbol from a definition's node: its signature, name, documentation and line range.

This runs for every definition of a project. It prefers the text to the tree, since finding a node's neighbour
in the tree means walking to it from the root.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from context.code.languages import Language
from context.code.symbols import CUT, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node

_SIGNATURE = 200
_VALUE = 100
_DOC = 100
_LOOSE = ((re.compile(r"\(\s"), "("), (re.compile(r",?\s\)"), ")"), (re.compile(r",\s\}"), " }"))
_COMMENT_BEGIN = re.compile(r"(?:<!--|[\s/*!#-])*")
_DOC_TAGS = re.compile(r"</?(?:summary|remarks|para)>")
_STRING = rb"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`[^`]*`)|"""
_COMMENTS = (
    (b"/", re.compile(_STRING + rb"//[^\n]*|/\*.*?\*/", re.DOTALL)),
    (b"#", re.compile(_STRING + rb"(?<!\S)#(?=[\s#])[^\n]*")),
)
"""For each comment mark, an expression for comments; it also matches strings, which are kept."""
_PLAIN_DECLARATOR = re.compile(rb"[*\s]*+(?!operator\b)([A-Za-z_]\w*+)\s*+(?:[(\[:=]|$)(?!:)")


def symbol_of(
    language: Language,
    source: bytes,
    kind: str,
    node: Node,
    captures: dict[str, list[Node]],
    line: int,
    depth: int,
    inside_function: bool,
) -> Symbol:
    """The symbol for a definition's ``node``; ``line`` is its first line, ``captures`` are the query's."""
    whole = _whole(language, node) if language.wrappers or language.lone_wrappers else node
    start, whole_end = node.start_byte, whole.end_byte
    whole_start, start_line = start, line
    if whole is not node:
        whole_start = whole.start_byte
        start_line -= source.count(b"\n", whole_start, start)
    body = captures["body"][0] if "body" in captures else None
    end = body.start_byte if body is not None else whole_end
    head = source[start:end]
    commented = _may_comment(language, head)
    if commented:
        # A comment before the name is inside the definition, so only later ones end the signature.
        named = next(
            (captures[key][0].start_byte for key in ("name", "declarator") if key in captures), start
        )
        for child in node.children:
            # The comparison goes first, since a type is a new text each time.
            if named <= child.start_byte < end and child.type in language.comments:
                end = child.start_byte
                break
        head = source[start:end]
    if "signature" in captures:
        shown = captures["signature"][0]
        if shown.end_byte <= start:
            # A macro in front of a block, such as TEST_CASE("…").
            rows = source.count(b"\n", shown.start_byte, start)
            line, start_line = line - rows, start_line - rows
            start = whole_start = shown.start_byte
        head = source[start : shown.end_byte]
        signature = _one_line(source[shown.start_byte : shown.end_byte])
    else:
        text = head if whole is node else source[whole_start:end]
        signature = _one_line(_without_comments(language, text) if commented else text)
    if kind == "section" and body is not None and language.most is None:
        # A block of tests is called by its name, without the function that it is given.
        signature = _one_line(source[start : captures["name"][0].end_byte])
        signature += ")" * (signature.count("(") > signature.count(")"))
    if "( " in signature or " )" in signature or ", }" in signature:
        for loose, tight in _LOOSE:
            signature = loose.sub(tight, signature)
    signature = signature.rstrip(" {:;=,\\").removesuffix(" =>").rstrip()
    if kind == "class":
        # A class of tests may be given its body as an argument of what it extends.
        signature = signature.removesuffix("(")
    doc = "" if body is None or not language.strings else _string_doc(language, source, body)
    first_line = start_line
    if _may_lead(language, source, whole_start):
        comments, first = _leading(language, whole)
        first_line -= source.count(b"\n", first.start_byte, whole_start)
        doc = doc or _comment_doc(source, comments)
    name = _name(source, captures)
    if kind == "class" and "declarator" in captures:
        signature = f"{signature} {name}"
    return Symbol(
        kind,
        name,
        _cut(signature, _SIGNATURE if body is not None or kind == "function" else _VALUE),
        _cut(doc, _DOC) if doc else "",
        first_line,
        # An end right after a line end is not on the next line.
        start_line + source.count(b"\n", whole_start, max(whole_start, whole_end - 1)) + 1,
        line,
        line + (head.rstrip().count(b"\n") if b"\n" in head else 0) + 1,
        depth,
        inside_function,
    )


def _without_comments(language: Language, text: bytes) -> bytes:
    """``text`` without comments in the style of C or of a shell; strings are kept."""
    for mark, comment in _COMMENTS:
        if mark in language.marks:
            text = comment.sub(lambda found: found[1] or b" ", text)
    return text


def _whole(language: Language, node: Node) -> Node:
    """The node, or the outermost wrapper that is part of the definition."""
    parent = node.parent
    while parent is not None and (
        parent.type in language.wrappers
        or (parent.type in language.lone_wrappers and parent.named_child_count == 1)
    ):
        node = parent
        parent = node.parent
    return node


def _name(source: bytes, captures: dict[str, list[Node]]) -> str:
    if "name" in captures:
        node = captures["name"][0]
        name = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return name if name.isidentifier() else " ".join(name.split())
    declarator = captures["declarator"][0] if "declarator" in captures else None
    if declarator is not None:
        plain = _PLAIN_DECLARATOR.match(source, declarator.start_byte, declarator.end_byte)
        if plain is not None:
            return plain[1].decode("ascii")
    while declarator is not None:
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type == "reference_declarator" and declarator.named_children:
            inner = declarator.named_children[-1]
        if inner is None:
            return _one_line(source[declarator.start_byte : declarator.end_byte])
        declarator = inner
    return ""


def _may_lead(language: Language, source: bytes, start: int) -> bool:
    """Whether the line above a definition, or the text before it on its line, may belong to it."""
    if source.endswith(b"\n\n", 0, start):
        return False
    line = source.rfind(b"\n", 0, start) + 1
    above = source.rfind(b"\n", 0, line - 1) + 1 if line else 0
    text = source[above:start]
    return _may_comment(language, text) or (bool(language.leading) and bool(text) and not text.isspace())


def _may_comment(language: Language, text: bytes) -> bool:
    """Whether a comment may begin or end in ``text``."""
    for mark in language.marks:  # noqa: SIM110 - calling any() would take several times as long.
        if mark in text:
            return True
    return False


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
    """Whether a comment is at the end of a line of code, and so documents that line."""
    before = comment.prev_sibling
    return (
        before is not None and before.end_point.row == comment.start_point.row and before.end_point.column > 0
    )


def _string_doc(language: Language, source: bytes, body: Node) -> str:
    if not body.named_child_count:
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
            if bare := _bare(_DOC_TAGS.sub("", line) if "<" in line else line):
                return " ".join(bare.split())
    return ""


def _bare(line: str) -> str:
    """A line of a comment without the marks around it."""
    bare = "" if line.startswith("#!") else _COMMENT_BEGIN.sub("", line, count=1)
    end = len(bare)
    # By index: of a long row of marks, each cut would copy the rest.
    while end:
        if bare[end - 1] in "*/" or bare[end - 1].isspace():
            end -= 1
        elif bare.endswith("-->", 0, end):
            end -= 3
        else:
            break
    return bare[:end]


def _one_line(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + CUT
