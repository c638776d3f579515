"""Walks the syntax tree of a text, for what the outline queries do not tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from context.code.bounded_parsing import ParseBudget, TooHardError
from context.code.languages import Language, grammar_of

if TYPE_CHECKING:
    from tree_sitter import Node


def nodes(language: Language, text: str) -> Iterator[Node]:
    """All named nodes of a text, each before those in it; none where it takes too long to parse."""
    source = text.encode("utf-8", "replace")
    try:
        tree = ParseBudget().parse(language, grammar_of(language), source)
    except TooHardError:
        return
    rest = [tree.root_node]
    while rest:
        node = rest.pop()
        yield node
        rest.extend(reversed(node.named_children))


def text_of(node: Node | None) -> str:
    """The source of a node; empty for none."""
    return "" if node is None or node.text is None else node.text.decode("utf-8", "replace")
