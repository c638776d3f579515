"""What is red now, by the verdicts of checks, and which verdicts of a past session still stand. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from session.base.events import CheckEnded, Event, FileSaved, HunkChecked, HunkLanded, HunkRedone, HunkUndone
from session.checks.red_request import Red, red_request


class RedNow:
    """Keeps what is red up to date with a session's events."""

    def __init__(self, past: Iterable[Event] = ()) -> None:
        self._red: dict[tuple[str, str], list[Red]] = {}
        """By hunk, or by nothing for what was found in the project; and by check."""
        for event in standing(past):
            self.take(event)

    def take(self, event: Event) -> None:
        """Take note of what happens in the session."""
        match event:
            case HunkChecked(hunk=hunk, check=check):
                found = event.findings()
                self._red[hunk, check] = [_red(event.path, line, message, check) for line, message in found]
            case HunkUndone(hunk=hunk):
                self._red = {key: red for key, red in self._red.items() if key[0] != hunk}
            case CheckEnded(check=check, status=status):
                self._red = {key: red for key, red in self._red.items() if key[1] != check}
                if status == "red":
                    told = event.findings or (event.why,)
                    self._red["", check] = [_found(each, check) for each in told]
            case _:
                pass

    def request(self) -> str:
        """What asks the model to mend what is red; empty where nothing is."""
        return red_request(chain.from_iterable(self._red.values()))


def _red(path: str, line: int, message: str, check: str) -> Red:
    return Red(f"{path}:{line}" if line else path, message, check)


def _found(finding: str, check: str) -> Red:
    place, colon, message = finding.partition(": ")
    return Red(place if colon else "", message or finding, check)


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
