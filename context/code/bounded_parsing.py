"""Parses with a time limit, and rejects texts that would crash a parser.

Parsers take time that grows with the square of some texts (brackets that never close, comments that
never end), and hold up all threads meanwhile. Files come from anywhere, so that must not be theirs to choose.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from context.code.languages import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query, Tree

_SECONDS = 1.0
"""CPU time of this thread for one text; a large file that people wrote takes a fifth of it."""
_PIECE = 16_000
"""Bytes of a text that are parsed at once."""
_YAML_NESTED = re.compile(rb"^(?:[ \t]|[-?:](?=[ \t])){200}", re.MULTILINE)
"""The parser of YAML keeps each level of nesting in a buffer of fixed length and writes past its end."""
_OPENING, _CLOSING = b"([{<", b")]}>;"
_BRACKETS = bytes.maketrans(_OPENING + _CLOSING, b"(" * len(_OPENING) + b")" * len(_CLOSING))
_OTHERS = bytes(set(range(256)) - set(_OPENING + _CLOSING))
_OPENED = b"(" * 2_000
"""So many brackets are opened one in another before any is closed; some parsers cannot be stopped there."""
_RUBBLE = 10_000
"""Pieces side by side that the parser could not put together; a query's time grows with their square."""


class TooHardError(Exception):
    """The text cannot be parsed safely or in time."""


class ParseBudget:
    """The time limit for one text and everything embedded in it."""

    def __init__(self) -> None:
        self._end = time.thread_time() + _SECONDS
        self._soonest = time.perf_counter() + _SECONDS

    def parsed(self, language: Language, grammar: Grammar, source: bytes) -> Tree:
        """The tree of a text. A long one is given piece by piece: between two, other threads may run.
        Raises TooHardError."""
        from tree_sitter import Parser

        if language.name == "yaml" and _YAML_NESTED.search(source):
            raise TooHardError
        if _OPENED in source.translate(_BRACKETS, _OTHERS):
            raise TooHardError

        def piece(start: int, _point: object) -> bytes:
            return source[start : start + _PIECE]

        try:
            return Parser(grammar).parse(piece, progress_callback=lambda _at, _error: self._is_over())
        except ValueError as problem:  # it says no more than that it has failed
            raise TooHardError from problem

    def matches(self, query: Query, root: Node) -> list[tuple[int, dict[str, list[Node]]]]:
        """What ``query`` finds below ``root``; nothing where the parser found no order in most of it."""
        from tree_sitter import QueryCursor

        if root.has_error and any(
            node.is_error and node.child_count > _RUBBLE for node in (root, *root.children)
        ):
            return []
        return QueryCursor(query).matches(root)

    def _is_over(self) -> bool:
        # The first clock is read many times faster, and never behind the second.
        return time.perf_counter() > self._soonest and time.thread_time() > self._end
