"""Unified diffs: plain, git's, and those that models write without line numbers (``@@ ... @@``).

Source: see ``edits.formats.diff_header``; the form without numbers is a convention of aider's. Models count
badly, so a hunk goes on as long as its lines do; the counts only decide where the lines are ambiguous. A
hunk is complete at the next ``@@``, ``diff --git`` or ``---``/``+++`` pair, or at the end of the diff.
"""

from __future__ import annotations

import re
from typing import Literal

from edits.formats.block import CLOSING_FENCE, CUT, Block, Body, Output, looks_edited, readings
from edits.formats.diff_header import LONGEST, DiffHeader, names_agree
from edits.formats.openers import Named
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode, Replacement

GIT = re.compile(r'diff --git (?:"?[abciow]/.+ "?[abciow]/.+|(?P<name>.+) (?P=name)|\S+ \S+)')
"""The line that begins a file in git's diffs: with prefixes, or with the same name twice."""
RANGES = re.compile(r"@@+ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?(?: @@.*)?")
_KINDS = {kind.value: kind for kind in LineKind}
_BINARY_DATA = re.compile(r"(?:literal|delta) \d+|\S{3,}")
_OLD_HEADER = "--- "
_SIGNS = "each line of a diff begins with a space, “-” or “+”"
_SIGNATURE = "--"
_State = Literal["header", "body", "skip"]
_Lines = tuple[HunkLine, ...]


def begins_diff(line: str) -> bool:
    """Whether the line begins a diff by itself."""
    return len(line) <= LONGEST and GIT.fullmatch(line) is not None


def _heading(line: str) -> str:
    """What an ``@@`` line without numbers says, without the dots and signs around it."""
    text = line.lstrip("@").strip().removeprefix("...").lstrip()
    text = text.lstrip("@").lstrip() if text.startswith("@@") else text
    return text.rstrip("@").rstrip() if text.endswith("@@") else text


class UnifiedBlock(Block):
    """Reads a diff of one or more files.

    ``named`` is what names the file of a diff without a header; ``heredoc`` the word that ends the shell's
    here-document around the diff.
    """

    def __init__(
        self, out: Output, fenced: bool, heredoc: str | None = None, named: Named | None = None
    ) -> None:
        super().__init__()
        self._out = out
        self._fenced = fenced
        self._heredoc = heredoc
        # The lines of prose since the diff seemed to have ended.
        self._passed: list[str] = []
        # A “---” line, and the “+++” line after it, that may be a header or text.
        self._pair: list[tuple[str, bool | None]] = []
        self._begin_file()
        if named is not None:
            self._named = named
            self._header.old = self._header.new = named.path or named.names[-1]

    @property
    def number(self) -> int:
        """The number of the open hunk."""
        return self._number or 0

    def peek(self, head: str) -> Body | None:
        """Use the line's first characters: they may end a hunk, or determine the line's kind."""
        if len(self._pair) == 2 and head.startswith("@@"):
            self._use_pair()
        if self._pair or self._state == "skip":
            return None
        if self._state == "body":
            if head.startswith(("@@", "diff --git ")):
                self._finish_hunk()
                return None
        elif not self._begins_body(head):
            return None
        if head[0] in _KINDS and not _OLD_HEADER.startswith(head[:4]) and not self._signs(head):
            self._open(_KINDS[head[0]])
            return Body(_KINDS[head[0]], 1)
        return None

    def take(self, line: str, crlf: bool | None) -> Body | None:
        """Take a finished line."""
        if self._pair and self._settle_pair(line, crlf):
            return None
        if self._state == "header" and not self._begins_body(line):
            self._take_header_line(line)
            return None
        if line.startswith(_OLD_HEADER):
            self._pair = [(line, crlf)]
            return None
        return self._take_line(line, crlf)

    def end(self, clean: bool) -> None:
        """End the diff: it has no end marker."""
        self._flush_pair()
        if clean:
            self._finish_file()
        elif self._state == "body" or (self._state == "header" and self._header != DiffHeader()):
            self._break(RefusalCode.INCOMPLETE, CUT)
        self.done = True

    def resumes(self, line: str) -> bool:
        """Whether the line is one of the diff, which had not ended: lines before it have no sign then."""
        edit = looks_edited(line, *self._passed[-1:]) and self._state == "body" and bool(self._lines)
        if not (line.startswith("@@") or edit):
            return False
        passed, self._passed = self._passed, []
        for text in passed if self._state == "body" and self._lines else ():
            if text[:1] in ("", *_KINDS):
                self._take_line(text, None)
            else:
                self._take_unsigned(text, None)
        self.done = self.unread = self.paused = False
        return True

    def doubt(self, line: str) -> None:
        """Remember a line of prose after the diff, which may turn out to be one of it."""
        self._passed.append(line)

    def conclude(self, clean: bool) -> None:
        """The diff ended before the prose."""
        if self._waits:
            self.end(clean)

    def _begin_file(self) -> None:
        self._header = DiffHeader()
        self._named = Named()
        self._state: _State = "header"
        self._number: int | None = None
        self._has_hunk = False
        self._moved = False
        self._begin_hunk()

    def _begin_hunk(self) -> None:
        self._lines: list[HunkLine] = []
        # The indices of the lines that have no sign.
        self._unsigned: list[int] = []
        self._hint: int | None = None
        self._counts: tuple[int, int] | None = None
        self._from_nothing = False
        self._have = (0, 0)
        self._blanks = 0
        self._anchor = ""
        self._unended: set[LineKind] = set()
        self._all_crlf = True

    @property
    def _waits(self) -> bool:
        return self._state == "body" and (bool(self._lines) or self._header.action is Action.DELETE)

    def _begins_body(self, line: str) -> bool:
        """Whether a hunk begins, which needs no ``@@`` after the header's last line."""
        if self._state != "header":
            return True
        if line.startswith("@@"):
            return True
        return bool(self._header.new) and line[:1] in _KINDS and not line.startswith(_OLD_HEADER)

    def _take_header_line(self, line: str) -> None:
        if begins_diff(line) or (self._header.new and line.startswith(_OLD_HEADER)):
            self._finish_file()
        known = self._header.take(line)
        if known or not line.strip() or line.startswith(("index ", "similarity ", "dissimilarity ", "====")):
            return
        if self._header.binary and _BINARY_DATA.fullmatch(line):
            return
        self._finish_file()
        self.done = self.unread = True

    def _take_line(self, line: str, crlf: bool | None) -> Body | None:
        if line.startswith("@@"):
            self._finish_hunk()
            self._take_ranges(line)
            return None
        if begins_diff(line) or line.startswith("Index: "):
            self._finish_file()
            self._header.take(line)
            return None
        if self._state == "skip":
            if line[:1] not in ("", "\\", *_KINDS):
                self._leave_or_reject(line)
            return None
        self._state = "body"
        if line == "":
            if self._lines:
                self._add(LineKind.CONTEXT, "", crlf)
                return Body(LineKind.CONTEXT, 0)
            return None
        if line[0] == "\\":
            self._take_no_newline()
            return None
        if line[0] not in _KINDS or self._signs(line):
            if self._may_lack_sign(line):
                return self._take_unsigned(line, crlf)
            self._leave_or_reject(line)
            return None
        self._open(_KINDS[line[0]])
        self._add(_KINDS[line[0]], line[1:], crlf)
        return Body(_KINDS[line[0]], 1)

    def _take_unsigned(self, line: str, crlf: bool | None) -> Body:
        """Take a line that has lost its blank, or was never part of the diff."""
        self._open(LineKind.CONTEXT)
        self._unsigned.append(len(self._lines))
        self._add(LineKind.CONTEXT, line, crlf)
        return Body(LineKind.CONTEXT, 0)

    def _may_lack_sign(self, line: str) -> bool:
        """Whether the line may be one of context without its blank: nothing says that the diff has ended."""
        if self._satisfied or line[0] in _KINDS or self._state != "body":
            return False
        if self._fenced and CLOSING_FENCE.fullmatch(line):
            return False
        if self._heredoc is not None and line.strip() == self._heredoc:
            return False
        begun = bool(self._lines) or self._counts is not None or bool(self._anchor)
        inside = self._fenced or self._heredoc is not None or line[0] == "\t"
        return begun and (inside or self._lines[-1:] != [_BLANK])

    def _settle_pair(self, line: str, crlf: bool | None) -> bool:
        """Decide whether the held ``---`` line is a header; True if ``line`` was taken for that."""
        if len(self._pair) == 1 and line.startswith("+++ "):
            self._pair.append((line, crlf))
            old = self._pair[0][0]
            if names_agree(old, line) or self._satisfied:
                self._use_pair()
            return True
        if len(self._pair) == 2 and line.startswith("@@"):
            self._use_pair()
        else:
            self._flush_pair()
        return False

    def _use_pair(self) -> None:
        """Begin the next file with the pair."""
        pair, self._pair = self._pair, []
        self._finish_file()
        for line, _ in pair:
            self._header.take(line)

    def _flush_pair(self) -> None:
        """Take the pair, or its first line, as text of the hunk."""
        pair, self._pair = self._pair, []
        for line, crlf in pair:
            body = self._take_line(line, crlf)
            if body is not None:
                self._out.typed(self.number, body.kind, line[body.offset :] + "\n")

    def _take_ranges(self, line: str) -> None:
        self._state = "body"
        ranges = RANGES.fullmatch(line.rstrip())
        if ranges:
            # The hunks before this one have landed, so the new numbers are those of the current file.
            self._hint = int(ranges[3]) or None
            self._counts = (int(ranges[2] or 1), int(ranges[4] or 1))
            self._from_nothing = ranges[1] == ranges[2] == "0"
        else:
            self._anchor = _heading(line)
            if re.fullmatch(r"[-+,\d\s.]*", self._anchor):
                self._anchor = ""

    def _take_no_newline(self) -> None:
        if self._lines:
            kind = self._lines[-1].kind
            both = {LineKind.OLD, LineKind.NEW}
            self._unended |= both if kind is LineKind.CONTEXT else {kind}

    @property
    def _satisfied(self) -> bool:
        """Whether the hunk has as many lines as its ``@@`` line says."""
        if self._counts is None:
            return False
        over = self._have[0] - self._counts[0]
        return over == self._have[1] - self._counts[1] and 0 <= over <= self._blanks

    def _signs(self, line: str) -> bool:
        """Whether the line begins the signature under a patch of git; a line of the hunk may look like it."""
        return line.rstrip() == _SIGNATURE and self._satisfied

    def _add(self, kind: LineKind, text: str, crlf: bool | None) -> None:
        line = HunkLine(kind, text)
        self._lines.append(line)
        old, new = self._have
        self._have = old + (kind is not LineKind.NEW), new + (kind is not LineKind.OLD)
        self._blanks = self._blanks + 1 if line == _BLANK else 0
        self._all_crlf = self._all_crlf and crlf is not False

    def _open(self, kind: LineKind = LineKind.NEW) -> None:
        self._from_nothing = self._from_nothing and kind is LineKind.NEW
        if self._number is None:
            self._number = self._out.open(self._current, self._action, Format.UNIFIED)

    @property
    def _current(self) -> str:
        """The file's current name: the new one after a hunk has moved it."""
        return self._header.rename_to if self._moved else self._header.path

    @property
    def _action(self) -> Action:
        """What the hunk does to its file. One that begins at no line of no lines makes the file, whatever the
        header says."""
        if self._has_hunk:
            return Action.UPDATE
        action = self._header.action
        return Action.ADD if action is Action.UPDATE and self._from_nothing else action

    def _finish_hunk(self) -> None:
        if self._state != "body" or self._header.action is Action.DELETE:
            return
        if not self._lines:
            return
        self._open()
        problem = self._header.problem
        if problem is not None:
            self._break(*problem)
        else:
            self._out.complete(self.number, self._named.told(self._hunk()))
            self._moved = self._moved or self._header.action is Action.MOVE
        self._number = None
        self._has_hunk = True
        self._begin_hunk()

    def _hunk(self) -> Hunk:
        lines, others = self._readings()
        action = self._action
        only_new = all(line.kind is LineKind.NEW or not line.text for line in lines)
        newline = "\r\n" if self._all_crlf else "\n"
        if action is Action.ADD and only_new and not self._has_hunk:
            added = [line.text for line in _trimmed(lines)]
            end = "" if LineKind.NEW in self._unended else newline
            text = newline.join(added) + (end if added else "")
            return Hunk(
                self._current, Action.ADD, Format.UNIFIED,
                tuple(HunkLine(LineKind.NEW, text) for text in added),
                replacement=Replacement("", text), newline=newline,
            )  # fmt: skip
        moves = action is Action.MOVE and not self._moved
        return Hunk(
            path=self._current,
            action=Action.MOVE if moves else Action.UPDATE,
            format=Format.UNIFIED,
            lines=lines,
            anchors=(self._anchor,) if self._anchor else (),
            line_hint=self._hint,
            at_end_of_file=bool(self._unended),
            move_to=self._header.rename_to if moves else None,
            final_newline=self._final_newline,
            alternatives=(*others, *readings(lines, self._unsigned)),
            flaw=self._unsigned_flaw,
            newline=newline,
        )

    @property
    def _unsigned_flaw(self) -> str:
        if not self._unsigned:
            return ""
        return f"{_SIGNS}, but this one is {self._lines[self._unsigned[0]].text[:60]!r}"

    @property
    def _final_newline(self) -> bool | None:
        old, new = LineKind.OLD in self._unended, LineKind.NEW in self._unended
        return None if old == new else old

    def _readings(self) -> tuple[_Lines, tuple[_Lines, ...]]:
        """The lines, and another reading without blank lines at the end, which comes first if the counts
        do not include them."""
        lines = tuple(self._lines)
        shorter = _trimmed(lines)
        if len(shorter) == len(lines) or not shorter:
            return lines, ()
        if self._counts == (self._have[0] - self._blanks, self._have[1] - self._blanks):
            return shorter, (lines,)
        return lines, (shorter,)

    def _finish_file(self) -> None:
        """Complete the file, at the next one or at the end."""
        self._finish_hunk()
        header = self._header
        empty = header == DiffHeader()
        problem = header.problem
        if self._state != "skip" and not empty and not self._has_hunk:
            if problem is not None:
                self._break(*problem)
            elif header.action is Action.DELETE and any(line.kind is LineKind.NEW for line in self._lines):
                self._break(RefusalCode.MALFORMED, "the diff both deletes the file and adds lines to it")
            elif header.action is Action.DELETE:
                self._open()
                lines = tuple(self._lines)
                self._out.complete(self.number, Hunk(self._current, Action.DELETE, Format.UNIFIED, lines))
            elif header.action is Action.MOVE:
                self._open()
                moved = Hunk(self._current, Action.MOVE, Format.UNIFIED, move_to=header.rename_to)
                self._out.complete(self.number, moved)
            elif header.new_file:
                self._open()
                self._out.complete(self.number, Hunk(self._current, Action.ADD, Format.UNIFIED))
            elif not header.mode:
                self._break(RefusalCode.MALFORMED, "the diff of this file has no lines")
        self._number = None
        if header.only_mode and problem is None:
            self._break(RefusalCode.MALFORMED, header.only_mode)
        self._begin_file()

    def _leave_or_reject(self, line: str) -> None:
        """Take a line that does not belong to the diff: the end of the diff, if it may have ended here."""
        closed = self._fenced and CLOSING_FENCE.fullmatch(line) is not None
        if closed or self._satisfied or (self._heredoc is not None and line.strip() == self._heredoc):
            self._finish_file()
            self.done = self.unread = True
        elif self._state == "skip" or not (self._lines or self._has_hunk):
            if self._fenced or self._heredoc:
                self._reject(line)
            else:
                self._finish_file()
                self.done = self.unread = True
        elif self._fenced or self._heredoc or self._lines[-1:] != [_BLANK]:
            self._reject(line)
        else:
            self._passed = []
            self.done = self.unread = self.paused = True

    def _reject(self, line: str) -> None:
        """Refuse the current hunk for a line that no diff has; continue at the next ``@@`` or file."""
        if self._state == "body":
            self._break(
                RefusalCode.MALFORMED,
                f"{_SIGNS}, but this one is {line[:60]!r}",
            )
        self._begin_hunk()
        self._state = "skip"
        self._has_hunk = True

    def _break(self, code: RefusalCode, message: str) -> None:
        self._out.broken(self._number, self._current, code, message)
        self._number = None


_BLANK = HunkLine(LineKind.CONTEXT, "")


def _trimmed(lines: _Lines) -> _Lines:
    end = len(lines)
    while end and lines[end - 1] == _BLANK:
        end -= 1
    return lines[:end]
