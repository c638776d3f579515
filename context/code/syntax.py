"""Finds the first syntax error in a file, for the guard that asks before an edit breaks one."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from context.code.bounded_parsing import ParseBudget, TooHardError
from context.code.languages import grammar_of, language_of

if TYPE_CHECKING:
    from tree_sitter import Node

LARGEST = 400_000
"""Length in characters above which a file is not checked, since parsing blocks all other threads."""
_SHOWN = 30
"""Number of characters of the unexpected text that a message shows."""


def syntax_error(path: str, text: str) -> str | None:
    """The first syntax error in ``text``, in a few words.

    None if there is none, if the language is unknown, or if the text is too long or too hard to parse:
    it may be a model's, and some texts would hang or crash a parser.
    """
    language = language_of(path)
    if language is None or len(text) > LARGEST:
        return None
    source = text.encode("utf-8", "surrogatepass")
    try:
        node = ParseBudget().parse(language, grammar_of(language), source).root_node
    except TooHardError:
        return None
    if not node.has_error:
        return None
    if language.name == "python" and (told := _told_by_python(text)):
        return told
    while not (node.is_error or node.is_missing):
        node = next(child for child in node.children if child.has_error or child.is_missing)
    what = f"missing `{node.type}`" if node.is_missing else f"unexpected `{_beginning(source, node)}`"
    return f"syntax error at line {node.start_point.row + 1}: {what}"


def parse_error(path: str, text: str) -> str | None:
    """What :func:`syntax_error` finds, and in Python what only its own parser does: a wrong indentation."""
    found = syntax_error(path, text)
    if found is not None or len(text) > LARGEST:
        return found
    language = language_of(path)
    return _told_by_python(text) if language is not None and language.name == "python" else None


def _told_by_python(text: str) -> str | None:
    """What Python itself says of a text: where a bracket or a string is never closed, a grammar that mends
    errors sees one only in the lines after it. None where this version of Python finds nothing wrong."""
    try:
        with warnings.catch_warnings(action="ignore"):
            ast.parse(text)
    except SyntaxError as error:
        return f"syntax error at line {error.lineno or 1}: {error.msg}"
    except (ValueError, MemoryError, RecursionError):
        return None
    return None


def _beginning(source: bytes, node: Node) -> str:
    """The first line of a node's text, cut to a length for messages."""
    text = source[node.start_byte : node.end_byte].decode("utf-8", "replace").strip().split("\n")[0]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
