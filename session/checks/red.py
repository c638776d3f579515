"""What is red now, by the verdicts of checks, and sending it back to the model. Pure.

Verdicts of a past session stand as long as nothing they are about has changed. What asks the model to mend
what checks found has each message once, and what the checks printed, cut to what matters; all in fences, as
data.

Auto-fix sends it by itself, for a bounded number of rounds. A round is one turn. The rounds are counted from
the user's own last prompt, and end at the first that is stopped, fails, lands nothing, or leaves exactly what
was red before it. Where they end red, and an earlier turn left less that is red, the later ones are undone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

from context.text.safe import fenced, fenced_lines
from session.base.events import (
    CheckEnded,
    Event,
    FileSaved,
    HunkChecked,
    HunkLanded,
    HunkRedone,
    HunkUndone,
    PromptSubmitted,
    TurnEnded,
)
from session.checks.mentions import mentions


@dataclass(frozen=True, slots=True)
class Round:
    """The next round: what is sent, and a line for the user."""

    request: str
    told: str


@dataclass(frozen=True, slots=True)
class RoundsOver:
    """No round follows: a line for the user, which is empty where nobody would ask, and the turns to undo so
    that what the best round left is there again."""

    told: str = ""
    undo: tuple[str, ...] = ()
    best: str = ""
    """The turn whose state is the best."""


class AutoFix:
    """Decides after each turn whether a round follows. ``rounds`` is the most of them."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._used = 0
        self._sent = ""
        self._own = False
        """Whether the next prompt is the round that was just decided on."""
        self._turn = ""
        self._landed = False
        self._stopped = False
        self._red: dict[str, int] = {}
        """How much was red after each turn since the user's last prompt."""

    def take(self, event: Event) -> str:
        """Take note of what happens in the session; returns a line for the user, or nothing."""
        match event:
            case PromptSubmitted(turn=turn):
                if not self._own:
                    self._used, self._sent, self._red = 0, "", {}
                self._own = False
                self._turn, self._landed, self._stopped = turn, False, False
            case HunkLanded():
                self._landed = True
            case TurnEnded(turn=turn, status=status) if turn == self._turn and status != "completed":
                self._stopped = True
            case TurnEnded(turn=turn) if turn == self._turn and self._used and not self._landed:
                return f"auto-fix stopped: round {self._used} of {self._rounds} landed nothing"
            case _:
                pass
        return ""

    def stop(self) -> None:
        """No round follows before the next prompt."""
        self._stopped = True

    def judged(self, turn: str, request: str, red: int = 0) -> Round | RoundsOver:
        """Decide after ``turn`` was judged. ``request`` asks to mend what is red, and is empty where nothing
        is; ``red`` counts that."""
        if not self._rounds or turn != self._turn or self._stopped or not self._landed:
            return RoundsOver()
        self._red[turn] = red
        if not request:
            return RoundsOver()
        if request == self._sent:
            return self._end("auto-fix stopped: the last round left what is red as it was")
        if self._used == self._rounds:
            return self._end(
                f"auto-fix stopped after {self._rounds} of {self._rounds} rounds; /fix sends what is red"
            )
        self._used += 1
        self._sent, self._own = request, True
        return Round(request, f"auto-fix {self._used} of {self._rounds}: what is red goes back; Esc stops it")

    def given_up(self) -> RoundsOver:
        """What follows where a round landed nothing."""
        return self._end("")

    def _end(self, told: str) -> RoundsOver:
        best = min(self._red.values())
        turns = list(self._red)
        last = max(at for at, turn in enumerate(turns) if self._red[turn] == best)
        return RoundsOver(told, tuple(reversed(turns[last + 1 :])), turns[last])


MOST_MESSAGES = 20
"""Different messages that are sent at once."""
MOST_PLACES = 4
"""Places that are named for one message."""


@dataclass(frozen=True, slots=True)
class Red:
    """A finding: its place as ``path:line`` or ``path``, which may be empty; what is wrong; the check."""

    place: str
    message: str
    check: str


@dataclass(frozen=True, slots=True)
class Printed:
    """What a red check printed, cut to what matters; the mentions of the lines that this names; and how many
    findings in it were there before any change."""

    check: str
    excerpt: str
    mentions: tuple[str, ...] = ()
    before: int = 0

    def __str__(self) -> str:
        named = f" It names these places: {' '.join(self.mentions)}" if self.mentions else ""
        before = (
            f" {self.before} of its findings were there before any change: leave them." if self.before else ""
        )
        head = f"{self.check} printed this, cut to what matters.{before}{named}"
        return f"\n\n{head}\n{fenced('', self.excerpt)}".rstrip()


def red_request(found: Iterable[Red], printed: Iterable[Printed] = ()) -> str:
    """The request about ``found``, or nothing where that is empty."""
    said: dict[str, list[Red]] = {}
    for each in found:
        said.setdefault(each.message, []).append(each)
    if not said:
        return ""
    lines = [_line(message, reds) for message, reds in said.items()]
    more = [f"… and {len(lines) - MOST_MESSAGES} more"] if len(lines) > MOST_MESSAGES else []
    told = fenced_lines([*lines[:MOST_MESSAGES], *more])
    return f"These checks fail. Mend what they found:\n{told}".rstrip() + "".join(map(str, printed))


def _line(message: str, reds: list[Red]) -> str:
    places = list(dict.fromkeys(red.place for red in reds))
    checks = ", ".join(dict.fromkeys(red.check for red in reds))
    first = f"{places[0]}: " if places[0] else ""
    others = places[1:MOST_PLACES]
    left = len(places) - 1 - len(others)
    tail = f"; the same at {', '.join(others)}{f' and {left} more places' if left else ''}" if others else ""
    return f"- {first}{message} ({checks}){tail}"


class RedNow:
    """Keeps what is red up to date with a session's events."""

    def __init__(self, past: Iterable[Event] = ()) -> None:
        self._red: dict[tuple[str, str], list[Red]] = {}
        """By hunk, or by nothing for what was found in the project; and by check."""
        self._printed: dict[str, Printed] = {}
        self.ended: dict[str, CheckEnded] = {}
        """The last verdict of each check of the project."""
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
                self._printed.pop(check, None)
                self.ended[check] = event
                if status == "red":
                    told = event.findings or (event.why,)
                    self._red["", check] = [_found(each, check) for each in told]
                    if event.excerpt:
                        named = mentions(_placed(each) for each in event.places)
                        self._printed[check] = Printed(check, event.excerpt, named, event.before)
            case _:
                pass

    @property
    def count(self) -> int:
        """How many findings are red."""
        return sum(map(len, self._red.values()))

    def request(self) -> str:
        """What asks the model to mend what is red; empty where nothing is."""
        return red_request(chain.from_iterable(self._red.values()), self._printed.values())


def _red(path: str, line: int, message: str, check: str) -> Red:
    return Red(f"{path}:{line}" if line else path, message, check)


def _found(finding: str, check: str) -> Red:
    place, colon, message = finding.partition(": ")
    return Red(place if colon else "", message or finding, check)


def _placed(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line)


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
                waited = [key for key, each in hunks.items() if key[1] == check and each.status == "pending"]
                hunks = {key: each for key, each in hunks.items() if key not in waited}
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
