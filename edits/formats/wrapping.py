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
    Named,
    is_fence,
    is_wrapper,
    named_by,
    named_in,
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
        # Whether the lines are those of a fence that is prose.
        self._inside = False
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
            self._inside = not (self._inside and CLOSING_FENCE.fullmatch(text))
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
        self._inside = False
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
    def is_below_diff_fence(self) -> bool:
        """Whether the line right above opens a fence for a diff."""
        below = Format.UNIFIED in self._formats and bool(self._held)
        return below and DIFF_FENCE.fullmatch(self._held[-1].rstrip("\r\n")) is not None

    @property
    def diff_named(self) -> Named | None:
        """What the line above the fence right above this line names."""
        named = named_in(self._above[-2]) if len(self._above) > 1 else Named()
        return named if named.path or named.names else None

    def take_diff_fence(self) -> None:
        """A diff without a header begins below its path and fence."""
        del self._held[-2:]
        self.in_fence = True
        self.begin()

    def whole_named(self, opener: re.Match[str], commented: str | None = None) -> Named | None:
        """What names the whole file that a fence opens: the fence's line, the line above it, or the first
        line in it (``commented``)."""
        named = named_in(opener.string) if opener["info"].strip() else Named()
        if not named.path and not named.names:
            line = next((line for line in reversed(self._above) if line.strip()), "")
            named = Named() if is_fence(line) else named_in(line)
            if not named.path and (self._inside or not named.names):
                named = Named()
            elif not named.may_be_new:
                what = f"“{named.names[-1]}” above a fence may be words or the name of a file"
                self._out.doubt(f"{what}: put the path alone on its line, in backticks")
                named = Named()
            while named.path and self._held and self._held[-1].strip() in ("", line.strip()):
                self._held.pop()
        if not named.path and commented:
            named = Named(commented)
        if named.path or named.names:
            self.begin()
            return named
        return None

    def fence_named(self, fence: re.Match[str], commented: str | None) -> Named | None:
        """The same for a ``fence`` that is the last line held, whose first line comes."""
        if not self._held or self._held[-1].rstrip("\r\n") != fence.string:
            return None
        kept, above = self._held.pop(), self._above.pop()
        self._inside = not self._inside
        named = self.whole_named(fence, commented)
        if named is None:
            self._held.append(kept)
            self._above.append(above)
            self._inside = not self._inside
        return named

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
    def named(self) -> Named:
        """The file that the lines above name."""
        return named_by(tuple(self._above))

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
