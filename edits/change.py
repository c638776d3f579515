"""What one hunk does to its file: placed, and turned into bytes, but not yet written.

The result is a :class:`Change` to journal and write, or what is known without writing: that the hunk's
text is there already, or why the hunk is refused.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Protocol

from edits.files.aliases import Aliases, HardLinks, aliases
from edits.files.folding import tells
from edits.files.path_jail import Target, resolve, spelling
from edits.files.text import FileError, decode, digest, whole_lines
from edits.files.tree import Tree
from edits.guards.fixed_forms import loses_its_form
from edits.guards.off_limits import OffLimits
from edits.hunk import Action, Format, Hunk, HunkLine, Landed, LineKind, RefusalCode, Refused, Rung, Status
from edits.ledger.entry import Op
from edits.ledger.ledger import Ledger
from edits.newtext.soundness import unsound_file
from edits.placing.anchors import Symbol
from edits.placing.found import Miss, Present
from edits.placing.large_files import change_exactly
from edits.placing.locate import Symbols
from edits.placing.miss_messages import likely_files
from edits.placing.place import Checker, Placed, deletes_as_it_is, place, place_parsed
from edits.placing.splices import Splice, spliced
from edits.placing.whole_parts import divided, is_like, without_label

SymbolSource = Callable[[str, str], Sequence[Symbol]]
"""Gives the definitions in a file, from its path and its current text."""


class GitRules(Protocol):
    """What git says of files."""

    def newline(self, path: str) -> str | None:
        """The line ending of a new file by the project's rules; None where there is none."""
        ...

    def left_out(self, path: str, *, there: bool) -> str:
        """Why git leaves a file of its index out of the work tree, where it may be ``there`` all the same,
        with what ends that; empty for others."""
        ...


class NoGitRules:
    """The rules of a folder without git."""

    def newline(self, path: str) -> str | None:
        """None."""
        return None

    def left_out(self, path: str, *, there: bool) -> str:
        """Nothing is left out."""
        del path, there
        return ""


@dataclass(frozen=True, slots=True)
class Change:
    """A planned change of one file. ``path`` and ``moved_to`` are relative to the root, without links."""

    hunk: str
    op: Op
    action: Action
    path: str
    before: bytes | None
    after: bytes | None
    shown: str
    """The path for messages (see :class:`~edits.files.path_jail.Target`)."""
    files: tuple[Aliases, ...] = ()
    """The file with all its names, and after it the one that it is moved to."""
    splices: tuple[Splice, ...] = ()
    moved_to: str | None = None
    status: Status = Status.APPLIED
    rung: Rung = Rung.EXACT
    session: str = ""
    turn: str = ""
    same: str = ""
    reverts: int | None = None
    mode: int | None = None
    overwrites: bool = False
    """Whether the hunk adds a file where there is one already, so that all of it is replaced."""
    loses: str = ""
    """What the file loses that nobody asked to lose."""
    typed: str = ""
    """The name that the model wrote, where no such file exists."""


class Planner:
    """Plans hunks in the project that ``tree`` is, except for files that are ``off_limits``.

    Dry runs build on earlier ones.
    """

    def __init__(
        self,
        tree: Tree,
        off_limits: OffLimits,
        ledger: Ledger,
        files: Callable[[], Iterable[str]],
        symbols: SymbolSource | None = None,
        git: GitRules | None = None,
        checker: Checker | None = None,
    ) -> None:
        self._tree = tree
        self._checker = checker
        self._git = git or NoGitRules()
        self._off_limits = off_limits
        self._links = HardLinks(tree.root)
        self._root = tree.root
        self._symbols = symbols
        self._ledger = ledger
        self._files = files
        self._overlay: dict[str, bytes | None] = {}

    @property
    def remembered(self) -> Mapping[str, bytes | None]:
        """The files that dry runs would have written, by path; None for those they would have deleted."""
        return self._overlay

    def plan(
        self, hunk: Hunk, hunk_id: str, session: str, turn: str, *, dry: bool
    ) -> Change | Landed | Refused:
        """Plan ``hunk`` for the project as it is now. Raises FileError."""
        hunk, typed = self._named(hunk, dry)
        if not hunk.path:
            return Refused(hunk_id, "", RefusalCode.MALFORMED, _NAMELESS)
        if hunk.unsure and (other := self._shorter(hunk, dry)):
            return Refused(hunk_id, hunk.path, RefusalCode.AMBIGUOUS, _two_names(hunk.names[-1], other))
        target = resolve(self._root, hunk.path)
        file = self.names(target)
        if file.ignores_case:
            target = target.as_listed(self._root)
        change = Change(
            hunk=hunk_id,
            op=Op.LAND,
            action=hunk.action,
            path=target.name,
            before=self._read(target, dry),
            after=None,
            shown=target.path,
            files=(file,),
            session=session,
            turn=turn,
            same=same_edit(hunk),
            loses=hunk.loses,
            typed=typed,
        )
        planned = self._by_action(hunk, target, change, dry)
        if not isinstance(planned, Change):
            return planned
        wrong = loses_its_form(target.path, planned.before, planned.after)
        return planned if wrong is None else Refused(hunk_id, target.path, *wrong)

    def _by_action(self, hunk: Hunk, target: Target, change: Change, dry: bool) -> Change | Landed | Refused:
        if left_out := self._git.left_out(target.path, there=change.before is not None):
            code = RefusalCode.MISSING_FILE if change.before is None else RefusalCode.LOCKED
            return Refused(change.hunk, target.path, code, left_out)
        match hunk.action:
            case Action.ADD:
                return self._plan_add(hunk, target, change)
            case Action.DELETE:
                return self._plan_delete(hunk, target, change)
            case Action.MOVE:
                return self._plan_move(hunk, target, change, dry)
            case Action.UPDATE:
                return self._plan_update(hunk, target, change)

    def divide(self, hunk: Hunk, request: str, *, dry: bool = False) -> tuple[Hunk, ...]:
        """The hunks that the whole file ``hunk`` consists of: those in which it differs from the file as it
        is. It stays one hunk where it loses what ``request`` does not ask to lose, where the file is new, and
        where it cannot be placed: landing it says why."""
        named, typed = self._named(hunk, dry)
        try:
            target = resolve(self._root, named.path) if named.path else None
            before = None if target is None else self._read(target, dry)
            if target is None or before is None:
                return (hunk,)
            self.names(target)
            file = decode(before, target.path)
        except FileError:
            return (hunk,)
        hunk = replace(without_label(file.lines, named), typed=typed)
        source = self._symbols or _no_symbols
        text = "".join(f"{line}\n" for line in hunk.new)
        old, new = source(target.path, file.text), source(target.path, text)
        return divided(file.lines, hunk, old, new, request)

    def meant(self, hunk: Hunk) -> str | None:
        """The file whose text the sample ``hunk`` is; None where it is not that of one file."""
        hunk, _ = self._named(hunk, dry=False)
        if hunk.unsure and self._shorter(hunk, dry=False):
            return None
        likely = [hunk.path] if hunk.path else hunk.shown
        found = [path for path in likely if self._is_like(path, hunk)]
        return found[0] if len(found) == 1 else None

    def _shorter(self, hunk: Hunk, dry: bool) -> str:
        """The file that the words at the end of ``hunk.names`` name, if all of them name none: empty if there
        is none, or if the words before it cannot belong to a name."""
        whole = hunk.names[-1]
        if hunk.path != whole:
            folder = self._root / PurePosixPath(whole).parent
            return "" if hunk.old and not folder.is_dir() else hunk.path
        words = whole.split()
        shorter = (" ".join(words[begin:]) for begin in range(1, len(words)))
        return next((name for name in shorter if self._is_file(name, dry)), "")

    def _named(self, hunk: Hunk, dry: bool) -> tuple[Hunk, str]:
        """The hunk with the path of the file that it is for, and the name that the model wrote if that is the
        name of no file."""
        for name in hunk.names:
            if self._is_file(name, dry):
                return replace(hunk, path=name, names=(), unsure=False), ""
        if hunk.unsure:
            return hunk, hunk.typed
        looks = hunk.action is Action.UPDATE and (hunk.old or hunk.format is Format.WHOLE)
        if not looks or (hunk.path and not self._is_missing(hunk.path, dry)):
            return hunk, hunk.typed
        path = spelling(hunk.path.replace("\\", "/"))
        name = PurePosixPath(path).name
        fits = self._is_like if hunk.format is Format.WHOLE else self._places
        alike = {file: spelling(file) for file in self._files()}
        spelled = [file for file in alike if path and alike[file] == path]
        same = [file for file in alike if name and PurePosixPath(alike[file]).name == name]
        words = [file for file in alike if path.endswith(f" {PurePosixPath(alike[file]).name}")]
        literal = hunk.format in (Format.V4A, Format.UNIFIED, Format.JSON) and bool(words)
        for files in (spelled, same, hunk.shown) if hunk.shown and not literal else (spelled,):
            found = [file for file in files if fits(file, hunk)]
            if len(found) == 1:
                return replace(hunk, path=found[0]), hunk.path or _NO_NAME
        return hunk, hunk.typed

    def _is_file(self, path: str, dry: bool) -> bool:
        try:
            target = resolve(self._root, path)
            self.names(target)
            return self._read(target, dry) is not None
        except FileError:
            return False

    def _is_missing(self, path: str, dry: bool) -> bool:
        """Whether a path of the project names nothing; not so for one that is refused."""
        try:
            target = resolve(self._root, path)
            self.names(target)
            return self._read(target, dry) is None
        except FileError:
            return False

    def _is_like(self, path: str, hunk: Hunk) -> bool:
        try:
            target = resolve(self._root, path)
            self.names(target)
            return is_like(self._tree.read_text(target.name, path).lines, hunk.new)
        except FileError:
            return False

    def names(self, target: Target) -> Aliases:
        """All names of a file. Raises FileError if it is off limits, so that nothing of it is read."""
        file = aliases(self._root, target.path, target.typed, target.name, links=self._links)
        reason = self._off_limits.reason(file)
        if reason is not None:
            raise FileError(RefusalCode.OUTSIDE_PROJECT, reason)
        return file

    def definitions(self, path: str, text: str) -> Symbols:
        """The definitions in a file, found once they are asked for."""
        source = self._symbols
        return (lambda: ()) if source is None else (lambda: source(path, text))

    def forget(self) -> None:
        """Forget what dry runs would have written."""
        self._overlay.clear()

    def remember(self, change: Change) -> None:
        """Remember what a dry run would have written."""
        self._overlay[change.path] = None if change.moved_to else change.after
        if change.moved_to:
            self._overlay[change.moved_to] = change.after

    def _plan_update(self, hunk: Hunk, target: Target, change: Change) -> Change | Landed | Refused:
        if change.before is None:
            if hunk.format is Format.WHOLE:
                return self._plan_add(hunk, target, replace(change, action=Action.ADD))
            return self._missing(hunk, change)
        exactly = change_exactly(change.before, hunk)
        if exactly is not None:
            self._tree.check_writable(target.name, target.path)
            made, after = exactly
            return replace(change, after=after, splices=made)
        file = decode(change.before, target.path)
        if hunk.format is Format.WHOLE:
            hunk = without_label(file.lines, hunk)
        found = place_parsed(file, hunk, self.definitions(target.path, file.text), self._checker)
        if isinstance(found, Miss):
            return Refused(change.hunk, target.path, found.code, found.message)
        if isinstance(found, Present):
            return self._there(hunk, target, change, found.rung, (found.start + 1, found.end + 1))
        nothing = not found.splices and hunk.action is Action.UPDATE
        if nothing or (found.repeats and self._landed_before(change)):
            return self._there(hunk, target, change, found.rung, (found.start, found.end))
        self._tree.check_writable(target.name, target.path)
        after = file.encode(spliced(file, found.splices))
        return replace(change, after=after, splices=found.splices, rung=found.rung)

    def _there(
        self, hunk: Hunk, target: Target, change: Change, rung: Rung, lines: tuple[int, int]
    ) -> Landed:
        return Landed(change.hunk, target.path, hunk.action, Status.ALREADY_APPLIED, rung, *lines)

    def _plan_add(self, hunk: Hunk, target: Target, change: Change) -> Change | Landed | Refused:
        rule = self._git.newline(target.path) if not change.before and not hunk.made else None
        text = "".join(line + (rule or hunk.newline) for line in hunk.new)
        if hunk.replacement is not None:
            text = hunk.replacement.new
            text = text if rule is None else text.replace("\r\n", "\n").replace("\n", rule)
        after = decode(b"", target.path).encode(text)
        if change.before == after and change.before is not None:
            end = len(hunk.new) + 1
            return Landed(change.hunk, target.path, hunk.action, Status.ALREADY_APPLIED, Rung.EXACT, 1, end)
        if change.before:
            if hunk.alternatives:
                first, *others = hunk.alternatives
                reading = replace(hunk, action=Action.UPDATE, lines=first, alternatives=tuple(others))
                return self._plan_update(reading, target, replace(change, action=Action.UPDATE))
            if hunk.format is Format.V4A:
                return self._plan_overwrite(hunk, target, change)
            return already_exists(change.hunk, target.path, hunk.format)
        wrong = None if hunk.made else unsound_file(target.path, text.splitlines(), hunk.format)
        if wrong is not None:
            return Refused(change.hunk, target.path, RefusalCode.MALFORMED, wrong)
        if change.before is not None:
            self._tree.check_writable(target.name, target.path)
        return replace(change, after=after, splices=(Splice(0, (), tuple(whole_lines(text))),))

    def _plan_overwrite(self, hunk: Hunk, target: Target, change: Change) -> Change | Landed | Refused:
        """The file's text becomes that of the hunk, in the encoding and with the line endings it has."""
        whole = replace(hunk, action=Action.UPDATE, format=Format.WHOLE)
        planned = self._plan_update(whole, target, replace(change, action=Action.UPDATE))
        return replace(planned, overwrites=True) if isinstance(planned, Change) else planned

    def _plan_delete(self, hunk: Hunk, target: Target, change: Change) -> Change | Landed | Refused:
        if change.before is None:
            message = f"{target.path} does not exist{self._suggestion(target.path)}"
            return Refused(change.hunk, target.path, RefusalCode.MISSING_FILE, message)
        if target.linked:
            message = f"{target.path} is a symbolic link, which edits do not delete"
            return Refused(change.hunk, target.path, RefusalCode.IO, message)
        stale = deletes_as_it_is(decode(change.before, target.path), hunk) if hunk.lines else None
        if stale is not None:
            return Refused(change.hunk, target.path, stale.code, stale.message)
        self._tree.check_writable(target.name, target.path)
        status = self._tree.status(target.name)
        return replace(change, mode=None if status is None else stat.S_IMODE(status.st_mode))

    def _plan_move(self, hunk: Hunk, target: Target, change: Change, dry: bool) -> Change | Landed | Refused:
        destination = resolve(self._root, hunk.move_to or "")
        moved = self.names(destination)
        if target.linked or destination.linked:
            message = f"{target.path} or {destination.path} is a symbolic link, which edits do not move"
            return Refused(change.hunk, target.path, RefusalCode.IO, message)
        there = self._read(destination, dry)
        if change.before is None:
            return self._missing(hunk, change)
        if there is not None and destination.name != target.name:
            message = f"{destination.path} exists already: {target.path} cannot be moved there"
            return Refused(change.hunk, target.path, RefusalCode.EXISTS, message)
        planned: Change | Landed | Refused = replace(change, after=change.before)
        if hunk.lines:
            planned = self._plan_update(hunk, target, change)
        else:
            self._tree.check_writable(target.name, target.path)
        if destination.name == target.name or not isinstance(planned, Change):
            return planned
        return replace(planned, moved_to=destination.name, files=(*planned.files, moved))

    def _missing(self, hunk: Hunk, change: Change) -> Refused:
        message = f"{hunk.path} does not exist{self._suggestion(hunk.path, hunk)}"
        return Refused(change.hunk, hunk.path, RefusalCode.MISSING_FILE, message)

    def _suggestion(self, path: str, hunk: Hunk | None = None) -> str:
        likely = likely_files(path, self._files())
        if hunk is not None and hunk.old:
            for file in likely:
                if self._places(file, hunk):
                    return f"; did you mean {file}? The text is there"
        return f"; did you mean {likely[0]}?" if likely else ""

    def _places(self, file: str, hunk: Hunk) -> bool:
        try:
            target = resolve(self._root, file)
            found = place(self._tree.read_text(target.name, file), hunk)
            return isinstance(found, Placed) and found.rung <= Rung.INDENT and any(map(tells, hunk.old))
        except FileError:
            return False

    def _landed_before(self, change: Change) -> bool:
        """Whether this very hunk landed before. An insertion that is sent twice must not land twice, though
        it still finds the text beside which it goes."""
        undone = {
            entry.hunk: entry.op is Op.UNDO for entry in self._ledger.entries() if entry.same == change.same
        }
        return not all(undone.values())

    def _read(self, target: Target, dry: bool) -> bytes | None:
        """The file's bytes, or None if there is no file. Raises FileError for anything but a file."""
        if dry and target.name in self._overlay:
            return self._overlay[target.name]
        return self._tree.read_if_there(target.name, target.path)


def _no_symbols(path: str, text: str) -> Sequence[Symbol]:
    del path, text
    return ()


def already_exists(hunk: str, path: str, format: Format) -> Refused:
    """The refusal of a hunk that adds a file where there is one already."""
    what = "an empty SEARCH is for a new file" if format is Format.SEARCH_REPLACE else "it cannot be added"
    message = f"{path} exists already: {what}; edit it with its lines instead"
    return Refused(hunk, path, RefusalCode.EXISTS, message)


def same_edit(hunk: Hunk) -> str:
    """What is the same for a hunk that is sent twice: blank lines at its ends and its place may differ."""
    lines = list(hunk.lines)
    while lines and lines[-1] == _BLANK:
        lines.pop()
    while lines and lines[0] == _BLANK:
        del lines[0]
    said = (hunk.path, hunk.action, tuple(lines), hunk.anchors, hunk.move_to)
    text = repr(said if hunk.replacement is None else (*said, hunk.replacement, hunk.replace_all))
    return digest(text.encode("utf-8", "surrogatepass"))


def _two_names(whole: str, shorter: str) -> str:
    may_be = f"“{whole}” may be one name, of a file that is not there, or words and {shorter!r}"
    return f"{may_be}: put the path alone on its line, in backticks"


_BLANK = HunkLine(LineKind.CONTEXT, "")
_NAMELESS = "no file name: put the path alone on the line above the block's fence"
_NO_NAME = "no name"
