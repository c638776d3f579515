"""Extracts what the index keeps of a file: outline, names, words, line checksums."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from context.code.outline import MORE, Outline, outline
from context.disk.changes import Lines, line_sums
from context.disk.source import Source
from context.text.fences import harmless
from context.text.generated import is_unedited
from context.text.secrets import redact
from context.text.words import words

_MOST_WORDS = 8_000
"""Different words of a file that it is found by, the first; only generated tables hold more."""
_MOST_NAMES = 4_000
_LONGEST_OUTLINE = 40_000
"""Characters of an outline that are kept: no map has room for a longer one."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the index keeps of one file. ``lines`` is None where git compares the lines."""

    path: str
    digest: str
    outline: str
    """The rendered outline, secrets masked."""
    names: frozenset[str]
    """Names defined for others."""
    words: Mapping[str, int]
    """The words of the text and, again, of the defined names, and twice those of the path."""
    lines: Lines | None
    unedited: bool = False
    """It is built, generated or vendored."""


def facts_of(source: Source, *, lines: bool = True, found: Outline | None = None) -> Facts:
    """Read a content: parse, outline, collect words. ``found`` is its outline, where that is known."""
    if found is None:
        found = outline(source.path, source.text)
    names = found.names
    if len(names) > _MOST_NAMES:
        names = frozenset(sorted(names)[:_MOST_NAMES])
    counted = words("\n".join((source.path, source.path, *names, source.text)))
    if len(counted) > _MOST_WORDS:
        counted = dict(islice(counted.items(), _MOST_WORDS))
    return Facts(
        source.path,
        source.digest,
        harmless(redact(_cut(found.text)).text),
        names,
        counted,
        line_sums(source) if lines else None,
        is_unedited(source.path, source.text),
    )


def _cut(outline: str) -> str:
    if len(outline) <= _LONGEST_OUTLINE:
        return outline
    return outline[: outline.rfind("\n", 0, _LONGEST_OUTLINE) + 1] + MORE
