"""The findings that are open: reported, and neither landed, dismissed nor outdated.

Those that the user dismissed are kept in the project's state folder, by what their lines say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.assist.review.change import ReviewedChange, ReviewedFile
from session.assist.review.finding import ReviewFinding
from session.base.events import Event, FindingClosed, FindingReported
from session.base.storage.private_files import StoreError, changed_alone, replace_private

NAME = "dismissed.json"
MOST = 1_000
"""Dismissals that are kept, the newest."""


@dataclass(frozen=True, slots=True)
class Dismissal:
    """A finding that is not to be shown again while its lines say the same."""

    path: str
    kind: str
    message: str
    content: str
    """A digest of the lines, without their indentation."""


def content_of(lines: Iterable[str]) -> str:
    """The digest of lines: it does not depend on where they stand, nor on how far they are indented."""
    text = "\n".join(filter(None, map(str.strip, lines)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Dismissals:
    """The dismissals of one project, whose state is in ``folder``. :meth:`read` and :meth:`add` touch the
    disk, and are called in a worker thread."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / NAME
        self._known: tuple[Dismissal, ...] = ()

    @property
    def known(self) -> tuple[Dismissal, ...]:
        """The dismissals as they were last read, oldest first."""
        return self._known

    def covers(self, path: str, kind: str, message: str, lines: Sequence[str]) -> bool:
        """Whether a finding was dismissed: in this file, about lines that say the same, and of the same kind
        or in the same words."""
        content = content_of(lines)
        return any(
            each.path == path and each.content == content and (each.kind == kind or each.message == message)
            for each in self._known
        )

    def read(self) -> None:
        """Read them again. Raises StoreError where they cannot be read."""
        try:
            rows = json.loads(self._file.read_text("utf-8"))["dismissed"]
            self._known = tuple(Dismissal(**{key: str(row[key]) for key in _FIELDS}) for row in rows)
        except FileNotFoundError:
            self._known = ()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise StoreError(
                f"the dismissed findings in {self._file} cannot be read ({problem}); "
                "repair or remove that file"
            ) from problem

    def add(self, dismissal: Dismissal) -> None:
        """Keep one more. Raises StoreError where it cannot be written."""
        try:
            with changed_alone(self._file.parent):
                self.read()
                kept = [each for each in self._known if each != dismissal][-(MOST - 1) :]
                self._known = (*kept, dismissal)
                rows = {"dismissed": [asdict(each) for each in self._known]}
                replace_private(self._file, json.dumps(rows, indent=1).encode())
        except OSError as problem:
            raise StoreError(f"the dismissal cannot be kept in {self._file}: {problem.strerror}") from problem


_FIELDS = ("path", "kind", "message", "content")


class OpenFindings:
    """Built from events. Findings are not kept when the session ends: files change meanwhile."""

    def __init__(self) -> None:
        self._open: dict[str, FindingReported] = {}
        self._last = 0

    def take(self, event: Event) -> None:
        """Take ``event`` into account; most kinds of event change nothing."""
        match event:
            case FindingReported(finding=name):
                self._open[name] = event
                self._last += 1
            case FindingClosed(finding=name):
                self._open.pop(name, None)
            case _:
                pass

    def __len__(self) -> int:
        return len(self._open)

    def get(self, name: str) -> FindingReported | None:
        """The open finding called ``name``."""
        return self._open.get(name)

    def of(self, paths: Iterable[str]) -> list[FindingReported]:
        """The open findings in these files, oldest first."""
        wanted = set(paths)
        return [each for each in self._open.values() if each.path in wanted]

    def report(self, file: ReviewedFile, found: ReviewFinding, by: str) -> FindingReported:
        """The event for a new finding in ``file``."""
        fix = found.fix
        return FindingReported(
            finding=f"f{self._last + 1}",
            path=found.path,
            start=found.start,
            end=found.end,
            severity=str(found.severity),
            kind=found.kind,
            message=found.message,
            why=found.why,
            by=by,
            lines=file.after[found.start - 1 : found.end],
            fix_start=fix.start if fix is not None else 0,
            fix_old=fix.old if fix is not None else (),
            fix_new=fix.new if fix is not None else (),
        )

    def same(self, found: FindingReported) -> FindingReported | None:
        """The open finding that says the same of lines that say the same."""
        content = content_of(found.lines)
        return next(
            (
                each
                for each in self.of([found.path])
                if content_of(each.lines) == content
                and (each.kind == found.kind or each.message == found.message)
            ),
            None,
        )

    def outdated(self, change: ReviewedChange) -> list[str]:
        """The open findings whose lines are in the changed files no more."""
        return [name for file in change.files for name in self.gone(file.path, file.after)]

    def gone(self, path: str, lines: Sequence[str]) -> list[str]:
        """The open findings in ``path`` whose lines are not among ``lines``, which are all of it."""
        return [each.finding for each in self.of([path]) if place_of(each, lines) is None]

    def not_found_again(self, change: ReviewedChange, found: frozenset[str]) -> list[str]:
        """The model's findings on lines of ``change`` that a whole review of it did not find again."""
        return [
            each.finding
            for file in change.files
            for each in self.of([file.path])
            if each.by == MODEL
            and each.finding not in found
            and (place := place_of(each, file.after)) is not None
            and file.touches(place, place + max(1, len(each.lines)) - 1)
        ]


MODEL = "model"


def place_of(finding: FindingReported, lines: Sequence[str]) -> int | None:
    """The line, from 1, where the finding's lines begin in ``lines``: the place nearest to where they were.
    None where they are not there any more."""
    wanted = list(finding.lines)
    if not wanted:
        return finding.start if finding.start <= len(lines) else None
    at = finding.start - 1
    if list(lines[at : at + len(wanted)]) == wanted:
        return finding.start
    places = (
        row
        for row, line in enumerate(lines)
        if line == wanted[0] and list(lines[row : row + len(wanted)]) == wanted
    )
    nearest = min(places, key=lambda row: abs(row - at), default=None)
    return None if nearest is None else nearest + 1


def hunk_of(finding: FindingReported) -> Hunk | None:
    """The finding's fix as a hunk; None where it has none."""
    if not finding.fix_old:
        return None
    lines = (
        *(HunkLine(LineKind.OLD, text) for text in finding.fix_old),
        *(HunkLine(LineKind.NEW, text) for text in finding.fix_new),
    )
    return Hunk(finding.path, Action.UPDATE, Format.UNIFIED, lines, line_hint=finding.fix_start)
