"""String-replace edits as JSON: the arguments of editing tools, in a tool call, a fence, or in prose.

Source: the published schemas of common editing tools, which differ only in their names::

    {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2", "replace_all": true}
    {"path": "a.py", "edits": [{"old_string": …, "new_string": …}, …]}
    [{"path": …, "old_string": …, "new_string": …}, …]

Keys may be in any order. An edit is complete at its own closing brace, as soon as its path is known; if
the path of several edits comes last, they wait for it. An empty old string makes a new file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from edits.files.diff import edited
from edits.files.text import split
from edits.formats.block import CUT, Output
from edits.formats.json_scan import JsonScanner, Mark, NotJson, Token
from edits.hunk import Action, Format, Hunk, HunkLine, LineKind, RefusalCode, Replacement

_Name = Literal["path", "old", "new", "all", "edits", "inner", "other"]
_TEXTS: tuple[_Name, ...] = ("path", "old", "new")
_NAMES: dict[str, _Name] = {
    **dict.fromkeys(("path", "file_path", "filepath", "filePath", "target_file", "relative_path"), "path"),
    **dict.fromkeys(("file", "filename", "file_name", "absolute_path"), "path"),
    **dict.fromkeys(("old_string", "old_str", "old_text", "oldString", "oldStr", "oldText"), "old"),
    **dict.fromkeys(("new_string", "new_str", "new_text", "newString", "newStr", "newText"), "new"),
    **dict.fromkeys(("replace_all", "replaceAll", "replace_all_occurrences"), "all"),
    "edits": "edits",
    **dict.fromkeys(("arguments", "input", "parameters", "args"), "inner"),
}
# Names that are too common to tell an edit from other JSON; they count only if JSON was asked for.
_LOOSE: dict[str, _Name] = {
    **dict.fromkeys(("old", "search", "find"), "old"),
    **dict.fromkeys(("new", "replace", "replacement"), "new"),
    **dict.fromkeys(("changes", "replacements"), "edits"),
}
# Other names in such an object. JSON with any further name is not an edit.
_ASIDES = frozenset(
    {"name", "tool", "tool_name", "type", "id", "call_id", "function", "command", "explanation", "reason"}
    | {"description", "instruction", "instructions", "title", "summary", "thought", "expected_replacements"}
)
_KINDS = {"old": LineKind.OLD, "new": LineKind.NEW}


@dataclass(slots=True)
class _Edit:
    """An object that is an edit, or contains some."""

    parent: _Edit | None = None
    number: int | None = None
    texts: dict[str, list[str]] = field(default_factory=dict)
    """The path, the old and the new text, as far as they have arrived: pieces, in order of arrival."""
    path: str | None = None
    replace_all: bool = False
    nests: bool = False
    """Whether it contains a list of edits, or the arguments of a call."""
    problem: str | None = None
    waiting: list[_Edit] = field(default_factory=list)
    """Finished edits whose path is not known yet."""

    @property
    def known_path(self) -> str | None:
        edit: _Edit | None = self
        while edit is not None:
            if edit.path is not None:
                return edit.path
            edit = edit.parent
        return None


class JsonEdits:
    """One JSON value being read for edits.

    No event is sent until it is ``certain`` that the value is an edit; if it is not, ``rejected`` is set.
    ``forced`` takes any JSON object as an edit, valid or not. ``begin`` is called as soon as it is
    certain, before the first event.
    """

    def __init__(self, out: Output, begin: Callable[[], None], *, forced: bool) -> None:
        self.certain = False
        self.rejected = False
        self.done = False
        self.broken = False
        """Whether the JSON is malformed, so that the rest of its line is not read."""
        self._out = out
        self._begin = begin
        self._forced = forced
        self._scanner = JsonScanner()
        # The innermost edit, and the kind of each open bracket.
        self._edit: _Edit | None = None
        self._open: list[Literal["edit", "list", "other"]] = []
        self._name: _Name = "other"
        self._key = ""
        self._failure = ""

    def feed(self, text: str, at: int) -> int:
        """Read ``text`` from ``at`` on until done, rejected or broken; the index after what was read."""
        while at < len(text) and not (self.done or self.rejected or self.broken):
            try:
                token, at = self._scanner.next(text, at)
            except NotJson as problem:
                at = self._scanner.at
                self._fail(RefusalCode.MALFORMED, f"the JSON is malformed: {problem}")
                return at
            if token is not None:
                self._take(token)
            if self._scanner.done and not self.rejected:
                self.done = True
                self.rejected = not self.certain
        return at

    def end(self, clean: bool) -> None:
        """The stream ended inside the value."""
        del clean
        self._fail(RefusalCode.INCOMPLETE, CUT)

    def _take(self, token: Token) -> None:
        match token.mark:
            case Mark.BEGIN_OBJECT:
                self._begin_object()
            case Mark.BEGIN_ARRAY:
                self._begin_array()
            case Mark.END_OBJECT | Mark.END_ARRAY:
                if self._open.pop() == "edit":
                    self._end_edit()
                self._name = "other"
            case Mark.KEY:
                self._take_key(token.text)
            case Mark.TEXT:
                self._take_text(token.text)
            case Mark.END_TEXT:
                self._end_text()
            case Mark.SCALAR:
                self._take_scalar(token.text)

    def _begin_object(self) -> None:
        above = self._open[-1] if self._open else None
        if above in (None, "list") or (above == "edit" and self._name in ("inner", "edits")):
            if self._edit is not None:
                self._edit.nests = True
            self._edit = _Edit(self._edit)
            self._open.append("edit")
        else:
            self._misplaced(self._name, "an object")
            self._open.append("other")

    def _begin_array(self) -> None:
        above = self._open[-1] if self._open else None
        if above is None or (above == "edit" and self._name == "edits"):
            if self._edit is not None:
                self._edit.nests = True
            self._open.append("list")
        else:
            self._misplaced(self._name, "an array")
            self._open.append("other")

    def _take_key(self, key: str) -> None:
        self._key = key
        self._name = "other"
        if self._open[-1] != "edit" or self._edit is None:
            return
        self._name = _NAMES.get(key) or (_LOOSE.get(key) if self._forced else None) or "other"
        if self._name == "other" and not self.certain and not self._forced and key not in _ASIDES:
            self.rejected = True
            return
        if self._name in _TEXTS:
            if self._name in self._edit.texts:
                self._edit.problem = f"it has “{key}” more than once"
                self._name = "other"
                return
            self._edit.texts[self._name] = []
        texts = self._edit.texts
        known = "old" in texts and ("new" in texts or self._edit.known_path is not None)
        if not self.certain and (known or self._forced):
            self.certain = True
            self._begin()
        self._open_hunk(self._edit)

    def _take_text(self, piece: str) -> None:
        edit = self._edit
        if edit is None or not self._open or self._open[-1] != "edit":
            self._check_list_item()
            return
        if self._name in _TEXTS:
            edit.texts[self._name].append(piece)
        if edit.number is not None and self._name in _KINDS:
            self._out.typed(edit.number, _KINDS[self._name], piece)

    def _end_text(self) -> None:
        edit, name = self._edit, self._name
        self._name = "other"
        if edit is None or not self._open or self._open[-1] != "edit":
            self._check_list_item()
            return
        if name == "path":
            edit.path = "".join(edit.texts["path"])
            self._open_hunk(edit)
            waiting, edit.waiting = edit.waiting, []
            for waited in waiting:
                self._finish(waited)
        elif name in _KINDS:
            if edit.number is not None:
                self._end_line(edit.number, name, edit.texts[name])
        elif name != "other":
            self._misplaced(name, "a string")

    def _take_scalar(self, word: str) -> None:
        edit, name = self._edit, self._name
        self._name = "other"
        if edit is None or not self._open or self._open[-1] != "edit":
            self._check_list_item()
        elif name == "all" and word in ("true", "false"):
            edit.replace_all = word == "true"
        elif name != "other":
            self._misplaced(name, word)

    def _check_list_item(self) -> None:
        """Reject a list with anything but objects."""
        if self._open and self._open[-1] == "list" and not self.certain:
            self.rejected = True

    def _misplaced(self, name: _Name, what: str) -> None:
        """Note a value of the wrong kind under a known key."""
        if name == "other":
            self._check_list_item()
        elif self._edit is not None:
            self._edit.problem = f"“{self._key}” cannot be {what}"

    def _open_hunk(self, edit: _Edit) -> None:
        """Send the event that the hunk begins, if it is certain and its file known, and its text so far."""
        path = edit.known_path
        if not self.certain or edit.number is not None or path is None:
            return
        if not ("old" in edit.texts or "new" in edit.texts):
            return
        edit.number = self._out.open(path, Action.UPDATE, Format.JSON)
        for name, pieces in edit.texts.items():
            if name in _KINDS and pieces:
                self._out.typed(edit.number, _KINDS[name], "".join(pieces))
                if name != self._name:
                    self._end_line(edit.number, name, pieces)

    def _end_line(self, number: int, name: str, pieces: list[str]) -> None:
        if pieces and not pieces[-1].endswith("\n"):
            self._out.typed(number, _KINDS[name], "\n")

    def _end_edit(self) -> None:
        edit = self._edit
        if edit is None:
            return
        self._edit = edit.parent
        if "old" in edit.texts or "new" in edit.texts or edit.problem or not edit.nests:
            self._finish(edit)
        waiting, edit.waiting = edit.waiting, []
        for waited in waiting:
            waited.parent = edit.parent
            self._finish(waited)

    def _finish(self, edit: _Edit) -> None:
        """End an edit: it is complete, waits for its path, or can never land."""
        if not self.certain:
            self.rejected = True
            return
        path = edit.known_path
        if path is None and self._may_have_path(edit):
            above = edit.parent
            while above is not None and above.texts.get("path") is not None:
                above = above.parent
            if above is not None:
                above.waiting.append(edit)
                return
        self._open_hunk(edit)
        problem = self._problem(edit)
        if problem is not None or edit.number is None:
            message = f"the edit is malformed: {problem or 'it has no path'}"
            self._out.broken(edit.number, path or "", RefusalCode.MALFORMED, message)
        else:
            old, new = "".join(edit.texts["old"]), "".join(edit.texts["new"])
            self._out.complete(edit.number, _hunk(path or "", old, new, edit.replace_all))

    def _may_have_path(self, edit: _Edit) -> bool:
        """Whether an object around the edit may still give its path."""
        above, inner = edit.parent, self._edit
        while inner is not None:
            if inner is above:
                return True
            inner = inner.parent
        return False

    def _problem(self, edit: _Edit) -> str | None:
        if edit.problem:
            return edit.problem
        if edit.known_path is None:
            return "it has no path"
        for name, shown in (("old", "old_string"), ("new", "new_string")):
            if name not in edit.texts:
                return f"it has no {shown}"
        if "".join(edit.texts["old"]) == "".join(edit.texts["new"]):
            return "old_string and new_string are the same"
        return None

    def _fail(self, code: RefusalCode, message: str) -> None:
        """Refuse every open edit, since nothing more of the value can be read."""
        if not self.certain:
            self.rejected = True
            return
        self.broken = True
        told = False
        edit = self._edit
        while edit is not None:
            edits = [*edit.waiting, edit] if edit.texts.keys() & {"old", "new"} else edit.waiting
            for open_edit in edits:
                self._out.broken(open_edit.number, open_edit.known_path or "", code, message)
                told = True
            edit = edit.parent
        if not told:
            path = self._edit.known_path if self._edit is not None else None
            self._out.broken(None, path or "", code, message)


def _hunk(path: str, old: str, new: str, replace_all: bool) -> Hunk:
    replacement = Replacement(old, new)
    newline = "\r\n" if "\r\n" in new and "\n" not in new.replace("\r\n", "") else "\n"
    before, after = split(old)[0], split(new)[0]
    if not old:
        added = tuple(HunkLine(LineKind.NEW, text) for text in after)
        return Hunk(path, Action.ADD, Format.JSON, added, replacement=replacement, newline=newline)
    return Hunk(
        path, Action.UPDATE, Format.JSON, edited(before, after),
        replace_all=replace_all, replacement=replacement, newline=newline,
    )  # fmt: skip
