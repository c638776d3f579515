"""Whether new text may stand in a file as it was typed: no markup, no placeholders, no entities.

A hunk's place can be certain and its text wrong all the same. What is found here is never landed: another
reading of the hunk may do, or else it is refused with the line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edits.files.folding import tells
from edits.hunk import Format, HunkLine, LineKind
from edits.newtext.markup import (
    FENCE,
    are_numbered,
    are_signed,
    escaped_line,
    loses_fence,
    marker_in,
    separates,
)
from edits.newtext.placeholders import are_code, in_prose, is_comment, is_dots, is_placeholder, says_kept

_MANY_GONE = 2
"""Removed lines with words from which dots in their place stand for them, even where dots are code."""
_HEADING = 2
"""Characters by which an underline may be longer or shorter than its heading."""


def unsound(path: str, lines: Sequence[str], reading: Sequence[HunkLine], format: Format) -> str | None:
    """What is wrong with the new lines of ``reading``, in a file of these ``lines``; None if nothing is."""
    new = [line.text for line in reading if line.kind is LineKind.NEW]
    if not new:
        return None
    gone = [line.text for line in reading if line.kind is LineKind.OLD]
    marker = marker_in(new, gone, lines, path)
    if marker is not None:
        return _told(new[marker[0]], f"is {marker[1]}, and not text of the file: leave it out")
    old = [line.text for line in reading if line.kind is not LineKind.NEW]
    left = [line.text for line in reading if line.kind is not LineKind.OLD]
    if loses_fence(old, left, lines):
        return "the old text has both of its code fences, and the new one only one: write both"
    signed = format in (Format.V4A, Format.UNIFIED)
    if are_signed(new, lines, bullets=signed or path.lower().endswith((".md", ".markdown"))):
        return _told(new[0], "begins with the “+” of a diff: write the lines as they are to be in the file")
    if are_numbered(new, lines):
        return _told(new[0], "begins with its number: write the lines as they are to be in the file")
    prose = in_prose(path)
    if format is Format.SEARCH_REPLACE or not prose:
        stray = stray_separator(left, lines, prose=prose)
        if stray is not None:
            return _told(stray, "is a second separator: write one “=======” in a block")
    placeholder = _placeholder(path, lines, reading)
    if placeholder is not None:
        return _told(placeholder, "stands for text that was left out: write all of the new text")
    escaped = escaped_line(new, lines, path)
    if escaped is not None:
        return _told(new[escaped], "has entities such as “&lt;”, and the file has none: write the characters")
    return None


def unsound_file(path: str, new: Sequence[str], format: Format) -> str | None:
    """What is wrong with the text of a new file; None if nothing is.

    It may well be about markers, so they count only where they begin or end the text.
    """
    filled = [text for text in new if text.strip()]
    ends = [HunkLine(LineKind.NEW, text) for text in dict.fromkeys((*filled[:1], *filled[-1:]))]
    fences = sum(FENCE.fullmatch(text) is not None for text in new)
    if len(filled) > 1 and not (fences % 2 == 0 and any(FENCE.fullmatch(line.text) for line in ends)):
        wrong = unsound(path, (), ends, Format.V4A)
        if wrong is not None:
            return wrong
    if are_signed(new, (), bullets=True) or (len(filled) > 1 and are_numbered(new, ())):
        return _told(filled[0], "is not text of the file: write the lines as they are to be in it")
    left = next((text for text in new if is_placeholder(text) and not in_prose(path)), None)
    if left is not None:
        return _told(left, "stands for text that was left out: write all of the new file")
    escaped = escaped_line(new, (), path)
    if escaped is not None:
        return _told(new[escaped], "has entities such as “&lt;”: write the characters")
    stray = stray_separator(new, (), prose=True) if format is Format.SEARCH_REPLACE else None
    return None if stray is None else _told(stray, "is a second separator: write one “=======” in a block")


def stray_separator(new: Sequence[str], lines: Sequence[str], *, prose: bool) -> str | None:
    """A ``=======`` line of a new text that underlines no heading, and that the file does not have. The last
    line may be one only in a file of ``prose``."""
    for index, text in enumerate(new):
        heading = underlines(new, index) and (prose or index + 1 < len(new))
        if separates(text) and not heading and text not in lines:
            return text
    return None


def underlines(new: Sequence[str], index: int) -> bool:
    """Whether the line at ``index`` is about as long as the line above it, as under a heading."""
    above = new[index - 1] if index else ""
    beside = len(above) - len(above.lstrip()) == len(new[index]) - len(new[index].lstrip())
    close = abs(len(above.strip()) - len(new[index].strip())) <= _HEADING
    return beside and close and tells(above) and (index + 1 == len(new) or not separates(new[index + 1]))


def placeholders_in(path: str, lines: Sequence[str], new: Sequence[str]) -> list[int]:
    """The indices of the lines of a whole new text that stand for text of the file."""
    known = {line.strip() for line in lines}
    return [
        index for index, text in enumerate(new) if text.strip() not in known and _leaves_out(path, new, index)
    ]


def _leaves_out(path: str, new: Sequence[str], index: int) -> bool:
    if is_placeholder(new[index]):
        return True
    beside = [*new[max(index - 1, 0) : index], *new[index + 1 : index + 2]]
    if says_kept(new[index]) and not any(map(is_comment, beside)):
        return True
    return is_dots(new[index]) and not are_code(new[index], _above(new, index), path)


def _placeholder(path: str, lines: Sequence[str], reading: Sequence[HunkLine]) -> str | None:
    known: set[str] | None = None
    for run in _runs(reading):
        new = [line.text for line in run if line.kind is not LineKind.OLD]
        gone = sum(tells(line.text) for line in run if line.kind is LineKind.OLD)
        for index, line in enumerate(new):
            dots = is_dots(line)
            if not dots and not is_placeholder(line):
                continue
            sample = line[:1].isspace() or any(FENCE.fullmatch(each.text) for each in reading)
            if in_prose(path) and (dots or (sample and not gone)):
                continue
            if dots and gone < _MANY_GONE and are_code(line, _above(new, index), path):
                continue
            known = {text.strip() for text in lines} if known is None else known
            if line.strip() not in known:
                return line
    return None


def _runs(reading: Sequence[HunkLine]) -> Iterator[list[HunkLine]]:
    """Each run of changed lines, with the context line above it."""
    run: list[HunkLine] = []
    for line in reading:
        if line.kind is LineKind.CONTEXT:
            if any(each.kind is not LineKind.CONTEXT for each in run):
                yield run
            run = [line]
        else:
            run.append(line)
    if any(each.kind is not LineKind.CONTEXT for each in run):
        yield run


def _above(new: Sequence[str], index: int) -> str:
    return next((text for text in reversed(new[:index]) if text.strip()), "")


def _told(text: str, why: str) -> str:
    return f"the new line {text.strip()[:80]!r} {why}"
