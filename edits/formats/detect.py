"""The parser of a whole answer: prose with edits of any format anywhere in it.

The stream is cut into lines. Outside an edit a line is the answer's own words, and is said as soon
as it can be nothing else: only what may still belong to an edit (a path alone on its line, a fence,
a marker) waits for the next line to decide. Inside an edit each line goes to the format's block.
"""

from __future__ import annotations

import re
from collections import deque

from edits.formats.block import CLOSING_FENCE, Block, Body, Output
from edits.formats.events import ParserEvent, Prose, Typed
from edits.formats.paths import is_fence, may_be_path, nearest_path, path_of
from edits.formats.search_replace import NEAR_OPENER, STRAY, SearchReplaceBlock
from edits.formats.search_replace import OPENER as SEARCH_OPENER
from edits.formats.v4a import OPENER as V4A_OPENER
from edits.formats.v4a import V4ABlock
from edits.hunk import Format, RefusalCode

# How much of a line's beginning is looked at before the line is finished: no marker is longer.
_HEAD = 200
# A path stands at most so many lines above the marker of its block.
_LINES_ABOVE = 4
_HEREDOC = re.compile(r"(?:\$\s*)?(?:(?:apply_patch|cat)\s+)?<<-?\s*(?P<quote>['\"]?)(?P<word>\w+)(?P=quote)")
_WRAPPER = re.compile(r"%%bash|(?:\$\s*)?apply_patch")
_MAY_WRAP = ("cat <<", "cat  <<", "apply_patch", "$ apply_patch", "$ cat <<", "%%bash", "<<")
_V4A_STARTS = ("*** Begin Patch", "*** Add File:", "*** Update File:", "*** Delete File:")
_MARKER_BEGINS = re.compile(r"<+(?: ?[A-Z]*>?|-*\s*[A-Z]*>?)\s*|-{2,} ?[A-Z]*>?\s*|[>+]{2,} ?[A-Z]*\s*")
_TAG_BEGINS = re.compile(r"</?[a-z]{0,10}>?\S{0,30}")


class UnsupportedFormat(ValueError):
    """The format asked for has no parser."""


class AutoParser:
    """A parser of any supported format, or of the one given. Raises UnsupportedFormat at once."""

    def __init__(self, format: Format | None = None) -> None:
        if format not in (None, Format.V4A, Format.SEARCH_REPLACE):
            raise UnsupportedFormat(f"the format {format} is not supported; use v4a or search-replace")
        self._v4a = format in (None, Format.V4A)
        self._search_replace = format in (None, Format.SEARCH_REPLACE)
        self._out = Output()
        self._block: Block | None = None
        # The unfinished line: its pieces, its beginning, and what it was found to be.
        self._pieces: list[str] = []
        self._head = ""
        self._flowing: Body | bool = False
        self._return_held = False
        # Finished lines that may belong to an edit, and the last lines whatever they were.
        self._held: list[str] = []
        self._above: deque[str] = deque(maxlen=_LINES_ABOVE)
        self._path: str | None = None
        self._in_fence = False
        self._heredoc: str | None = None

    def feed(self, text: str) -> list[ParserEvent]:
        """Take the next piece of the answer."""
        start = 0
        while True:
            end = text.find("\n", start)
            if end < 0:
                break
            self._finish_line(text[start:end], ended=True)
            start = end + 1
        if start < len(text):
            self._grow_line(text[start:])
        return self._out.drain()

    def close(self, *, clean: bool) -> list[ParserEvent]:
        """End the answer; what is still open lands only after a clean end."""
        if self._pieces and (clean or self._block is None):
            self._finish_line("", ended=False)
        elif self._return_held:
            self._say("\r")
        if self._block is not None:
            self._block.end(clean)
            self._block = None
        self._release()
        return self._out.drain()

    def _grow_line(self, piece: str) -> None:
        self._pieces.append(piece)
        if self._flowing:
            self._say(piece)
            return
        looked = len(self._head)
        if looked >= _HEAD:
            return
        self._head += piece[: _HEAD - looked]
        if self._block is not None:
            body = self._block.peek(self._head)
            if body is not None:
                self._flowing = body
                self._say("".join(self._pieces)[body.offset :])
        elif not self._may_be_edit(self._head):
            self._release()
            self._flowing = True
            self._say("".join(self._pieces))

    def _finish_line(self, piece: str, *, ended: bool) -> None:
        line = "".join(self._pieces) + piece if self._pieces else piece
        crlf = line.endswith("\r")
        text = line[:-1] if crlf and ended else line
        flowing, self._flowing = self._flowing, False
        self._pieces.clear()
        self._head = ""
        if flowing:
            self._end_flow(flowing, piece, ended)
        else:
            self._return_held = False
        if self._block is not None:
            self._give(self._block, text, crlf, said=bool(flowing), ended=ended)
        else:
            self._prose_line(text, line + "\n" if ended else line, said=bool(flowing))

    def _give(self, block: Block, line: str, crlf: bool, *, said: bool, ended: bool) -> None:
        body = block.take(line, crlf if ended else None)
        if body is not None and not said:
            number = block.number
            self._out.events.append(Typed(number, body.kind, line[body.offset :] + "\n"))
        if block.done:
            self._block = None
            self._above.clear()
            if block.unread:
                self._above.extend(block.tail())
                self._prose_line(line, line + "\n" if ended else line, said=False)

    def _say(self, piece: str) -> None:
        """Say a piece of the line that flows; a final ``\\r`` waits, for it may be half an ending."""
        if self._return_held:
            piece = "\r" + piece
        self._return_held = piece.endswith("\r")
        if self._return_held:
            piece = piece[:-1]
        if not piece:
            return
        if isinstance(self._flowing, Body) and self._block is not None:
            self._out.events.append(Typed(self._block.number, self._flowing.kind, piece))
        else:
            self._out.events.append(Prose(piece))

    def _end_flow(self, flowing: Body | bool, piece: str, ended: bool) -> None:
        self._flowing = flowing
        self._say(piece)
        if isinstance(flowing, Body):
            self._return_held = False
            self._say("\n")
        else:
            self._say("\n" if ended else "")
        if self._return_held:
            self._return_held = False
            self._out.events.append(Prose("\r"))
        self._flowing = False

    def _may_be_edit(self, head: str) -> bool:
        """May the prose line that begins with ``head`` be part of an edit?"""
        text = head.lstrip()
        if not text:
            return True
        if self._heredoc is not None and self._heredoc.startswith(text):
            return True
        if text.startswith(("```", "~~~")) or "```".startswith(text) or "~~~".startswith(text):
            return "`" not in text.lstrip("`")
        if self._v4a:
            if any(start.startswith(text) or text.startswith(start) for start in _V4A_STARTS):
                return True
            if any(start.startswith(text) or text.startswith(start) for start in _MAY_WRAP):
                return len(text) < 60
        if not self._search_replace:
            return _TAG_BEGINS.fullmatch(text) is not None
        return (
            _MARKER_BEGINS.fullmatch(text) is not None
            or _TAG_BEGINS.fullmatch(text) is not None
            or may_be_path(head)
        )

    def _prose_line(self, text: str, raw: str, *, said: bool) -> None:
        """A finished line outside any edit; ``said`` when it was found to be prose on its way."""
        if said:
            self._above.append(text)
            return
        stripped = text.strip()
        if self._v4a and V4A_OPENER.fullmatch(stripped):
            self._open_v4a(text)
        elif self._search_replace and (opener := SEARCH_OPENER.fullmatch(text)):
            self._open_search_replace(opener)
        elif self._search_replace and NEAR_OPENER.fullmatch(text):
            self._refuse_opener(stripped)
        elif self._search_replace and STRAY.fullmatch(text):
            self._release()
        elif self._heredoc is not None and stripped == self._heredoc:
            self._release()
            self._heredoc = None
        elif self._in_fence and CLOSING_FENCE.fullmatch(text):
            self._release()
            self._in_fence = False
        else:
            self._hold_or_release(text, raw)

    def _hold_or_release(self, text: str, raw: str) -> None:
        wrapper = self._v4a and (_HEREDOC.fullmatch(text.strip()) or _WRAPPER.fullmatch(text.strip()))
        named = self._search_replace and path_of(text) is not None
        if is_fence(text):
            self._in_fence = False
        held = bool(self._held) and not text.strip()
        if wrapper or named or is_fence(text) or held:
            self._held.append(raw)
            if len(self._held) > _LINES_ABOVE:
                self._out.events.append(Prose(self._held.pop(0)))
        else:
            self._release()
            self._out.events.append(Prose(raw))
        self._above.append(text)

    def _release(self) -> None:
        """The held lines were prose after all."""
        if self._held:
            self._out.events.append(Prose("".join(self._held)))
            self._held.clear()

    def _open_v4a(self, line: str) -> None:
        """Begin a patch: the fence and the heredoc above it are its wrapping."""
        kept = len(self._held)
        while kept:
            text = self._held[kept - 1].strip()
            heredoc = _HEREDOC.fullmatch(text)
            if heredoc:
                self._heredoc = heredoc["word"]
            elif is_fence(text):
                self._in_fence = True
            elif text and not _WRAPPER.fullmatch(text):
                break
            kept -= 1
        del self._held[kept:]
        self._release()
        self._above.clear()
        self._block = V4ABlock(self._out, self._in_fence)
        self._block.take(line, False)

    def _open_search_replace(self, opener: re.Match[str]) -> None:
        """Begin a block: the path line above it, and the fences about the path, are its wrapping."""
        path = nearest_path(tuple(self._above)) or self._path
        kept = len(self._held)
        named = next((i for i in reversed(range(kept)) if path_of(self._held[i]) == path), None)
        above = named - 1 if named else -1
        if kept and (is_fence(self._held[-1]) or (above >= 0 and is_fence(self._held[above]))):
            self._in_fence = True
        if named is not None:
            kept = named
            if kept and is_fence(self._held[kept - 1]):
                kept -= 1
        else:
            while kept and (is_fence(self._held[kept - 1]) or not self._held[kept - 1].strip()):
                kept -= 1
        del self._held[kept:]
        self._release()
        self._above.clear()
        self._path = path
        self._block = SearchReplaceBlock(self._out, opener, path, self._in_fence)

    def _refuse_opener(self, marker: str) -> None:
        path = nearest_path(tuple(self._above)) or self._path
        self._held.clear()
        self._above.clear()
        self._out.broken(
            None,
            path or "",
            RefusalCode.MALFORMED,
            f"“{marker}” does not open a block: write “<<<<<<< SEARCH”, with a space before SEARCH",
        )
        self._block = _Skipped()


class _Skipped:
    """The text of a block whose opening marker was malformed: swallowed up to its REPLACE marker."""

    number = 0

    def __init__(self) -> None:
        self.done = False
        self.unread = False

    def peek(self, head: str) -> Body | None:
        """Nothing of it is shown."""
        del head
        return None

    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Wait for the end of the block, or for the next one."""
        del crlf
        if STRAY.fullmatch(line):
            self.done = True
        elif CLOSING_FENCE.fullmatch(line) or SEARCH_OPENER.fullmatch(line):
            self.done = self.unread = True
        return None

    def end(self, clean: bool) -> None:
        """Nothing is open: the block was refused at its beginning."""
        del clean

    def tail(self) -> list[str]:
        """No path is looked for in it."""
        return []
