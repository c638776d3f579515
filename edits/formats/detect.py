"""The parser of a whole answer: prose with edits of any format anywhere in it.

The stream is cut into lines. Outside an edit a line is the answer's own words, and is said as soon
as it can be nothing else: only what may still belong to an edit (a path alone on its line, a fence,
a marker) waits for the next line to decide. Inside an edit each line goes to the format's block. JSON,
which may be a single long line, is read character by character from the bracket that begins a line.
"""

from __future__ import annotations

import re
from collections import deque

from edits.formats.block import CLOSING_FENCE, Block, Body, Output
from edits.formats.events import ParserEvent, Prose, Typed
from edits.formats.json_edits import JsonEdits
from edits.formats.openers import DIFF_FENCE, HEREDOC, WRAPPER, begins_diff, is_wrapper, may_be_edit
from edits.formats.paths import is_fence, nearest_path, path_of
from edits.formats.search_replace import NEAR_OPENER, STRAY, SearchReplaceBlock
from edits.formats.search_replace import OPENER as SEARCH_OPENER
from edits.formats.skipped import SkippedBlock
from edits.formats.unified import UnifiedBlock
from edits.formats.v4a import OPENER as V4A_OPENER
from edits.formats.v4a import V4ABlock
from edits.formats.whole import OPENER as WHOLE_OPENER
from edits.formats.whole import WholeBlock
from edits.hunk import Format, RefusalCode

# How much of a line's beginning is looked at before the line is finished: no marker is longer.
_HEAD = 200
# A path stands at most so many lines above the marker of its block.
_LINES_ABOVE = 4
_DETECTED = frozenset(Format) - {Format.WHOLE}
_BRACKET = re.compile(r"[ \t]*(?=[{\[])")
_BETWEEN_VALUES = re.compile(r"[ \t\r,;]*")


class AutoParser:
    """A parser of the format given, or of all that can be told from prose: every one but whole files."""

    def __init__(self, format: Format | None = None) -> None:
        self._formats = _DETECTED if format is None else frozenset({format})
        self._forced = format is not None
        self._out = Output()
        self._block: Block | None = None
        self._paused: Block | None = None
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
        # The JSON value being read, what of it may yet be prose, and what of its line is left.
        self._json: JsonEdits | None = None
        self._raw: list[str] = []
        self._after_json = False
        self._skip_line = False

    def feed(self, text: str) -> list[ParserEvent]:
        """Take the next piece of the answer."""
        at = 0
        while at < len(text):
            at = self._take(text, at)
        return self._out.drain()

    def close(self, *, clean: bool) -> list[ParserEvent]:
        """End the answer; what is still open lands only after a clean end."""
        if self._json is not None:
            self._end_json(clean)
        if self._pieces and (clean or self._block is None):
            self._finish_line("", ended=False)
        elif self._return_held:
            self._say("\r")
        if self._block is not None:
            self._block.end(clean)
            self._block = None
        self._conclude(clean)
        self._release()
        return self._out.drain()

    def _take(self, text: str, at: int) -> int:
        """Take what ``text`` holds from ``at`` to the end of a line or of a JSON value; how far that is."""
        if self._json is not None:
            return self._take_json(self._json, text, at)
        if self._after_json:
            at = _BETWEEN_VALUES.match(text, at).end()  # type: ignore[union-attr]
            if at == len(text):
                return at
            self._after_json = False
            if text[at] == "\n":
                return at + 1
        end = text.find("\n", at)
        stop = len(text) if end < 0 else end
        if self._skip_line:
            self._skip_line = end < 0
            return stop + (end >= 0)
        if Format.JSON in self._formats and self._block is None and self._blank_so_far:
            bracket = _BRACKET.match(text, at, stop + 1)
            if bracket:
                self._raw = [*self._pieces, bracket[0]]
                self._pieces.clear()
                self._head = ""
                self._json = JsonEdits(self._out, forced=self._forced)
                return bracket.end()
        if end < 0:
            self._grow_line(text[at:])
        else:
            self._finish_line(text[at:end], ended=True)
            stop += 1
        return stop

    @property
    def _blank_so_far(self) -> bool:
        return not self._flowing and not self._head.strip(" \t")

    def _take_json(self, value: JsonEdits, text: str, at: int) -> int:
        certain = value.certain
        end = value.feed(text, at)
        if not certain:
            self._raw.append(text[at:end])
        if value.rejected:
            self._replay()
        elif value.certain and not certain:
            self._open_json()
        if value.done or value.broken:
            self._after_json = value.done and not value.rejected
            self._skip_line = value.broken
            self._json = None
        return end

    def _end_json(self, clean: bool) -> None:
        value, self._json = self._json, None
        if value is not None and value.certain:
            value.end(clean)
        else:
            self._replay()

    def _replay(self) -> None:
        """What looked like JSON with edits is prose after all."""
        raw, self._raw = "".join(self._raw), []
        self._json = None
        *lines, rest = raw.split("\n")
        for line in lines:
            self._finish_line(line, ended=True)
        if rest:
            self._grow_line(rest)

    def _open_json(self) -> None:
        """The value is an edit: the fence above it is its wrapping."""
        self._raw = []
        while self._held and (not self._held[-1].strip() or is_fence(self._held[-1])):
            self._in_fence = is_fence(self._held.pop()) or self._in_fence
        self._make_way()

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
            self._out.typed(block.number, body.kind, line[body.offset :] + "\n")
        if block.done:
            self._block = None
            self._above.clear()
            self._paused = block if block.paused else None
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
        if self._heredoc is not None and self._heredoc.startswith(text):
            return True
        if self._paused is not None and ("@@".startswith(head[:2]) or "*** ".startswith(text[:4])):
            return True
        if self._after_old_name and "+++ ".startswith(head[:4]):
            return True
        if "@@".startswith(head[:2]) and self._headless_diff() is not None:
            return True
        return may_be_edit(head, self._formats)

    def _prose_line(self, text: str, raw: str, *, said: bool) -> None:
        """A finished line outside any edit; ``said`` when it was found to be prose on its way."""
        if said:
            self._above.append(text)
        elif self._paused is not None and self._paused.resumes(text):
            self._release()
            self._block, self._paused = self._paused, None
            self._give(self._block, text, raw.endswith("\r\n"), said=False, ended=raw.endswith("\n"))
            return
        elif not self._opens(text):
            self._other_line(text, raw)
        if self._paused is not None:
            self._paused.doubt(text)

    def _opens(self, text: str) -> bool:
        """Does the line open an edit? Then its block has taken it."""
        stripped = text.strip()
        if Format.V4A in self._formats and V4A_OPENER.fullmatch(stripped):
            self._unwrap()
            self._block = V4ABlock(self._out, self._in_fence, self._heredoc)
            self._block.take(text, False)
        elif Format.UNIFIED in self._formats and self._opens_diff(text):
            pass
        elif Format.WHOLE in self._formats and (opener := WHOLE_OPENER.fullmatch(text)):
            return self._open_whole(opener)
        elif Format.SEARCH_REPLACE not in self._formats:
            return False
        elif search := SEARCH_OPENER.fullmatch(text):
            self._open_search_replace(search)
        elif NEAR_OPENER.fullmatch(text):
            self._refuse_opener(stripped)
        elif STRAY.fullmatch(text):
            self._release()
        else:
            return False
        return True

    def _other_line(self, text: str, raw: str) -> None:
        """A line that opens nothing: wrapping, what may belong to an edit below, or prose."""
        if self._heredoc is not None and text.strip() == self._heredoc:
            self._release()
            self._heredoc = None
            return
        if self._in_fence and CLOSING_FENCE.fullmatch(text):
            self._release()
            self._in_fence = False
            return
        names = self._formats & {Format.SEARCH_REPLACE, Format.WHOLE, Format.UNIFIED}
        if is_fence(text):
            self._in_fence = False
        waits = is_wrapper(text, self._formats) or (bool(names) and path_of(text) is not None)
        if waits or (self._held and not text.strip()):
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

    def _conclude(self, clean: bool) -> None:
        """The paused edit had ended where it paused."""
        paused, self._paused = self._paused, None
        if paused is not None:
            paused.conclude(clean)

    def _make_way(self) -> None:
        """An edit begins: what is still held is none of it."""
        self._release()
        self._above.clear()
        self._conclude(clean=True)

    @property
    def _after_old_name(self) -> bool:
        """Is the line before this one a diff's ``--- name``?"""
        return bool(self._held) and self._held[-1].startswith("--- ")

    def _unwrap(self) -> None:
        """Take the fence and the heredoc right above for the wrapping of what begins."""
        while self._held:
            text = self._held[-1].strip()
            heredoc = HEREDOC.fullmatch(text)
            if heredoc:
                self._heredoc = heredoc["word"]
            elif is_fence(text):
                self._in_fence = True
            elif text and not WRAPPER.fullmatch(text):
                break
            self._held.pop()
        self._make_way()

    def _opens_diff(self, text: str) -> bool:
        """Does a unified diff begin here: with ``diff --git``, a ``---``/``+++`` pair, or under a path?"""
        begun, path = [text], None
        if text.startswith("+++ ") and self._after_old_name:
            begun.insert(0, self._held.pop().rstrip("\r\n"))
            self._unwrap()
        elif begins_diff(text):
            self._unwrap()
        elif text.startswith("@@") and (path := self._headless_diff()) is not None:
            del self._held[-2:]
            self._in_fence = True
            self._make_way()
        else:
            return False
        self._block = UnifiedBlock(self._out, self._in_fence, self._heredoc, path)
        for line in begun:
            self._block.take(line, False)
        return True

    def _headless_diff(self) -> str | None:
        """The path above a fence that says it holds a diff, right above this line."""
        if Format.UNIFIED not in self._formats or len(self._held) < 2:
            return None
        return path_of(self._held[-2]) if DIFF_FENCE.fullmatch(self._held[-1].rstrip("\r\n")) else None

    def _open_whole(self, opener: re.Match[str]) -> bool:
        """Begin a file, if its path is in the fence's line or right above it."""
        path = path_of(opener.string) if opener["info"].strip() else None
        if path is None:
            while self._held and not self._held[-1].strip():
                self._held.pop()
            path = path_of(self._held[-1]) if self._held else None
            if path is None or is_fence(self._held[-1]):
                return False
            self._held.pop()
        self._make_way()
        self._block = WholeBlock(self._out, opener, path)
        return True

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
        self._make_way()
        self._path = path
        self._block = SearchReplaceBlock(self._out, opener, path, self._in_fence)

    def _refuse_opener(self, marker: str) -> None:
        path = nearest_path(tuple(self._above)) or self._path
        self._held.clear()
        self._make_way()
        self._out.broken(
            None,
            path or "",
            RefusalCode.MALFORMED,
            f"“{marker}” does not open a block: write “<<<<<<< SEARCH”, with a space before SEARCH",
        )
        self._block = SkippedBlock()
