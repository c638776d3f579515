"""Which lines of an answer may begin an edit, or belong to one that follows.

Prose is passed on as it is typed; only a line that may be part of an edit waits. To keep that short, each
kind of line here is recognized by its first characters.
"""

from __future__ import annotations

import re

from edits.formats.path_lines import is_fence, may_be_path
from edits.formats.unified import GIT
from edits.hunk import Format

HEREDOC = re.compile(
    r"(?:\$\s*)?(?:(?:apply_patch|cat|(?:git apply|patch)(?:\s+-\S+)*)\s+)?"
    r"<<-?\s*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)"
)
"""A stripped line that opens a shell's here-document around a patch."""
WRAPPER = re.compile(r"%%bash|(?:\$\s*)?apply_patch")
"""A stripped line that models put above a patch."""
DIFF_FENCE = re.compile(r"\s*(?:`{3,}|~{3,})\s*(?:diff|udiff|patch)\s*")
"""A fence that contains a diff."""
_LONGEST_WRAPPER = 60
_MAY_WRAP = (
    "cat <<",
    "cat  <<",
    "apply_patch",
    "$ apply_patch",
    "$ cat <<",
    "%%bash",
    "<<",
    "git apply",
    "patch -",
    "patch <",
)
_V4A_STARTS = ("*** Begin Patch", "*** Add File:", "*** Update File:", "*** Delete File:")
_DIFF_STARTS = ("diff --git ", "--- ")
_MARKER_BEGINS = re.compile(r"<+(?: ?[A-Z]*>?|-*\s*[A-Z]*>?)\s*|-{2,}\s*[A-Z]*>?\s*|[>+]{2,} ?[A-Z]*\s*")
_TAG_BEGINS = re.compile(r"</?[a-z]{0,10}>?\S{0,30}")


def may_be_edit(head: str, formats: frozenset[Format]) -> bool:
    """Whether the prose line that begins with ``head`` may be part of an edit in one of ``formats``."""
    text = head.lstrip()
    if not text:
        return True
    if text.startswith(("```", "~~~")) or "```".startswith(text) or "~~~".startswith(text):
        return "`" not in text.lstrip("`")
    patches = formats & {Format.V4A, Format.UNIFIED}
    if patches and _agree(text, _MAY_WRAP):
        return len(text) < _LONGEST_WRAPPER
    if Format.V4A in formats and _agree(text, _V4A_STARTS):
        return True
    if Format.UNIFIED in formats and _agree(head, _DIFF_STARTS):
        return True
    if _TAG_BEGINS.fullmatch(text) is not None:
        return True
    if Format.SEARCH_REPLACE in formats and _MARKER_BEGINS.fullmatch(text) is not None:
        return True
    return bool(formats & {Format.SEARCH_REPLACE, Format.WHOLE, Format.UNIFIED}) and may_be_path(head)


def is_wrapper(line: str, formats: frozenset[Format]) -> bool:
    """Whether the line may be wrapping of a patch below it."""
    if is_fence(line):
        return True
    if Format.UNIFIED in formats and line.startswith("--- ") and line[4:].strip():
        return True
    text = line.strip()
    patches = formats & {Format.V4A, Format.UNIFIED}
    return bool(patches) and (HEREDOC.fullmatch(text) or WRAPPER.fullmatch(text)) is not None


def begins_diff(line: str) -> bool:
    """Whether the line begins a diff by itself."""
    return GIT.fullmatch(line) is not None


def _agree(text: str, starts: tuple[str, ...]) -> bool:
    """Whether one of ``starts`` is the beginning of ``text``, or ``text`` the beginning of one."""
    return any(start.startswith(text) or text.startswith(start) for start in starts)
