"""The header of one file in a unified diff: which file it is, and what happens to it.

Source: the GNU diffutils manual ("Detailed Description of Unified Format") and git's documentation of
its extended headers (``git diff --help``, "Generating patch text with -p").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from edits.hunk import Action, RefusalCode

NULL = "/dev/null"
"""The name that stands for no file."""
LONGEST = 1_000
"""Characters of the longest line that names a file or begins an edit. The patterns for such lines go over
some lines several times, so that longer ones, which are text, are not looked at."""
_GIT = re.compile(r'diff --git (?P<old>"(?:[^"\\]|\\.)*"|.+?) (?P<new>"(?:[^"\\]|\\.)*"|.+)')
_FIELD = re.compile(
    r"(?P<key>old mode|new mode|new file mode|deleted file mode|rename from|rename to|copy from|copy to)"
    r" (?P<value>.+)"
)
_BINARY = re.compile(r"GIT binary patch|Binary files .* differ")
_TIME = re.compile(r"\s+(?:\d{4}-\d\d-\d\d|[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+) .*")
_ESCAPE = re.compile(r"\\([0-7]{3}|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_PREFIXES = frozenset({("a/", "b/"), ("i/", "w/"), ("c/", "w/"), ("c/", "i/"), ("o/", "w/")})
_OLD = frozenset(old for old, _ in _PREFIXES)
_NEW = frozenset(new for _, new in _PREFIXES)


@dataclass(slots=True)
class DiffHeader:
    """The contents of the header's lines so far. Names are unquoted, with their prefixes."""

    old: str = ""
    new: str = ""
    git: str = ""
    rename_from: str = ""
    rename_to: str = ""
    new_file: bool = False
    deleted: bool = False
    copy: bool = False
    binary: bool = False
    mode: str = ""
    """The new mode of the file, octal; empty if the header has none."""

    def take(self, line: str) -> bool:
        """Take a header line; False if it is not a known one."""
        if len(line) > LONGEST:
            return False
        if line.startswith("--- "):
            self.old = name_of(line)
        elif line.startswith("+++ "):
            self.new = name_of(line)
        elif field := _FIELD.fullmatch(line):
            self._take_field(field["key"], field["value"])
        elif _BINARY.fullmatch(line):
            self.binary = True
        elif git := _GIT.fullmatch(line):
            self.git = _git_name(line, git)
        else:
            return False
        return True

    def _take_field(self, key: str, value: str) -> None:
        match key:
            case "new mode":
                self.mode = value.strip()
            case "new file mode":
                self.new_file = True
                self.mode = "" if value.strip() == "100644" else value.strip()
            case "deleted file mode":
                self.deleted = True
            case "rename from":
                self.rename_from = _unquoted(value)
            case "rename to":
                self.rename_to = _unquoted(value)
            case "copy from" | "copy to":
                self.copy = True

    @property
    def path(self) -> str:
        """The file that is edited, before any renaming; empty if no line names one."""
        if self.rename_from:
            return self.rename_from
        old, new = _bare(self.old, self.new)
        if new and new != NULL:
            return new
        return old if old != NULL and old else self.git

    @property
    def action(self) -> Action:
        """What happens to the file according to the header."""
        if self.deleted or self.new == NULL:
            return Action.DELETE
        if self.new_file or self.old == NULL:
            return Action.ADD
        return Action.MOVE if self.rename_from and self.rename_to else Action.UPDATE

    @property
    def problem(self) -> tuple[RefusalCode, str] | None:
        """Why no edit of this file can land; None if it can."""
        if self.binary:
            return RefusalCode.BINARY, "a binary patch cannot be applied"
        if self.copy:
            return RefusalCode.MALFORMED, "copying a file is not supported: add the new file with its text"
        if self.mode[:3] in ("120", "160"):
            return RefusalCode.MALFORMED, "symbolic links and submodules cannot be edited"
        if not self.path:
            return RefusalCode.MALFORMED, "the diff does not name its file: begin it with “--- ” and “+++ ”"
        return None

    @property
    def only_mode(self) -> str | None:
        """The message for a mode in the header, since edits never change a file's mode."""
        return f"the mode {self.mode} is not set: edits leave modes alone, use chmod" if self.mode else None


def name_of(line: str) -> str:
    """The name in a ``---`` or ``+++`` line, without the time after it."""
    text = line[4:].split("\t")[0]
    text = _TIME.sub("", text) if not text.startswith('"') and len(text) <= LONGEST else text
    return _unquoted(text)


def names_agree(old: str, new: str) -> bool:
    """Whether a ``---`` and a ``+++`` line name the same file, or one of them names none."""
    first, second = name_of(old), name_of(new)
    bare = _bare(first, second)
    return bare[0] == bare[1] or NULL in (first, second)


def _bare(old: str, new: str) -> tuple[str, str]:
    """The names without git's prefixes, which occur in pairs."""
    pair = (old[:2], new[:2])
    if pair in _PREFIXES:
        return old[2:], new[2:]
    if old == NULL and pair[1] in _NEW:
        return old, new[2:]
    if new == NULL and pair[0] in _OLD:
        return old[2:], new
    return old, new


def _git_name(line: str, match: re.Match[str]) -> str:
    """The name in ``diff --git a/x b/x``; without quotes both halves are equal except for the prefix."""
    rest = line[len("diff --git ") :]
    half = len(rest) // 2
    if not rest.startswith('"') and rest[half : half + 1] == " ":
        old, new = rest[:half], rest[half + 1 :]
        if old[2:] == new[2:] and (old[:2], new[:2]) in _PREFIXES:
            return new[2:]
        if old == new:
            return new
    return _bare(_unquoted(match["old"]), _unquoted(match["new"]))[1]


def _unquoted(text: str) -> str:
    """A name as git writes it: in quotes and with escapes if it has unusual characters."""
    text = text.strip()
    if len(text) < 2 or not (text[0] == text[-1] == '"'):
        return text
    bytes_ = bytearray()
    done = 0
    inner = text[1:-1]
    for match in _ESCAPE.finditer(inner):
        bytes_ += inner[done : match.start()].encode("utf-8", "surrogatepass")
        code = match[1]
        if len(code) == 3:
            bytes_.append(int(code, 8) & 0xFF)
        else:
            bytes_ += _ESCAPED.get(code, code).encode("utf-8", "surrogatepass")
        done = match.end()
    bytes_ += inner[done:].encode("utf-8", "surrogatepass")
    return bytes_.decode("utf-8", "replace")
