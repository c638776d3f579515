"""V4A patches, the format of ``apply_patch``: ``*** Begin Patch`` … ``*** End Patch``.

Source: the published instructions and parser of OpenAI's Codex (``apply_patch``). A chunk is complete at the
next ``@@`` or ``*** `` line; ``*** End of File`` completes its chunk by itself. An added or deleted file is
complete at the next header, since its path may be unfinished before that. A move includes the first chunk
of its file; further chunks edit the new path.
"""

from __future__ import annotations

import re
from typing import Literal

from edits.formats.block import CLOSING_FENCE, CUT, Block, Body, Output, looks_edited, readings
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode

HEADER = re.compile(
    r"\*\*\* (?:(?P<mark>Begin Patch|End Patch|End of File)"
    r"|(?P<action>Add|Update|Delete) File:\s*(?P<path>.+)"
    r"|Move to:\s*(?P<move>.+))"
)
"""A V4A marker line, stripped."""
OPENER = re.compile(r"\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File:\s*\S.*)")
"""A stripped line that begins a patch: models sometimes leave out ``*** Begin Patch``."""
_RANGES = re.compile(r"-(\d+)(?:,\d+)? \+\d+(?:,\d+)?(?: @@ ?(.*))?")
_SIGNS = "each line of a chunk begins with a space, “-” or “+”"
_END = "*** End Patch"
_END_OF_FILE = "*** End of File"
_KINDS = {kind.value: kind for kind in LineKind}
_ACTIONS = {"Add": Action.ADD, "Update": Action.UPDATE, "Delete": Action.DELETE}

_State = Literal["header", "add", "delete", "update", "skip"]
_STATES: dict[Action, _State] = {Action.ADD: "add", Action.DELETE: "delete", Action.UPDATE: "update"}


class V4ABlock(Block):
    """Reads a patch. It also ends with the code fence around it (``fenced``) and with ``heredoc``, the word
    that ends a shell's here-document around it."""

    def __init__(self, out: Output, fenced: bool, heredoc: str | None = None) -> None:
        super().__init__()
        self._out = out
        self._fenced = fenced
        self._heredoc = heredoc
        self._state: _State = "header"
        self._path = ""
        self._number: int | None = None
        self._move_to: str | None = None
        self._file_has_chunk = False
        self._after_end_of_file = False
        self._maybe_end: str | None = None
        self._foreign = ""
        # The lines of prose since the patch seemed to have ended.
        self._passed: list[str] = []
        self._start_chunk()

    @property
    def number(self) -> int:
        """The number of the open hunk."""
        return self._number or 0

    def peek(self, head: str) -> Body | None:
        """Use the line's first characters: they may end a chunk, or determine the line's kind."""
        if self._maybe_end is not None:
            return None
        if self._state == "update":
            if head.startswith("@@") or (head.startswith("*** ") and not _END_OF_FILE.startswith(head)):
                self._finish_chunk_before(head)
                return None
            if head[0] in "+-" or (head[0] == " " and not _may_be_end(head)):
                self._open_chunk()
                return Body(_KINDS[head[0]], 1)
        if self._state == "add" and head[0] == "+":
            return Body(LineKind.NEW, 1)
        return None

    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Take a finished line."""
        if self._maybe_end is not None and not self._settle_end(line):
            return None
        in_chunk = self._state == "update" and bool(self._lines)
        if in_chunk:
            self._finish_chunk_before(line)
        header = HEADER.fullmatch(line.rstrip() if in_chunk else line.strip())
        if header is not None:
            self._take_header(header)
            return None
        if self._is_wrapping(line) and (self._state != "update" or line[:1] not in _KINDS):
            self._leave()
            return None
        if self._state == "update":
            return self._take_chunk_line(line, crlf)
        if self._state == "add":
            return self._take_added(line, crlf)
        if self._state == "skip":
            if line.startswith("@@") and self._file_has_chunk:
                self._state = "update"
                self._take_anchor(line)
            elif line[:1] not in ("", *_KINDS):
                self._leave_or_reject(line)
        elif line.strip():
            self._leave_or_reject(line)
        return None

    def end(self, clean: bool) -> None:
        """End the patch; after a clean end a missing ``*** End Patch`` is accepted."""
        if self._maybe_end is not None:
            clean = True
        if clean:
            self._finish_file()
        elif self._state in ("add", "delete") or self._number is not None:
            self._break(RefusalCode.INCOMPLETE, CUT)
        self.done = True

    def resumes(self, line: str) -> bool:
        """Whether the line is one of the patch, which had not ended: lines before it have no sign then."""
        header = HEADER.fullmatch(line.strip())
        chunk = line.startswith("@@") and (self._state == "update" or self._file_has_chunk)
        edit = looks_edited(line, *self._passed[-1:]) and self._state == "update" and bool(self._lines)
        if not (chunk or edit) and (header is None or header["mark"] == "Begin Patch"):
            return False
        passed, self._passed = self._passed, []
        if self._state == "update" and self._lines:
            for text in passed:
                if text == "" or text[0] in _KINDS:
                    self._take_chunk_line(text, None)
                else:
                    self._take_unsigned(text, None)
        elif self._waits:
            self._reject_line(self._foreign)
        self.done = self.unread = self.paused = False
        return True

    def doubt(self, line: str) -> None:
        """Refuse the waiting file if lines that look like its own follow the prose."""
        self._passed.append(line)
        if looks_edited(line) and self._waits:
            self._reject_line(self._foreign)

    def conclude(self, clean: bool) -> None:
        """The patch ended before the prose, without its last marker."""
        if self._waits:
            self.end(clean)

    @property
    def _waits(self) -> bool:
        return self._state in ("add", "delete") or bool(self._lines) or self._move_to is not None

    def _start_chunk(self) -> None:
        self._lines: list[HunkLine] = []
        # The indices of the lines that have no sign.
        self._unsigned: list[int] = []
        self._anchors: list[str] = []
        self._line_hint: int | None = None
        self._all_crlf = True
        self._blank_lines = 0

    def _settle_end(self, line: str) -> bool:
        """Decide by ``line`` whether the indented ``*** End Patch`` before it is text; if not, leave."""
        held, self._maybe_end = self._maybe_end or "", None
        if line[:1] in tuple(" +-") or line.startswith(("@@", "*** ")):
            self._add_line(LineKind.CONTEXT, held[1:], crlf=False)
            self._out.typed(self.number, LineKind.CONTEXT, held[1:] + "\n")
            return True
        self._leave()
        return False

    def _is_wrapping(self, line: str) -> bool:
        """Whether the line ends the fence or here-document around the patch."""
        if self._heredoc is not None and line.strip() == self._heredoc:
            return True
        return self._fenced and CLOSING_FENCE.fullmatch(line) is not None

    def _leave_or_reject(self, line: str) -> None:
        """Take a line that does not belong to the patch: prose after it, if it may have ended here."""
        if self._fenced or self._heredoc or not self._may_have_ended:
            self._reject_line(line)
        else:
            self._foreign = line
            self._passed = []
            self.done = self.unread = self.paused = True

    @property
    def _may_have_ended(self) -> bool:
        """Whether prose may follow. Without a blank line before it, it more likely is a line of the patch
        that lost its first character."""
        match self._state:
            case "add":
                return bool(self._lines) and self._blank_lines > 0
            case "update" if self._lines:
                return self._blank_lines > 0 or self._lines[-1] == HunkLine(LineKind.CONTEXT, "")
            case "update":
                return not self._anchors and (self._file_has_chunk or self._move_to is not None)
            case state:
                return state in ("delete", "skip")

    def _leave(self) -> None:
        """End the patch before the current line."""
        self._finish_file()
        self.done = self.unread = True

    def _take_header(self, header: re.Match[str]) -> None:
        if header["mark"] == "End of File":
            if self._state == "update" and self._lines:
                self._finish_chunk(at_end_of_file=True)
            return
        if header["move"] is not None:
            self._take_move(_clean_path(header["move"]))
            return
        self._finish_file()
        if header["mark"] == "End Patch":
            self.done = True
        elif header["action"] is not None:
            self._path = _clean_path(header["path"])
            action = _ACTIONS[header["action"]]
            self._state = _STATES[action]
            self._number = self._out.open(self._path, action, Format.V4A)

    def _take_move(self, path: str) -> None:
        if self._state == "update" and not self._file_has_chunk and self._move_to is None:
            self._move_to = path
        else:
            self._break(RefusalCode.MALFORMED, "“*** Move to:” must follow its “*** Update File:” line")
            self._state = "skip"

    def _take_chunk_line(self, line: str, crlf: bool | None) -> Body | None:
        if line.startswith("@@"):
            self._finish_chunk()
            self._take_anchor(line)
            return None
        if line == "":
            if self._lines:
                self._add_line(LineKind.CONTEXT, "", crlf)
                return Body(LineKind.CONTEXT, 0)
            if self._anchors or (self._file_has_chunk and not self._after_end_of_file):
                self._blank_lines += 1
            return None
        if line[0] == " " and self._lines and line.strip() == _END:
            self._maybe_end = line
            return None
        if line[0] in _KINDS:
            self._open_chunk()
            self._add_line(_KINDS[line[0]], line[1:], crlf)
            return Body(_KINDS[line[0]], 1)
        prose = line[0] != "\t" and self._may_have_ended
        if prose and not self._fenced and not self._heredoc:
            self._leave_or_reject(line)
            return None
        return self._take_unsigned(line, crlf)

    def _take_unsigned(self, line: str, crlf: bool | None) -> Body:
        """Take a line that has lost its blank, or was never part of the patch."""
        self._open_chunk()
        self._lines += [HunkLine(LineKind.CONTEXT, "")] * self._blank_lines
        self._blank_lines = 0
        self._unsigned.append(len(self._lines))
        self._add_line(LineKind.CONTEXT, line, crlf)
        return Body(LineKind.CONTEXT, 0)

    def _take_anchor(self, line: str) -> None:
        anchor = line[2:].strip()
        ranges = _RANGES.match(anchor)
        if ranges:
            self._line_hint = int(ranges[1])
            anchor = ranges[2] or ""
        anchor = anchor.removesuffix("@@").rstrip()
        if anchor and anchor != "...":
            self._anchors.append(anchor)
        self._after_end_of_file = False

    def _take_added(self, line: str, crlf: bool | None) -> Body | None:
        if line == "":
            self._blank_lines += 1
            return None
        if line[0] != "+":
            self._leave_or_reject(line)
            return None
        # Blank lines count as text only if text follows; before a header they are padding.
        self._lines += [HunkLine(LineKind.NEW, "")] * self._blank_lines
        self._blank_lines = 0
        self._add_line(LineKind.NEW, line[1:], crlf)
        return Body(LineKind.NEW, 1)

    def _add_line(self, kind: LineKind, text: str, crlf: bool | None) -> None:
        self._lines += [HunkLine(LineKind.CONTEXT, "")] * self._blank_lines
        self._blank_lines = 0
        self._lines.append(HunkLine(kind, text))
        self._all_crlf = self._all_crlf and crlf is not False

    def _open_chunk(self) -> None:
        if self._number is None:
            self._number = self._out.open(self._path, Action.UPDATE, Format.V4A)

    def _finish_chunk_before(self, line: str) -> None:
        """Complete the chunk above a line that begins like a marker, except for ``*** End of File``."""
        if line.startswith(("@@", "*** ")) and not line.startswith(_END_OF_FILE):
            self._finish_chunk()

    def _finish_chunk(self, *, at_end_of_file: bool = False) -> None:
        """Complete the chunk; anchors without lines belong to the chunk that follows."""
        if not self._lines:
            return
        self._open_chunk()
        lines = tuple(self._lines)
        shorter = list(lines)
        while shorter and shorter[-1] == HunkLine(LineKind.CONTEXT, ""):
            shorter.pop()
        others = (tuple(shorter),) if shorter and len(shorter) < len(lines) else ()
        self._out.complete(
            self.number,
            Hunk(
                path=self._path,
                action=Action.MOVE if self._move_to else Action.UPDATE,
                format=Format.V4A,
                lines=lines,
                anchors=tuple(self._anchors),
                line_hint=self._line_hint,
                at_end_of_file=at_end_of_file,
                move_to=self._move_to,
                alternatives=(*others, *readings(lines, self._unsigned)),
                flaw=self._unsigned_flaw,
                newline=self._newline,
            ),
        )
        if self._move_to:
            self._path, self._move_to = self._move_to, None
        self._number = None
        self._file_has_chunk = True
        self._after_end_of_file = at_end_of_file
        self._start_chunk()

    def _finish_file(self) -> None:
        """Complete what is open, at a header or at the end."""
        if self._state == "update":
            self._finish_update()
        elif self._state in ("add", "delete"):
            action = Action.ADD if self._state == "add" else Action.DELETE
            hunk = Hunk(self._path, action, Format.V4A, tuple(self._lines), newline=self._newline)
            self._out.complete(self.number, hunk)
        self._number = None
        self._path = ""
        self._move_to = None
        self._file_has_chunk = False
        self._after_end_of_file = False
        self._state = "header"
        self._start_chunk()

    def _finish_update(self) -> None:
        self._finish_chunk()
        if self._move_to is not None:
            self._out.complete(self.number, Hunk(self._path, Action.MOVE, Format.V4A, move_to=self._move_to))
        elif self._anchors:
            self._break(RefusalCode.MALFORMED, "the last “@@” of this file has no lines under it")
        elif not self._file_has_chunk:
            self._break(RefusalCode.MALFORMED, "the edit is empty: it has no “@@” chunk")

    @property
    def _unsigned_flaw(self) -> str:
        if not self._unsigned:
            return ""
        return f"{_SIGNS}, but this one is {self._lines[self._unsigned[0]].text[:60]!r}"

    def _reject_line(self, line: str) -> None:
        wanted = {
            "add": "each line of a new file begins with “+”",
            "update": _SIGNS,
        }.get(self._state, "an edit begins with “*** Add File:”, “*** Update File:” or “*** Delete File:”")
        self._break(RefusalCode.MALFORMED, f"{wanted}, but this one is {line[:60]!r}")
        self._file_has_chunk = self._state == "update"
        self._state = "skip"
        self._start_chunk()

    def _break(self, code: RefusalCode, message: str) -> None:
        self._out.broken(self._number, self._path, code, message)
        self._number = None

    @property
    def _newline(self) -> str:
        return "\r\n" if self._all_crlf and self._lines else "\n"


def _clean_path(text: str) -> str:
    """A header's path without the spaces and quotes that some models put around it."""
    path = text.strip()
    for mark in ("`", '"', "'"):
        if len(path) > 2 and path[0] == path[-1] == mark:
            return path[1:-1]
    return path


def _may_be_end(head: str) -> bool:
    """Whether this indented beginning may become ``*** End Patch``."""
    text = head.lstrip()
    return _END.startswith(text) or text.rstrip() == _END
