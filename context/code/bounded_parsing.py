"""Parses with a time limit, and rejects texts that would crash a parser.

A parser takes quadratic time for some texts, such as brackets that never close or comments that never
end, and blocks all other threads meanwhile. Files come from anywhere, so this limits what they can cause.
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
    """The time limit for one text and everything embedded in it."""

    def __init__(self) -> None:
        self._end = time.thread_time() + _SECONDS
        self._soonest = time.perf_counter() + _SECONDS

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
        return QueryCursor(query).matches(root)

    def _is_over(self, _at: int, _error: bool) -> bool:
        # The first clock is many times faster to read, and never runs behind the second.
        return time.perf_counter() > self._soonest and time.thread_time() > self._end
