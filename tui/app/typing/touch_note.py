"""The prompt that a redirect by touch sends: what the user changed in a hunk, as a small diff."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from tui.app.typing.touch import Change

MOST_LINES = 60
"""Lines of the diff that are sent; the model can see the file itself."""


def note(change: Change) -> str:
    """What is sent: the hunk, its place, and the lines before and after."""
    lines = diff_lines(change.before, change.after)
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines = [*lines[:half], f" ({len(lines) - 2 * half} more lines)", *lines[-half:]]
    fence = fence_around(lines)
    place = f"{change.path}, line {change.line}"
    return "\n".join(
        [f"I changed your hunk {change.hunk} in {place}:", f"{fence}diff", *lines, fence, "Go on from there."]
    )


def diff_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Both texts as lines of a diff, with one line of context at most beside a change."""
    lines: list[str] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(1):
        for tag, start, end, begin, stop in group:
            if tag == "equal":
                lines += [f" {line}" for line in before[start:end]]
            else:
                lines += [f"-{line}" for line in before[start:end]]
                lines += [f"+{line}" for line in after[begin:stop]]
    return lines


def fence_around(lines: Sequence[str]) -> str:
    """A fence of backticks that nothing in ``lines`` ends."""
    runs = (len(run) for line in lines for run in re.findall("`+", line))
    return "`" * max(3, 1 + max(runs, default=0))
