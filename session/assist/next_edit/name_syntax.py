"""What the syntax around a name says of its use: alone, as a method, as a keyword, within an import."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from context.code.parsing import text_of
from context.code.scopes import NamedText

if TYPE_CHECKING:
    from tree_sitter import Node

MEMBER_TYPES = frozenset({"property_identifier", "field_identifier", "shorthand_field_identifier"})
SHORT = frozenset(
    {"shorthand_property_identifier", "shorthand_property_identifier_pattern", "shorthand_field_identifier"}
)
"""A name that is a key and a value at once."""
INSIDE_IMPORTS = frozenset(
    {"import_from_statement", "import_statement", "use_declaration", "import_spec", "import_declaration"}
)


def is_plain(text: NamedText, node: Node) -> bool:
    """Whether a name is used by itself: not as a field, and not as a keyword."""
    return not (text.behind(node) or node.type in MEMBER_TYPES or is_keyword(text, node))


def around_any(node: Node, kinds: Collection[str]) -> bool:
    """Whether a node of one of some kinds is around another, within one statement."""
    around = node.parent
    while around is not None:
        if around.type in kinds:
            return True
        if around.type.endswith(("block", "body")):
            return False
        around = around.parent
    return False


def is_method(text: NamedText, node: Node) -> bool:
    """Whether a member is used or defined as a method, which may have the name of a field too in Rust."""
    around = node.parent
    if around is not None and around.type.startswith("function"):
        return True
    if text.source[max(0, node.start_byte - 2) : node.start_byte] == b"::":
        return around is not None and text_of(node)[:1].islower()
    called = around.parent if around is not None else None
    if around is None or around.type != "field_expression":
        after = text.source[node.end_byte : node.end_byte + 2]
        return around is not None and around.type == "token_tree" and after[:1] == b"("
    while called is not None and called.type == "generic_function":
        called = called.parent
    return called is not None and called.type == "call_expression" and called.start_byte == around.start_byte


def is_keyword(text: NamedText, node: Node) -> bool:
    """Whether a name is a keyword of a call or a literal, not a value."""
    around = node.parent
    if around is None:
        return False
    kind = around.type
    if kind in ("keyword_argument", "pair", "field_initializer", "value_argument_label", "jsx_attribute"):
        first = (
            around.child_by_field_name("name")
            or around.child_by_field_name("key")
            or around.named_children[0]
        )
        field = around.child_by_field_name("field")
        return (field or first).id == node.id
    if kind == "literal_element" and around.parent is not None and around.parent.type == "keyed_element":
        if around.parent.named_children[0].id != around.id:
            return False
        holder: Node | None = around.parent
        while holder is not None and holder.type != "composite_literal":
            holder = holder.parent
        written = holder.child_by_field_name("type") if holder is not None else None
        return not (
            written is not None
            and ("map" in written.type or "array" in written.type or "slice" in written.type)
        )
    if "argument" in kind and around.named_children[0].id == node.id:
        after = text.source[node.end_byte : node.end_byte + 4].lstrip()
        return re.match(rb"(?:=(?!=)|:(?!:))", after) is not None
    return False


def package_of(text: NamedText) -> str:
    """The package or namespace that a file says it is in; empty for none."""
    found = re.search(rb"^\s*(?:package|namespace)\s+([\w.]+)", text.source, re.MULTILINE)
    return found[1].decode() if found is not None else ""
