"""What stands around edits in an answer: path lines, code fences, a here-document, a model's thinking.

Lines that may belong to an edit below them are held back. If the edit begins, they are its wrapping; if
something else follows, they are prose. Edits in the parts in which a model thinks are drafts, and never land;
their tags are those that open models print when their server does not take the reasoning out of the text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from edits.formats.block import CLOSING_FENCE, Output
from edits.formats.events import Prose
from edits.formats.openers import (
    DIFF_FENCE,
    HEREDOC,
    WRAPPER,
    is_fence,
    is_wrapper,
    name_with_blanks,
    nearest_path,
    path_of,
)
from edits.hunk import Format

# The path of a block is at most this many lines above its marker.
_LINES_ABOVE = 4
_UNDER_A_PATH = frozenset({Format.SEARCH_REPLACE, Format.WHOLE, Format.UNIFIED})


class Wrapping:
    """The lines above the next one, and the fence or here-document around it."""

    def __init__(self, out: Output, formats: frozenset[Format]) -> None:
        self.in_fence = False
        self.heredoc: str | None = None
        """The word that ends the here-document; None outside of one."""
        self._out = out
        self._formats = formats
        # Finished lines that may belong to an edit, and the last lines of any kind.
        self._held: list[str] = []
        self._above: deque[str] = deque(maxlen=_LINES_ABOVE)
        self.name: str | None = None
        """The path of the SEARCH/REPLACE block before."""

    def note(self, lines: Iterable[str]) -> None:
        """Remember lines that are dealt with already; a path may be among them."""
        self._above.extend(lines)

    def take(self, text: str, raw: str) -> None:
        """Take a line that opens no edit: wrapping, a line that may belong to an edit below it, or prose."""
        if self.heredoc is not None and text.strip() == self.heredoc:
            self.release()
            self.heredoc = None
            return
        if self.in_fence and CLOSING_FENCE.fullmatch(text):
            self.release()
            self.in_fence = False
            return
        if is_fence(text):
            self.in_fence = False
        named = bool(self._formats & _UNDER_A_PATH) and path_of(text) is not None
        if named or is_wrapper(text, self._formats) or (self._held and not text.strip()):
            self._held.append(raw)
            if len(self._held) > _LINES_ABOVE:
                self._out.events.append(Prose(self._held.pop(0)))
        else:
            self.release()
            self._out.events.append(Prose(raw))
        self._above.append(text)

    def release(self) -> None:
        """Pass on the held lines as prose."""
        if self._held:
            self._out.events.append(Prose("".join(self._held)))
            self._held.clear()

    def begin(self) -> None:
        """An edit begins, and the lines that are still held do not belong to it."""
        self.release()
        self._above.clear()

    def unwrap(self) -> None:
        """A patch begins, and the fence and here-document right above it are its wrapping."""
        while self._held:
            text = self._held[-1].strip()
            heredoc = HEREDOC.fullmatch(text)
            if heredoc:
                self.heredoc = heredoc["word"]
            elif is_fence(text):
                self.in_fence = True
            elif text and not WRAPPER.fullmatch(text):
                break
            self._held.pop()
        self.begin()

    @property
    def old_name(self) -> str | None:
        """The line before this one, if it is a diff's ``--- name``."""
        held = self._held[-1] if self._held else ""
        return held.rstrip("\r\n") if held.startswith("--- ") else None

    def take_old_name(self) -> None:
        """A diff begins, and the ``--- name`` line belongs to it."""
        self._held.pop()
        self.unwrap()

    @property
    def diff_path(self) -> str | None:
        """The path above a ``diff`` fence right above this line."""
        if Format.UNIFIED not in self._formats or len(self._held) < 2:
            return None
        return path_of(self._held[-2]) if DIFF_FENCE.fullmatch(self._held[-1].rstrip("\r\n")) else None

    def take_diff_path(self) -> None:
        """A diff without a header begins below its path and fence."""
        del self._held[-2:]
        self.in_fence = True
        self.begin()

    def whole_path(self, opener: re.Match[str]) -> str | None:
        """The path of the whole file that a fence opens: in the fence's line, or right above it."""
        path = path_of(opener.string) if opener["info"].strip() else None
        if path is None:
            named = next((line for line in reversed(self._held) if line.strip()), "")
            path = path_of(named) if not is_fence(named) else None
            if path is None:
                return None
            while not self._held.pop().strip():
                pass
        self.begin()
        return path

    def fenced_path(self, fence: re.Match[str], commented: str | None) -> str | None:
        """The path of the whole file whose first line comes, below its ``fence``, the last line held: above
        the fence, in its line, or in the first line itself (``commented``). None if there is none."""
        if not self._held or self._held[-1].rstrip("\r\n") != fence.string:
            return None
        kept = self._held.pop()
        path = self.whole_path(fence) or commented
        if path is None:
            self._held.append(kept)
        else:
            self.begin()
        return path

    def block_path(self) -> str | None:
        """The path of the SEARCH/REPLACE block that begins; it and the fences around it are wrapping."""
        path = self.nearest_path()
        kept = len(self._held)
        named = next((i for i in reversed(range(kept)) if path_of(self._held[i]) == path), None)
        above = named - 1 if named else -1
        if kept and (is_fence(self._held[-1]) or (above >= 0 and is_fence(self._held[above]))):
            self.in_fence = True
        if named is not None:
            kept = named
            if kept and is_fence(self._held[kept - 1]):
                kept -= 1
        else:
            while kept and (is_fence(self._held[kept - 1]) or not self._held[kept - 1].strip()):
                kept -= 1
        del self._held[kept:]
        self.begin()
        self.name = path
        return path

    @property
    def name_with_blanks(self) -> tuple[str, bool] | None:
        """What the line above may name, if that is a name with blanks, and whether it does."""
        return name_with_blanks(tuple(self._above))

    def nearest_path(self) -> str | None:
        """The path in the lines above, or else that of the block before."""
        return nearest_path(tuple(self._above)) or self.name

    def drop(self) -> None:
        """The held lines belong to a block that is refused."""
        self._held.clear()
        self.begin()


_TAGS = (
    r"(?:(?:[^\W_]{1,20}[_-]){0,3}(?:think|thinking|thoughts?|reasoning|reflection|scratch_?pad|monologue)"
    r"(?:[_-](?:process|block|section|content|steps?|trace|log))?"
    r"|analysis|draft|antthinking|deliberation|brainstorm|planning|plan)"
)
_OPENER = re.compile(
    rf"\s*(?:<(?P<tag>(?:\w{{1,20}}:)?{_TAGS})(?:\s[^<>]*)?>|(?P<square>\[THINK\])"
    r"|(?P<bar><\|begin_of_thought\|>|<\|startofthink\|>)|(?P<arrow>◁think▷)"
    r"|(?P<channel>(?:<\|start\|>assistant)?<\|channel\|>analysis<\|message\|>))",
    re.IGNORECASE,
)
_CLOSERS = {
    "square": re.compile(r"\[/THINK\]", re.IGNORECASE),
    "bar": re.compile(r"<\|(?:end_of_thought|endofthink)\|>", re.IGNORECASE),
    "arrow": re.compile(r"◁/think▷", re.IGNORECASE),
    "channel": re.compile(r"<\|end\|>", re.IGNORECASE),
}


def draft_in(line: str) -> tuple[re.Pattern[str], int] | None:
    """What ends the draft that begins with ``line``, and the index after its tag; None if none begins."""
    opener = _OPENER.match(line)
    if opener is None:
        return None
    tag = opener["tag"]
    closer = next((_CLOSERS[kind] for kind in _CLOSERS if opener[kind]), None)
    return closer or re.compile(rf"</{re.escape(tag)}\s*>", re.IGNORECASE), opener.end()
