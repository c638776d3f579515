"""What is red now, by the verdicts of checks, and which verdicts of a past session still stand. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from session.checks.red_request import Red, red_request
from session.events import (
    CheckEnded,
    Event,
    FileSaved,
    HunkChecked,
    HunkLanded,
    HunkRedone,
    HunkUndone,
)


class RedNow:
    """Keeps what is red up to date with a session's events."""

    def __init__(self, past: Iterable[Event] = ()) -> None:
        self._red: dict[tuple[str, str], Red] = {}
        """By hunk or number, and check."""
        for event in standing(past):
            self.take(event)

    def take(self, event: Event) -> None:
        """Take note of what happens in the session."""
        match event:
            case HunkChecked(hunk=hunk, check=check, status=status):
                self._red.pop((hunk, check), None)
                if status == "red":
                    place = f"{event.path}:{event.line}" if event.line else event.path
                    self._red[hunk, check] = Red(place, event.message, check)
            case HunkUndone(hunk=hunk):
                self._red = {key: red for key, red in self._red.items() if key[0] != hunk}
            case CheckEnded(check=check, status=status):
                self._red = {key: red for key, red in self._red.items() if key[1] != check}
                if status == "red":
                    for number, finding in enumerate(event.findings or (event.why,)):
                        place, colon, message = finding.partition(": ")
                        self._red[str(number), check] = Red(place if colon else "", message or finding, check)
            case _:
                pass

    def request(self) -> str:
        """What asks the model to mend what is red; empty where nothing is."""
        return red_request(self._red.values())


def standing(past: Iterable[Event]) -> list[HunkChecked | CheckEnded]:
    """The last verdicts of a past session, those on the project first: of hunks that were not undone, and of
    checks without what they found in files that changed afterwards."""
    hunks: dict[tuple[str, str], HunkChecked] = {}
    checks: dict[str, CheckEnded] = {}
    for event in past:
        match event:
            case HunkChecked(hunk=hunk, check=check):
                hunks[hunk, check] = event
            case CheckEnded(check=check):
                checks[check] = event
            case HunkUndone(hunk=hunk, path=path):
                hunks = {key: each for key, each in hunks.items() if key[0] != hunk}
                checks = _without(checks, path)
            case HunkLanded(path=path) | HunkRedone(path=path) | FileSaved(path=path):
                checks = _without(checks, path)
            case _:
                pass
    return [*checks.values(), *hunks.values()]


def _without(checks: dict[str, CheckEnded], path: str) -> dict[str, CheckEnded]:
    """``checks`` without what they found in ``path``; those that found nothing else go."""
    left = {}
    for name, ended in checks.items():
        findings = tuple(each for each in ended.findings if not each.startswith(f"{path}:"))
        if findings or not ended.findings:
            left[name] = replace(ended, findings=findings)
    return left
