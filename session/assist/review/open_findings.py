"""The findings that are open: reported, and neither landed, dismissed nor outdated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.assist.review.change import ReviewedChange, ReviewedFile
from session.assist.review.dismissals import content_of
from session.assist.review.finding import ReviewFinding
from session.base.events import Event, FindingClosed, FindingReported


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
