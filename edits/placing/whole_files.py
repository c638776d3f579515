"""Places a whole file, as it was typed or with the parts that were left out taken from the file.

A file that ends where the present one has a code fence was cut at a fence in its text, and is refused.

A hunk that writes ``...`` for lines that it does not change (rung 4) is read here too. Each piece between two
elisions must occur once in the file, or once in the scope of the first piece. The lines that are left out
stay as they are, so an elision must be context in the hunk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

from edits.files.diff import edited
from edits.files.folding import fold, tells
from edits.hunk import Format, Hunk, HunkLine, LineKind, RefusalCode, Rung
from edits.newtext.markup import FENCE
from edits.newtext.placeholders import is_placeholder
from edits.newtext.soundness import placeholders_in, unsound
from edits.placing.anchors import in_scope
from edits.placing.blank_lines import matches, old_of
from edits.placing.found import Miss, Place
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


_SAME = 0.5
"""The part of a piece's place in the file that must stay, so that no other text is taken for it."""


def place_whole(lines: Sequence[str], hunk: Hunk) -> Place | Miss:
    """The change of a file with these ``lines`` into the text of ``hunk``."""
    new: Sequence[str] = hunk.new
    if any(map(str.strip, lines)) and not any(map(str.strip, new)):
        message = "the new text is empty, and the file is not: write all of it, or delete the file"
        return Miss(RefusalCode.MALFORMED, message)
    rung = Rung.EXACT
    marks = placeholders_in(hunk.path, lines, new)
    if marks:
        filled = _filled(lines, new, marks)
        if filled is None:
            left = new[marks[0]].strip()[:80]
            return Miss(
                RefusalCode.MALFORMED,
                f"the line {left!r} stands for text that was left out, and it is not certain which: write all"
                " of the file, or only the lines that change",
            )
        new, rung = filled, Rung.ELISION
    reading = edited(lines, new)
    wrong = unsound(hunk.path, lines, reading, Format.WHOLE) or _cut_at_fence(lines, new)
    return Miss(RefusalCode.MALFORMED, wrong) if wrong else Place(0, len(lines), rung, reading)


def _filled(lines: Sequence[str], new: Sequence[str], marks: Sequence[int]) -> list[str] | None:
    """The new text with the file's lines where it has a mark; None if they are not certain."""
    folded = fold(lines)
    whole: list[str] = []
    at = 0
    bounds = [-1, *marks, len(new)]
    for number, (before, after) in enumerate(pairwise(bounds)):
        piece = list(new[before + 1 : after])
        if before >= 0 or after < len(new):
            piece = _without_blank_ends(piece, top=before >= 0, bottom=after < len(new))
        if not piece:
            continue
        start = 0 if before < 0 else _only(folded, piece[0])
        end = len(lines) if after == len(new) else _only(folded, piece[-1])
        if start is None or end is None or start < at:
            return None
        end += after < len(new)
        if end < start or not _like(folded[start:end], fold(piece)):
            return None
        whole += [*lines[at:start], *piece] if number or before >= 0 else piece
        at = end
    return [*whole, *lines[at:]]


def _without_blank_ends(piece: list[str], *, top: bool, bottom: bool) -> list[str]:
    while top and piece and not piece[0].strip():
        piece = piece[1:]
    while bottom and piece and not piece[-1].strip():
        piece = piece[:-1]
    return piece


def _only(folded: Sequence[str], text: str) -> int | None:
    """Where the file has the line, if it tells something and stands there once."""
    wanted = fold([text])[0]
    found = [index for index, line in enumerate(folded) if line == wanted]
    return found[0] if len(found) == 1 and tells(text) else None


def _like(there: Sequence[str], typed: Sequence[str]) -> bool:
    same = sum(
        block.size for block in SequenceMatcher(None, there, typed, autojunk=False).get_matching_blocks()
    )
    return same >= _SAME * len(there)


def _cut_at_fence(lines: Sequence[str], new: Sequence[str]) -> str | None:
    """What is wrong if the new text ends where the file has a fence, and lacks what the file has after it."""
    folded, typed = fold(lines), [line for line in fold(new) if line]
    tail = next((line for line in reversed(folded) if tells(line) and not FENCE.fullmatch(line)), None)
    if not typed or tail is None or tail in typed:
        return None
    above = ""
    for line in folded:
        if FENCE.fullmatch(line) and above == typed[-1]:
            return (
                f"the file ends at the code fence after {above.strip()[:80]!r}: put a longer fence around it"
            )
        above = line or above
    return None
