"""Parses with a time limit, walks what was parsed, and finds the first syntax error.

A parser takes quadratic time for some texts, such as brackets that never close or comments that never
end, and blocks all other threads meanwhile. Files come from anywhere, so this limits what they can cause,
and texts that would crash a parser are rejected. The guard that asks before an edit breaks a file asks here
for its first error.
"""

from __future__ import annotations

import ast
import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from context.code.languages import Language, grammar_of, language_of

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query, Tree


_SECONDS = 1.0
"""CPU time of this thread for one text, in seconds; a large file that people wrote takes a fifth of it."""
_PIECE = 16_000
"""Number of bytes that are given to the parser at once."""
_DEEP_YAML = re.compile(rb"^(?:[ \t]|[-?:](?=[ \t])){200}", re.MULTILINE)
"""Matches deep nesting in YAML, whose parser would write past the end of a fixed buffer."""
_OPENING, _CLOSING = b"([{<", b")]}>;"
_BRACKETS = bytes.maketrans(_OPENING + _CLOSING, b"(" * len(_OPENING) + b")" * len(_CLOSING))
_OTHERS = bytes(set(range(256)) - set(_OPENING + _CLOSING))
_DEEP_BRACKETS = b"(" * 2_000
"""Brackets nested so deeply that some parsers could not be interrupted."""
_MOST_ERROR_CHILDREN = 10_000
"""Number of children of an error node above which it is not queried, as that takes quadratic time."""


class TooHardError(Exception):
    """The text cannot be parsed safely or in time."""


class ParseBudget:
    """The time limit for one text and everything embedded in it.

    What a grammar's query takes to be compiled, once a process and on a busy machine a second, is no part of
    it."""

    def __init__(self) -> None:
        self._left = _SECONDS
        self._end = self._soonest = 0.0

    def parse(self, language: Language, grammar: Grammar, source: bytes) -> Tree:
        """Parse a text, giving it to the parser in pieces, between which other threads may run.

        Raises TooHardError.
        """
        from tree_sitter import Parser

        if language.name == "yaml" and _DEEP_YAML.search(source):
            raise TooHardError
        if _DEEP_BRACKETS in source.translate(_BRACKETS, _OTHERS):
            raise TooHardError

        def piece(start: int, _point: object) -> bytes:
            return source[start : start + _PIECE]

        try:
            with self._counted():
                return Parser(grammar).parse(piece, progress_callback=self._is_over)
        except ValueError as problem:  # The parser gives no reason.
            raise TooHardError from problem

    def matches(self, query: Query, root: Node) -> list[tuple[int, dict[str, list[Node]]]]:
        """The matches of ``query`` below ``root``; none if most of the text could not be parsed."""
        from tree_sitter import QueryCursor

        if root.has_error and any(
            node.is_error and node.child_count > _MOST_ERROR_CHILDREN for node in (root, *root.children)
        ):
            return []
        with self._counted():
            return QueryCursor(query).matches(root)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        began = time.thread_time()
        self._end = began + self._left
        self._soonest = time.perf_counter() + self._left
        try:
            yield
        finally:
            self._left -= time.thread_time() - began

    def _is_over(self, _at: int, _error: bool) -> bool:
        # The first clock is many times faster to read, and never runs behind the second.
        return time.perf_counter() > self._soonest and time.thread_time() > self._end


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
    if language is None or language.cells or len(text) > LARGEST:
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
