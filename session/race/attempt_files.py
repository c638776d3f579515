"""The files of one attempt: its hunks are placed as they would be in the project, and nothing is written."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from context.disk.source import Source, Unread
from context.disk.source import decode as decode_source
from context.project.snapshot import ReadsProject, Snapshot, frozen
from edits.files.text import FileError, decode, split
from edits.files.tree import Tree
from edits.hunk import Guard, Held, Hunk, Landed, Refused, Status
from edits.landing import Landing
from session.race.attempt_life import Result

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Change:
    """What an answer does to the project: its hunks that fit in their order, and the files that they change
    by path, as they were ``before`` and as they become; None for a file that is not there."""

    edits: tuple[Hunk, ...] = ()
    files: Mapping[str, bytes | None] = field(default_factory=dict)
    before: Mapping[str, bytes | None] = field(default_factory=dict)

    def text(self, path: str) -> str | None:
        """The text of a file that it changes; None for other files."""
        content = self.files.get(path)
        try:
            return None if content is None else decode(content, path).text
        except FileError:
            return None

    def result(self) -> Result:
        """What it does, to compare it with others."""
        if not self.files:
            return Result("", 0)
        digest = hashlib.sha256()
        for path, content in self.files.items():
            state = b"gone" if content is None else hashlib.sha256(content).digest()
            digest.update(path.encode("utf-8", "surrogatepass") + b"\0" + state)
        return Result(digest.hexdigest(), changed_lines(self.diff()))

    def diff(self) -> str:
        """The change as a unified diff."""
        return "".join(
            _file_diff(path, self.before.get(path), content) for path, content in self.files.items()
        )


class AttemptFiles:
    """Takes the hunks of one attempt in the place of a project's writer. All but :meth:`next_id` is called in
    the edit thread while hunks come, and in any thread afterwards."""

    def __init__(self, name: str, landing: Landing, root: Path, *, attended: bool) -> None:
        """``landing`` is this attempt's own, for dry runs. With ``attended`` the user is asked about guarded
        edits when they land in the project, so here only locks hold."""
        self._name = name
        self._landing = landing
        self._tree = Tree(root)
        self._allow = frozenset(Guard) - {Guard.LOCKED} if attended else frozenset[Guard]()
        self._count = 0
        self._before: dict[str, bytes | None] = {}
        self._landed: list[tuple[Landed, Hunk, frozenset[Guard]]] = []
        """The hunks that fit, in their order, with the guards that were allowed."""

    def next_id(self) -> str:
        """See :class:`EditWriter`."""
        self._count += 1
        return f"{self._name}.h{self._count}"

    def held_by_path(self, path: str) -> Held | None:
        """See :class:`EditWriter`. Nothing is asked while an attempt runs."""
        del path
        return None

    def lines_of(self, path: str, old: tuple[str, ...]) -> tuple[int, int] | None:
        """See :class:`EditWriter`. No front end shows where an attempt's hunk would go."""
        del path, old
        return None

    def place_of(self, edit: Hunk) -> tuple[int, int] | None:
        """See :class:`EditWriter`."""
        del edit
        return None

    def divide(self, edit: Hunk, request: str) -> tuple[Hunk, ...]:
        """The hunks that the whole file ``edit`` consists of."""
        return self._landing.divide(edit, request, dry_run=True)

    def meant(self, edit: Hunk) -> str | None:
        """The file whose text the sample ``edit`` is; None where it is not that of one file."""
        return self._landing.meant(edit)

    def check(self, hunk: str, edit: Hunk) -> Landed | Refused:
        """See :class:`EditWriter`."""
        return self._landing.weigh(edit, hunk_id=hunk)

    def write(self, hunk: str, turn: str, edit: Hunk, allow: frozenset[Guard]) -> Landed | Refused:
        """See :class:`EditWriter`."""
        result = self._landing.land(edit, hunk_id=hunk, turn=turn, dry_run=True, allow=self._allow | allow)
        if isinstance(result, Landed) and result.status is not Status.ALREADY_APPLIED:
            # It lands in the file that it was judged in, or not at all.
            judged = replace(edit, path=result.path if result.typed else edit.path, shown=())
            self._landed.append((result, judged, allow))
            for path in self._landing.rehearsed.keys() - self._before.keys():
                self._before[path] = self._tree.read_if_there(path)
        return result

    def recorded(self, hunk: str) -> Landed | None:
        """See :class:`EditWriter`."""
        del hunk
        return None

    def take_back(self, hunk: str) -> Landed | Refused:
        """See :class:`EditWriter`."""
        taken = next(result for result, _, _ in self._landed if result.hunk == hunk)
        others = [each for each in self._landed if each[0].hunk != hunk]
        self._landing.forget()
        self._landed.clear()
        self._before.clear()
        for result, edit, allow in others:
            self.write(result.hunk, "", edit, allow)
        return taken

    def now(self) -> Change:
        """What the attempt does to the project by now."""
        now = dict(self._landing.rehearsed)  # the edit thread may add to it
        files = {path: now[path] for path in sorted(now) if now[path] != self._before.get(path)}
        return Change(tuple(edit for _, edit, _ in list(self._landed)), files, dict(self._before))


class EditedProject:
    """A project as an attempt has it: with the attempt's own edits, which are not on disk. See
    :class:`ReadsProject`."""

    def __init__(self, project: ReadsProject, files: AttemptFiles) -> None:
        self._project = project
        self._files = files

    @property
    def root(self) -> Path:
        """See :class:`ReadsProject`."""
        return self._project.root

    @property
    def snapshot(self) -> Snapshot:
        """See :class:`ReadsProject`."""
        return self._with_edits(self._project.snapshot)

    @property
    def progress(self) -> tuple[int, int]:
        """See :class:`ReadsProject`."""
        return self._project.progress

    def update(self, paths: Iterable[str]) -> Snapshot:
        """See :class:`ReadsProject`."""
        return self._with_edits(self._project.update(paths))

    def _with_edits(self, snapshot: Snapshot) -> Snapshot:
        edited = {path: _source(path, content) for path, content in self._files.now().files.items()}
        if not edited:
            return snapshot
        gone = {path for path, source in edited.items() if isinstance(source, Unread) and source.gone}
        paths = snapshot.paths
        if gone or not edited.keys() <= set(paths):
            paths = tuple(sorted({*paths, *edited} - gone))
        return replace(snapshot, paths=paths, edited=frozen(edited))


def _source(path: str, content: bytes | None) -> Source | Unread:
    if content is None:
        return Unread(path, "deleted by this answer", gone=True)
    return decode_source(path, content)


def changed_lines(diff: str) -> int:
    """The number of lines that ``diff`` adds and removes."""
    marks = ("+", "-")
    heads = ("+++ ", "--- ")
    return sum(line.startswith(marks) and not line.startswith(heads) for line in diff.splitlines())


def _file_diff(path: str, before: bytes | None, after: bytes | None) -> str:
    try:
        old, new = _lines(before, path), _lines(after, path)
    except FileError:
        return f"--- a/{path}\n+++ b/{path}\n(not text)\n"
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    lines = list(difflib.unified_diff(old, new, *names, n=_CONTEXT, lineterm=""))
    if not lines:
        lines = [f"--- {names[0]}", f"+++ {names[1]}"]
    return "".join(f"{line}\n" for line in lines)


def _lines(content: bytes | None, path: str) -> list[str]:
    return [] if content is None else list(split(decode(content, path).text)[0])
