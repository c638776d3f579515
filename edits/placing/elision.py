"""Rung 4: a hunk that writes ``...`` for lines that it does not change.

Each piece between two elisions must occur once in the file, or once in the scope of the first piece.
The lines that are left out stay as they are, so an elision must be context in the hunk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from edits.files.folding import fold, tells
from edits.hunk import HunkLine, LineKind, Rung
from edits.newtext.placeholders import is_placeholder
from edits.placing.anchors import in_scope
from edits.placing.blank_lines import matches, old_of
from edits.placing.indent import Shift, shift_of

# Three dots alone, or in a comment that may say what is left out.
_MARK = re.compile(r"(\.\.\.|(#|//|--|/\*|<!--|\{/\*|;|%)\s*\.\.\.\s*(\w.*)?)\s*(\*/\}?|-->)?")

Found = tuple[int, int, tuple[HunkLine, ...], Shift]
"""The first line from 0, one past the last, the reading with the file's lines in its elisions, and the
indentation that its new lines lack."""


def is_elision(text: str) -> bool:
    """Whether a line stands for others that are left out."""
    return _MARK.fullmatch(fold([text])[0].strip()) is not None or is_placeholder(text)


def place_elided(lines: Sequence[str], folded: Sequence[str], reading: Sequence[HunkLine]) -> Found | None:
    """The place of a reading with elisions; None if it has no elisions or no unique place."""
    marks = [line for line in reading if is_elision(line.text)]
    if not marks or any(line.kind is not LineKind.CONTEXT for line in marks):
        return None
    pieces = _framed(_pieces(reading))
    if not pieces or not any(tells(text) for text in old_of(pieces[0])):
        return None
    for rung in (Rung.FOLDED, Rung.INDENT):
        starts = _starts(folded, pieces, rung)
        if starts is not None:
            return _assembled(lines, folded, pieces, starts)
    return None


def _pieces(reading: Sequence[HunkLine]) -> list[list[HunkLine]]:
    pieces: list[list[HunkLine]] = [[]]
    for line in reading:
        if is_elision(line.text):
            pieces.append([])
        else:
            pieces[-1].append(line)
    return [piece for piece in pieces if piece]


def _framed(pieces: list[list[HunkLine]]) -> list[list[HunkLine]]:
    """The pieces without those at the ends that change nothing and have no words, such as a brace."""

    def idle(piece: Sequence[HunkLine]) -> bool:
        return all(line.kind is LineKind.CONTEXT and not tells(line.text) for line in piece)

    while pieces and idle(pieces[-1]):
        pieces = pieces[:-1]
    while pieces and idle(pieces[0]):
        pieces = pieces[1:]
    return pieces


def _starts(folded: Sequence[str], pieces: Sequence[Sequence[HunkLine]], rung: Rung) -> list[int] | None:
    starts: list[int] = []
    end = 0
    for piece in pieces:
        old = old_of(piece)
        if not old:
            # Nothing determines the place of new lines between two elisions.
            return None
        found = matches(folded, old, rung)
        if len(found) > 1 and starts:
            found = [start for start in found if start >= end and in_scope(folded, starts[0], start)]
        if len(found) != 1 or found[0] < end:
            return None
        starts.append(found[0])
        end = found[0] + len(old)
    return starts


def _assembled(
    lines: Sequence[str], folded: Sequence[str], pieces: Sequence[Sequence[HunkLine]], starts: Sequence[int]
) -> Found | None:
    whole: list[HunkLine] = []
    shift: Shift | None = None
    at = starts[0]
    for piece, start in zip(pieces, starts, strict=True):
        old = fold(old_of(piece))
        this = shift_of(folded[start : start + len(old)], old) if any(old) else shift
        if this is None or (shift is not None and this != shift):
            return None
        shift = this
        whole += [HunkLine(LineKind.CONTEXT, text) for text in lines[at:start]]
        whole += piece
        at = start + len(old)
    return None if shift is None else (starts[0], at, tuple(whole), shift)
