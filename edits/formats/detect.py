"""The parser of a whole answer: prose with edits of any format anywhere in it.

The stream is cut into lines. Outside an edit, a line is passed on as prose as soon as it can be nothing
else. Only what may belong to an edit (a path alone on its line, a fence, a marker) waits for the next
line. Inside an edit, each line goes to the format's block. JSON may be a single long line, so it is read
by characters, from a bracket at the beginning of a line.

A SEARCH/REPLACE block with a malformed opening marker, which is skipped up to its REPLACE marker.
"""

from __future__ import annotations

import re
from dataclasses import replace

from edits.formats.block import CLOSING_FENCE, Block, Body, Output
from edits.formats.events import ParserEvent, Prose, Sampled, Typed
from edits.formats.json_edits import JsonEdits
from edits.formats.json_scan import past
from edits.formats.openers import DIFF_FENCE, Named, commented_path, is_fence, may_be_edit
from edits.formats.samples import Samples
from edits.formats.search_replace import AS_BLOCK, CONFLICT, NEAR_OPENER, OPENER, STRAY, SearchReplaceBlock
from edits.formats.search_replace import OPENER as SEARCH_OPENER
from edits.formats.unified import UnifiedBlock, begins_diff
from edits.formats.v4a import OPENER as V4A_OPENER
from edits.formats.v4a import V4ABlock
from edits.formats.whole import OPENER as WHOLE_OPENER
from edits.formats.whole import WholeBlock
from edits.formats.wrapping import Wrapping, draft_in
from edits.hunk import Format, RefusalCode


class SkippedBlock(Block):
    """Skips the block, which was refused at its beginning."""

    @property
    def number(self) -> int:
        """No hunk is open."""
        return 0

    def peek(self, head: str) -> Body | None:
        """Nothing of it is shown."""
        del head
        return None

    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Look for the end of the block, or the beginning of the next one."""
        del crlf
        if STRAY.fullmatch(line):
            self.done = True
        elif CLOSING_FENCE.fullmatch(line) or OPENER.fullmatch(line):
            self.done = self.unread = True
        return None

    def end(self, clean: bool) -> None:
        """Nothing is open."""
        del clean


# The number of characters that are looked at before a line is finished; no marker is longer.
_HEAD = 200
_MOST_LOOKED_AT = 2_000
_DETECTED = frozenset(Format) - {Format.WHOLE}
_QUOTED_OPENER = re.compile(r"\s*(?:[>|*#-]\s+)+<{5,9} ?SEARCH>?\s*")
_NEARLY_JSON = re.compile(r"['\"](?:old|new)_?(?:string|str|text|content|code)['\"]\s*:", re.IGNORECASE)
_SIGNS = ("@", "-", "+", " ")
"""What a line of a diff begins with."""
_BRACKET = re.compile(r"[ \t]*(?=[{\[])")
_BETWEEN_VALUES = re.compile(r"[ \t\r,;]*")


class AutoParser:
    """Parses the given format, or all that differ from prose: every format except whole files.

    With ``whole`` those are read too, as of a model that was asked for them. With ``lenient`` a block without
    a file name is complete with an empty path, and fences that may hold a whole file are told of: the caller
    knows the files.
    """

    def __init__(self, format: Format | None = None, *, whole: bool = False, lenient: bool = False) -> None:
        self._formats = _DETECTED if format is None else frozenset({format})
        if whole:
            self._formats |= {Format.WHOLE}
        self._forced = format is not None
        self._lenient = lenient
        self._samples = Samples() if lenient else None
        # The fence of a whole file, unless the next line begins an edit of another format.
        self._fence: re.Match[str] | None = None
        self._out = Output()
        self._block: Block | None = None
        self._paused: Block | None = None
        # The unfinished line: its pieces, its beginning, and its kind once that is known.
        self._pieces: list[str] = []
        self._head = ""
        self._flowing: Body | bool = False
        self._return_held = False
        self._wrapping = Wrapping(self._out, self._formats)
        # The JSON value being read, its text as long as it may be prose, and how to treat its line's rest.
        self._json: JsonEdits | None = None
        self._raw: list[str] = []
        self._after_json = False
        self._skip_line = False
        self._begun = False
        # What ends the draft being read, and the line of an edit in it.
        self._draft: re.Pattern[str] | None = None
        self._drafted = ""

    def feed(self, text: str) -> list[ParserEvent]:
        """Take the next piece of the answer."""
        at = 0
        if text and not self._begun:
            self._begun = True
            at = text.startswith("\ufeff")
        while at < len(text):
            at = self._take(text, at)
        return self._out.drain()

    def close(self, *, clean: bool, unsure: bool = False) -> list[ParserEvent]:
        """End the answer; a hunk that is still open lands only after a clean end.

        With ``unsure`` nothing but the end of the text says that it is whole. An edit whose last line has no
        newline is incomplete then, unless that line ends it.
        """
        in_line = unsure and bool(self._pieces)
        if self._json is not None:
            self._end_json(clean)
        if self._pieces and (clean or self._block is None):
            self._finish_line("", ended=False)
        elif self._return_held:
            self._say("\r")
        if self._block is not None:
            self._block.end(clean and not in_line)
            self._block = None
        self._conclude(clean)
        if self._draft is not None and self._drafted:
            message = f"{self._drafted!r} is in a draft, which has no end: write the edit outside of it"
            self._out.broken(None, "", RefusalCode.INCOMPLETE, message)
        self._wrapping.release()
        if clean:
            self._out.end()
        return self._out.drain()

    def _take(self, text: str, at: int) -> int:
        """Take ``text`` from ``at`` to the end of a line or of a JSON value; the index after that."""
        if self._json is not None:
            return self._take_json(self._json, text, at)
        if self._after_json:
            at = past(_BETWEEN_VALUES, text, at)
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
        values = Format.JSON in self._formats and self._draft is None
        if values and self._block is None and self._blank_so_far:
            bracket = _BRACKET.match(text, at, stop + 1)
            if bracket:
                self._raw = [*self._pieces, bracket[0]]
                self._pieces.clear()
                self._head = ""
                self._json = JsonEdits(self._out, self._open_json, forced=self._forced)
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
        end = value.feed(text, at)
        if not value.certain:
            self._raw.append(text[at:end])
        if value.rejected:
            self._replay()
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
        """Read text again as prose that looked like JSON with edits."""
        raw, self._raw = "".join(self._raw), []
        if _NEARLY_JSON.search(raw, 0, _MOST_LOOKED_AT):
            self._out.doubt(
                "the text that looks like JSON of an edit is none: write valid JSON, on its own lines"
            )
        self._json = None
        *lines, rest = raw.split("\n")
        for line in lines:
            self._finish_line(line, ended=True)
        if rest:
            self._grow_line(rest)

    def _open_json(self) -> None:
        """The value is an edit, so the fence above it belongs to it."""
        self._raw = []
        self._wrapping.unwrap()
        self._conclude(clean=True)

    def _grow_line(self, piece: str) -> None:
        self._pieces.append(piece)
        if self._flowing:
            self._say(piece)
            return
        looked = len(self._head)
        if looked >= _HEAD:
            return
        self._head += piece[: _HEAD - looked]
        if self._draft is not None:
            return
        if self._block is not None:
            body = self._block.peek(self._head)
            if body is not None:
                self._flowing = body
                self._say("".join(self._pieces)[body.offset :])
        elif self._fence is None and not self._may_be_edit(self._head):
            self._wrapping.release()
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
        if self._block is None and not flowing and self._take_draft(line + "\n" if ended else line):
            return
        if self._block is not None:
            self._give(self._block, text, crlf, said=bool(flowing), ended=ended)
        else:
            self._prose_line(text, line + "\n" if ended else line, said=bool(flowing))

    def _take_draft(self, raw: str) -> bool:
        """Take a line of a draft, from its beginning to its end, as prose; what follows is read again."""
        begun = 0
        if self._draft is None:
            opened = None if self._wrapping.in_fence else draft_in(raw)
            if opened is None:
                return False
            self._draft, begun = opened
            self._drafted = ""
        ended = self._draft.search(raw, begun)
        if ended is None and not self._drafted and _is_opener(raw.strip()):
            self._drafted = raw.strip()
        self._wrapping.release()
        end = len(raw) if ended is None else ended.end()
        self._out.events.append(Prose(raw[:end]))
        if ended is None:
            return True
        self._draft = None
        while end < len(raw):
            end = self._take(raw, end)
        return True

    def _give(self, block: Block, line: str, crlf: bool, *, said: bool, ended: bool) -> None:
        body = block.take(line, crlf if ended else None)
        if body is not None and not said:
            self._out.typed(block.number, body.kind, line[body.offset :] + "\n")
        if block.done:
            self._block = None
            if (end := STRAY.fullmatch(line)) and end["fence"]:
                self._wrapping.in_fence = False
            self._wrapping.begin()
            self._paused = block if block.paused else None
            if block.unread:
                self._wrapping.note(block.tail())
                self._prose_line(line, line + "\n" if ended else line, said=False)

    def _say(self, piece: str) -> None:
        """Pass on a piece of an unfinished line; a final ``\\r`` waits, since it may be half an ending."""
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
        """Whether the prose line that begins with ``head`` may be part of an edit."""
        text = head.lstrip()
        if draft_in(head) is not None:
            return True
        if self._wrapping.heredoc is not None and self._wrapping.heredoc.startswith(text):
            return True
        if self._paused is not None and (head[:1] in "+-" or "@@".startswith(head[:2])):
            return True
        if self._paused is not None and "*** ".startswith(text[:4]):
            return True
        if "+++ ".startswith(head[:4]) and self._wrapping.old_name is not None:
            return True
        if head[:1] in _SIGNS and self._wrapping.is_below_diff_fence:
            return True
        return may_be_edit(head, self._formats)

    def _prose_line(self, text: str, raw: str, *, said: bool) -> None:
        """Take a finished line outside any edit; ``said`` if it was passed on as prose already."""
        opened = self._block
        if _QUOTED_OPENER.fullmatch(text[:_HEAD]):
            self._out.doubt(f"{text.strip()[:60]!r} begins no block: put the marker alone on its line")
        self._take_prose_line(text, raw, said=said)
        if self._samples is None:
            return
        if self._block is not opened:
            self._samples.drop()
        elif (sample := self._samples.take(text)) is not None:
            self._out.events.append(Sampled(sample))

    def _take_prose_line(self, text: str, raw: str, *, said: bool) -> None:
        if said:
            self._wrapping.note([text])
        elif self._paused is not None and self._paused.resumes(text):
            self._wrapping.release()
            self._block, self._paused = self._paused, None
            self._give(self._block, text, raw.endswith("\r\n"), said=False, ended=raw.endswith("\n"))
            return
        elif not self._opens(text):
            self._wrapping.take(text, raw)
        if self._paused is not None:
            self._paused.doubt(text)

    def _opens(self, text: str) -> bool:
        """Open an edit if the line begins one; its block has taken the line then."""
        stripped = text.strip()
        if self._fence is not None and self._opens_whole_below(text):
            return True
        if self._paused is not None and self._paused.claims(text):
            return False
        if Format.V4A in self._formats and V4A_OPENER.fullmatch(stripped):
            self._wrapping.unwrap()
            self._conclude(clean=True)
            self._block = V4ABlock(self._out, self._wrapping.in_fence, self._wrapping.heredoc)
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
        elif conflict := CONFLICT.fullmatch(text):
            return self._opens_conflict(conflict)
        elif STRAY.fullmatch(text):
            self._wrapping.release()
        else:
            return False
        return True

    def _conclude(self, clean: bool) -> None:
        """End the paused edit where it paused."""
        paused, self._paused = self._paused, None
        if paused is not None:
            paused.conclude(clean)

    def _opens_diff(self, text: str) -> bool:
        """Open a unified diff if one begins: with ``diff --git``, a ``---``/``+++`` pair, or under a path."""
        wrapping = self._wrapping
        begun, named = [text], None
        if text.startswith("+++ ") and (old := wrapping.old_name) is not None:
            begun.insert(0, old)
            wrapping.take_old_name()
        elif begins_diff(text):
            wrapping.unwrap()
        elif text[:1] in _SIGNS and wrapping.is_below_diff_fence:
            named = wrapping.diff_named
            if named is None:
                self._out.doubt(
                    "no line names the file of the diff: write --- a/PATH and +++ b/PATH above it"
                )
                return False
            wrapping.take_diff_fence()
            begun = begun if text.startswith("@@") else ["@@", text]
        else:
            return False
        self._conclude(clean=True)
        block = self._block = UnifiedBlock(self._out, wrapping.in_fence, wrapping.heredoc, named)
        for line in begun:
            self._begin_with(block, line)
        return True

    def _open_whole(self, opener: re.Match[str]) -> bool:
        """Open a whole file if its path is known. Beside other formats the line below it is seen first."""
        if not self._forced:
            self._fence = None if self._wrapping.in_fence or DIFF_FENCE.fullmatch(opener.string) else opener
            return False
        return self._begin_whole(opener, self._wrapping.whole_named(opener)) is not None

    def _opens_whole_below(self, text: str) -> bool:
        """Open the whole file whose fence is above ``text``, its first line, if it is one."""
        fence, self._fence = self._fence, None
        if fence is None or is_fence(text) or _begins_edit(text):
            return False
        block = self._begin_whole(fence, self._wrapping.fence_named(fence, commented_path(text)))
        if block is None:
            return False
        self._begin_with(block, text)
        return True

    def _begin_with(self, block: Block, line: str) -> None:
        """Give a block its first line, and show it where it is text."""
        body = block.take(line, False)
        if body is not None:
            self._out.typed(block.number, body.kind, line[body.offset :] + "\n")

    def _begin_whole(self, opener: re.Match[str], named: Named | None) -> WholeBlock | None:
        """Begin the whole file in the fence ``opener``, if it is ``named``."""
        if named is None:
            return None
        self._conclude(clean=True)
        block = self._block = WholeBlock(self._out, opener, named)
        return block

    def _open_search_replace(self, opener: re.Match[str]) -> None:
        named = self._wrapping.named
        path = self._wrapping.block_path()
        if named.certain:
            path = self._wrapping.name = named.names[0]
        self._conclude(clean=True)
        self._block = SearchReplaceBlock(
            self._out, opener, replace(named, path=path), self._wrapping.in_fence, lenient=self._lenient
        )

    def _opens_conflict(self, opener: re.Match[str]) -> bool:
        """Open a block with the markers of a merge conflict, if a line above names a file."""
        if not (self._wrapping.nearest_path() or self._wrapping.named.names):
            self._out.doubt(f"no file name above “{opener.string.strip()}”: {AS_BLOCK}")
            return False
        self._open_search_replace(opener)
        return True

    def _refuse_opener(self, marker: str) -> None:
        path = self._wrapping.nearest_path()
        self._wrapping.drop()
        self._conclude(clean=True)
        self._out.broken(
            None,
            path or "",
            RefusalCode.MALFORMED,
            f"“{marker}” does not open a block: write “<<<<<<< SEARCH”, with a space before SEARCH",
        )
        self._block = SkippedBlock()


def _begins_edit(line: str) -> bool:
    """Whether a line is the first of an edit in another format than whole files."""
    stripped = line.strip()
    return _is_opener(stripped) or begins_diff(line) or line.startswith(("--- ", "@@ ", "*** Update File:"))


def _is_opener(line: str) -> bool:
    return any(opener.fullmatch(line) for opener in (SEARCH_OPENER, V4A_OPENER, CONFLICT))
