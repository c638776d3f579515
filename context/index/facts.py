"""Extracts what the index keeps of a file: outline, names, words, line checksums."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

from context.code.outline import MORE, Outline, outline
from context.code.symbols import CUT, Symbol, pack_layout
from context.disk.changes import line_sums
from context.disk.source import Source
from context.index.part import Facts
from context.text.generated import is_unedited
from context.text.safe import harmless
from context.text.secrets import hints_in, redact
from context.text.words import count_tokens, words_in

_MOST_WORDS = 8_000
"""Number of different words of a file that are indexed; only generated tables have more."""
_MOST_NAMES = 4_000
_LONGEST_OUTLINE = 40_000
"""Length in characters that outlines are cut to, since no map has room for longer ones."""


def masked_outline(
    source: Source, found: Outline, hints: frozenset[str], make: Callable[[str, str], Outline]
) -> Outline:
    """The outline ``found`` in a file, without a part of a secret in any text that was cut to a length.

    A secret that lost its end is not recognised later on. So where the file has secrets, a cut signature is
    replaced by that of the masked file or, if masking hid its definition, by its name. ``hints`` are those of
    the file (see :func:`context.text.secrets.hints_in`); ``make`` outlines a path and a text.
    """
    if not hints or not (found.head or any(map(_is_cut, found.symbols))):
        return found
    safe = redact(source.text, hints)
    if not safe.kinds:
        return found
    masked = make(source.path, safe.text)
    twins = {(symbol.start, symbol.name): symbol for symbol in masked.symbols}
    symbols = tuple(
        _without_cut_secrets(symbol, twins.get((symbol.start, symbol.name))) for symbol in found.symbols
    )
    return replace(found, symbols=symbols, head=masked.head if found.head else ())


def _is_cut(symbol: Symbol) -> bool:
    return symbol.signature.endswith(CUT) or symbol.doc.endswith(CUT)


def _without_cut_secrets(symbol: Symbol, masked: Symbol | None) -> Symbol:
    if not _is_cut(symbol):
        return symbol
    if masked is None:
        return symbol._replace(signature=symbol.name, doc="")
    return symbol._replace(signature=masked.signature, doc=masked.doc)


def facts_of(source: Source, *, lines: bool = True, found: Outline | None = None) -> Facts:
    """Extract the facts from a file. ``found`` is its masked outline; without it, this process makes one."""
    shown = outline(source.path, source.text) if found is None else found
    # Masking changes no names.
    names = shown.names
    if len(names) > _MOST_NAMES:
        names = frozenset(sorted(names)[:_MOST_NAMES])
    text = "\n".join((source.path, source.path, *names, source.text))
    tokens = count_tokens(text)
    # Only of ASCII text, the tokens are all runs of letters and digits.
    hints = hints_in(source.text, " ".join(tokens) if text.isascii() else None)
    if found is None:
        shown = masked_outline(source, shown, hints, outline)
    counted = words_in(tokens)
    if len(counted) > _MOST_WORDS:
        counted = dict(islice(counted.items(), _MOST_WORDS))
    return Facts(
        source.path,
        source.digest,
        harmless(redact(_cut(shown.text), hints).text),
        names,
        counted,
        line_sums(source) if lines else None,
        pack_layout(shown.symbols),
        is_unedited(source.path, source.text),
    )


def _cut(outline: str) -> str:
    if len(outline) <= _LONGEST_OUTLINE:
        return outline
    return outline[: outline.rfind("\n", 0, _LONGEST_OUTLINE) + 1] + MORE
