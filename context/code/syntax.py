"""Checks whether a file parses, for a guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from context.code.languages import language_of, load

if TYPE_CHECKING:
    from tree_sitter import Node

LARGEST = 400_000
"""Characters above which a file is not checked: parsing holds up every other thread."""
_SHOWN = 30
"""Characters of the unexpected text that a message shows."""


def fault(path: str, text: str) -> str | None:
    """The first syntax error in ``text``, in a few words; None if there is none, or if the language is not
    known."""
    language = language_of(path)
    if language is None or len(text) > LARGEST:
        return None
    from tree_sitter import Parser

    grammar = load(language).grammar
    node = Parser(grammar).parse(text.encode("utf-8", "surrogatepass")).root_node
    if not node.has_error:
        return None
    while not (node.is_error or node.is_missing):
        node = next(child for child in node.children if child.has_error or child.is_missing)
    what = f"missing `{node.type}`" if node.is_missing else f"unexpected `{_beginning(node)}`"
    return f"syntax error at line {node.start_point.row + 1}: {what}"


def _beginning(node: Node) -> str:
    """The first line of a node's text, cut to a length for messages."""
    text = (node.text or b"").decode("utf-8", "replace").strip().split("\n")[0]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
