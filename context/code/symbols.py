"""The value for one definition in a file, from which outlines and excerpts are made."""

from __future__ import annotations

from typing import NamedTuple

KINDS = ("function", "class", "type", "field", "constant", "section")
"""The kinds of definitions, most important first. A section is a heading, a key of a data file or an element
of a page: it can be mentioned, but code elsewhere does not refer to it."""


CUT = "…"
"""The last character of a signature or documentation that was cut to a length."""


class Symbol(NamedTuple):
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
    variant: bool = False
    """Whether it is the same as an earlier one under another ``#if`` condition; outlines show that one."""
