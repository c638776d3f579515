"""Events of a race: several attempts at one prompt, judged by checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class RaceStarted(Event):
    """The attempts of turn ``turn`` begin. ``checks`` are the names of the checks, cheapest first;
    ``input_tokens`` are those of one attempt, ``estimate`` says what the race is likely to take, and
    ``limits`` what it may take at most. A red attempt answers again up to ``rounds`` times, each of which is
    likely to take ``round_estimate``."""

    type: ClassVar[str] = "race.started"
    turn: str
    attempts: int
    checks: tuple[str, ...]
    input_tokens: int
    estimate: str = ""
    limits: str = ""
    rounds: int = 0
    round_estimate: str = ""


@dataclass(frozen=True, slots=True)
class BaselineChecked(Event):
    """A check has run on the project as it was before the attempts; more than once, where tests are flaky."""

    type: ClassVar[str] = "baseline.checked"
    turn: str
    check: str
    status: str
    seconds: float
    findings: tuple[str, ...] = ()
    why: str = ""
    where: str = ""
    walls: str = ""


@dataclass(frozen=True, slots=True)
class AttemptStarted(Event):
    """An attempt's request goes out. ``hint`` is what it was told besides the prompt."""

    type: ClassVar[str] = "attempt.started"
    turn: str
    attempt: int
    model: str
    effort: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class AttemptProgress(Event):
    """How far an attempt is: output tokens so far (an estimate), tokens a second, and hunks that fit and
    that did not."""

    type: ClassVar[str] = "attempt.progress"
    turn: str
    attempt: int
    tokens: int
    rate: float
    hunks: int
    refused: int = 0


@dataclass(frozen=True, slots=True)
class AttemptAnswered(Event):
    """The answer of this number of an attempt is whole. ``lines`` are the changed lines of the files in
    ``paths``."""

    type: ClassVar[str] = "attempt.answered"
    turn: str
    attempt: int
    hunks: int
    lines: int
    paths: tuple[str, ...]
    answer: int = 1


@dataclass(frozen=True, slots=True)
class AttemptChecked(Event):
    """A check has judged an attempt. ``status`` is ``green``, ``red`` or ``unclear``; ``as_before`` says that
    it is red and was so before, with nothing new. ``findings`` are ``path:line: message`` each. ``where`` it
    ran: ``here``, or the name of a worker of the cluster; in which ``walls``: as in
    :class:`CheckEnded`."""

    type: ClassVar[str] = "attempt.checked"
    turn: str
    attempt: int
    check: str
    status: str
    seconds: float
    findings: tuple[str, ...] = ()
    why: str = ""
    as_before: bool = False
    answer: int = 1
    where: str = ""
    walls: str = ""


@dataclass(frozen=True, slots=True)
class AttemptAgain(Event):
    """A red attempt is asked for the answer of this number, with what ``check`` printed. ``tokens`` are those
    that it took so far."""

    type: ClassVar[str] = "attempt.again"
    turn: str
    attempt: int
    answer: int
    check: str
    tokens: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class AttemptEnded(Event):
    """An attempt's end: ``won``, ``green``, ``red``, ``cut`` or ``failed``. ``tokens`` are all it took; of
    ``answers`` the one of number ``answer`` counts. One that ended red can end once more, where its tests
    turned out to be flaky."""

    type: ClassVar[str] = "attempt.ended"
    turn: str
    attempt: int
    status: str
    tokens: int
    why: str = ""
    answer: int = 1
    answers: int = 1


@dataclass(frozen=True, slots=True)
class RaceEnded(Event):
    """A race is decided. The hunks of the ``winner`` follow; without one, ``best`` can be taken. ``again`` is
    how often red attempts answered again."""

    type: ClassVar[str] = "race.ended"
    turn: str
    winner: int | None
    best: int | None
    attempts: int
    green: int
    tokens: int
    seconds: float
    cost: float | None = None
    why: str = ""
    again: int = 0
