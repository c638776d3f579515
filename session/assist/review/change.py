"""The change under review: files before and after, and which lines differ.

A review on save looks at the change since each file was last reviewed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from context.disk.source import Source, Unread, decode, read
from context.text.generated import is_unedited
from context.text.secrets import is_secret_file, masked_lines
from edits.files.diff import Change, changes

_DATA = re.compile(r".+\.(?:json[l5]?|ndjson|geojson|[ct]sv|xml|svg|ya?ml|toml|sql|log|txt|po|ipynb)", re.I)
_LONGEST_DATA = 30_000
"""Characters of a file of data that people still read."""
AROUND = 15
"""Lines that a model is shown before and after each changed range."""


@dataclass(frozen=True)
class ReviewedFile:
    """One changed file; ``before`` is None for a new one. Lines are without their ends."""

    path: str
    before: tuple[str, ...] | None
    after: tuple[str, ...]

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What differs, as replaced ranges of lines from 0."""
        return tuple(changes(self.before or (), self.after))

    @cached_property
    def masked(self) -> tuple[list[str], list[str]]:
        """The lines before and after as a model may see them: without secrets."""
        return masked_lines(self.before or ()), masked_lines(self.after)

    def touches(self, start: int, end: int) -> bool:
        """Whether one of the lines ``start`` to ``end`` (from 1, both included) was changed. Where lines were
        only removed, the lines beside the gap count."""
        return self._near(start, end, 0)

    def shows(self, start: int, end: int) -> bool:
        """Whether a model that reviews the change is shown one of these lines."""
        return self._near(start, end, AROUND)

    def _near(self, start: int, end: int, around: int) -> bool:
        for change in self.changes:
            # From 1: the changed lines, or the two beside a gap.
            gap = change.new_start == change.new_end
            first, last = (
                (change.new_start, change.new_end + 1) if gap else (change.new_start + 1, change.new_end)
            )
            if start <= last + around and end >= first - around:
                return True
        return False


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A changed file that is not reviewed, and why, in words for the user."""

    path: str
    why: str


@dataclass(frozen=True, slots=True)
class ReviewedChange:
    """All of a change."""

    files: tuple[ReviewedFile, ...]
    left_out: tuple[LeftOut, ...] = ()

    def file(self, path: str) -> ReviewedFile | None:
        """The file called ``path``."""
        return next((file for file in self.files if file.path == path), None)


def reviewable(path: str, before: Sequence[str] | None, after: Source | Unread) -> ReviewedFile | LeftOut:
    """A changed file, or why it is not sent: it may hold secrets, is no text or is not written by hand."""
    if is_secret_file(path):
        return LeftOut(path, "it may hold secrets")
    if isinstance(after, Unread):
        return LeftOut(path, after.why)
    if is_unedited(path, after.text):
        return LeftOut(path, "it is generated or vendored")
    if len(after.text) > _LONGEST_DATA and _DATA.fullmatch(path):
        return LeftOut(path, "it is a large file of data")
    return ReviewedFile(path, None if before is None else tuple(before), tuple(after.lines))


def lines_in(path: str, data: bytes | None) -> tuple[str, ...] | None:
    """The lines of a file whose bytes were ``data``; None where there was none, or no text."""
    found = decode(path, data) if data is not None else None
    return tuple(found.lines) if isinstance(found, Source) else None


NOT_SHOWN = "models are not shown it"
"""Why a file is not reviewed that the project does not have (yet), or that the user took out."""


class Baselines:
    """The files that were changed since they were last reviewed. :meth:`change` reads files and is called in
    a worker thread, the rest on the event loop."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, tuple[str, ...] | None] = {}
        """The files as they were; None for one that was not there."""
        self._hunks: dict[str, str] = {}
        """The first hunk in each file whose text before it is not looked up yet."""
        self._touched: set[str] = set()
        """The files that changed since they were last reviewed."""
        self._clean: dict[str, dict[bytes, bool]] = {}
        """Of each file the texts that were looked at, and whether nothing is wrong in them."""
        self._head = ""
        """The commit that HEAD was when it was last asked for."""

    def saved(self, path: str, before: tuple[str, ...]) -> None:
        """The user replaced the lines ``before`` by what is on disk now."""
        self._touched.add(path)
        if path not in self._hunks:
            self._texts.setdefault(path, before)

    def based_on(self, head: str) -> None:
        """HEAD is the commit ``head``. Where that is another one than before, nobody typed what differs from
        the files as they were reviewed."""
        if self._head not in ("", head):
            for path in self._texts.keys() - self._touched:
                del self._texts[path]
        self._head = head

    def landed(self, path: str, hunk: str) -> None:
        """A hunk landed in a file."""
        self._touched.add(path)
        if path not in self._texts:
            self._hunks.setdefault(path, hunk)

    def taken(self) -> frozenset[str]:
        """The files that changed; from now on those that change again count."""
        taken, self._touched = frozenset(self._touched), set()
        return taken

    def unknown(self, paths: Collection[str]) -> dict[str, str]:
        """Those of ``paths`` whose text before the first hunk is not known yet, with that hunk."""
        return {path: hunk for path, hunk in self._hunks.items() if path in paths}

    def was(self, path: str, before: bytes | None) -> None:
        """The text of a file before its first hunk; None where it was not there."""
        self._hunks.pop(path, None)
        self._texts.setdefault(path, lines_in(path, before))

    def again(self, paths: Iterable[str]) -> None:
        """These files were taken and not reviewed."""
        self._touched.update(paths)

    def reviewed(self, file: ReviewedFile, *, clean: bool) -> None:
        """A file was reviewed as it is in ``file``, or need not be. Where it is ``clean``, it need not be
        reviewed when it becomes that text again, as by undo and redo; nor for what it was at first."""
        self._texts[file.path] = file.after
        known = self._clean.setdefault(file.path, {_digest(file.before or ()): True})
        if clean and known.get(_digest(file.before or ())):
            known[_digest(file.after)] = True
        else:
            known.setdefault(_digest(file.after), False)

    def is_clean(self, file: ReviewedFile) -> bool:
        """Whether nothing was wrong in a file when it was as it is in ``file``."""
        return self._clean.get(file.path, {}).get(_digest(file.after), False)

    def look_for_others(self) -> None:
        """Another kind of fault is looked for: what was clean need not be any more."""
        self._clean.clear()

    def forget(self) -> None:
        """Begin anew: what was changed so far is not reviewed."""
        self._clean.clear()
        self._texts.clear()
        self._hunks.clear()
        self._touched.clear()

    def texts(self, paths: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The lines of files as they are now; none of one that cannot be read."""
        found = {path: read(self._root, path) for path in paths}
        return {path: () if isinstance(each, Unread) else tuple(each.lines) for path, each in found.items()}

    def change(self, paths: Collection[str], allowed: Collection[str]) -> ReviewedChange:
        """What changed in ``paths`` since the last review; a model may see those that are ``allowed``."""
        files: list[ReviewedFile] = []
        left_out: list[LeftOut] = []
        for path in sorted(paths):
            after = read(self._root, path)
            if isinstance(after, Unread) and after.gone:
                continue
            file = (
                reviewable(path, self._texts.get(path), after)
                if path in allowed
                else LeftOut(path, NOT_SHOWN)
            )
            if isinstance(file, LeftOut):
                left_out.append(file)
            elif file.changes:
                files.append(file)
        return ReviewedChange(tuple(files), tuple(left_out))


def _digest(lines: Sequence[str]) -> bytes:
    return blake2b("\n".join(lines).encode("utf-8", "surrogatepass"), digest_size=16).digest()
