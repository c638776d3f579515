"""What V4A patches and diffs have in common: lines that begin with a blank, ``-`` or ``+``.

Models forget the blank before lines of context, and write prose right below the last line. Which of it is
text of the file only the file can tell, so each is another reading of the hunk.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from edits.formats.block import SENTENCE
from edits.hunk import HunkLine, LineKind

_Lines = tuple[HunkLine, ...]


def readings(lines: Sequence[HunkLine], unsigned: Collection[int]) -> list[_Lines]:
    """The other ways to read ``lines``, of which those at the indices ``unsigned`` have no sign."""
    found: list[_Lines] = []
    if unsigned:
        typed = [_with_blank(line, index in unsigned) for index, line in enumerate(lines)]
        found.append(tuple(typed))
        while typed and typed[-1] == _BLANK:
            typed.pop()
        found.append(tuple(typed))
    shorter = _without_prose(lines, unsigned)
    if shorter is not None:
        found.append(shorter)
    return [reading for reading in dict.fromkeys(found) if reading != tuple(lines)]


def _with_blank(line: HunkLine, unsigned: bool) -> HunkLine:
    """A line of context as it was typed, if its blank was none that stands for context."""
    if line.kind is not LineKind.CONTEXT or unsigned or not line.text:
        return line
    return HunkLine(line.kind, f" {line.text}")


def _without_prose(lines: Sequence[HunkLine], unsigned: Collection[int]) -> _Lines | None:
    """The lines without the sentences or bullets at their end; None if there are none."""
    end = len(lines)
    while end and (_is_prose(lines[end - 1], end - 1 in unsigned) or lines[end - 1] == _BLANK):
        end -= 1
    kept = tuple(lines[:end])
    prose = any(line != _BLANK for line in lines[end:])
    finds = any(line.kind is not LineKind.NEW and any(map(str.isalnum, line.text)) for line in kept)
    return kept if prose and finds else None


def _is_prose(line: HunkLine, unsigned: bool) -> bool:
    bullet = line.kind is LineKind.OLD and line.text.startswith(" ")
    return (bullet or unsigned) and SENTENCE.fullmatch(line.text) is not None


_BLANK = HunkLine(LineKind.CONTEXT, "")
