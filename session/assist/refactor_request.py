"""What a model is sent for a refactor in place: the file, the selected lines, and the sentence."""

from __future__ import annotations

from collections.abc import Sequence

from context.text.fences import fenced, harmless
from context.text.secrets import masked_lines
from session.assist.refactor_selection import Selection
from session.wire.instructions import DATA_HEAD

LONGEST = 60_000
"""Characters of the file that are shown around the selection."""


def around(lines: Sequence[str], selection: Selection, longest: int = LONGEST) -> Selection:
    """The lines to show: the selection, and as many before and after it as there is room for."""
    start, end = selection.start, selection.end
    room = longest - sum(len(line) + 1 for line in lines[start:end])
    while room > 0 and (start > 0 or end < len(lines)):
        if start > 0:
            start -= 1
            room -= len(lines[start]) + 1
        if end < len(lines) and room > 0:
            room -= len(lines[end]) + 1
            end += 1
    return Selection(start, end)


def request(path: str, lines: Sequence[str], selection: Selection, sentence: str) -> tuple[str, str]:
    """The data, and what the developer asks for. Secrets in the data are masked."""
    shown = around(lines, selection)
    part = "" if (shown.start, shown.end) == (0, len(lines)) else f", lines {shown.start + 1}-{shown.end}"
    name, masked = harmless(path), masked_lines(lines)
    data = (
        f"{DATA_HEAD}{name}{part}:\n{_block(path, masked[shown.start : shown.end])}\n"
        f"Selected, lines {selection.start + 1}-{selection.end}:\n"
        f"{_block(path, masked[selection.start : selection.end])}"
    )
    return data, f"Rewrite the selected lines of {name}: {harmless(sentence.strip())}"


def _block(path: str, lines: Sequence[str]) -> str:
    return fenced(path, "\n".join(map(harmless, lines)))
