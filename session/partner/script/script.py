"""What the partner knows: scenarios with their answers, hunks and redirects, and faults to show.

Scripts are TOML files, described in docs/partner.md; :mod:`session.partner.script.load` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from edits.hunk import Hunk

ANYTHING = "*"
PRACTICE_MODELS = ("spark-practice", "spark-practice-text")
"""What the partner says it has, where a script does not say: the catalogue's rows for it."""


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning, streamed as a summary. ``limit`` cuts any streamed step after so many tokens."""

    text: str
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Say:
    """Words of the answer."""

    text: str
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """Edits, by the ids of their hunks. It ends a round: the answer goes on when its result is in."""

    hunks: tuple[str, ...]
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function tool; ``arguments`` is sent as it is, JSON or not."""

    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls made together. They end a round: the answer goes on when all their results are in."""

    calls: tuple[Call, ...]
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """In a redirect: what the interrupted answer still owed, its own words before each patch."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Send nothing for so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fail:
    """End the response with an error. ``shape`` is ``nested``, ``flat`` or ``response``."""

    code: str
    message: str
    status: int = 400
    shape: str = "nested"
    once: bool = False
    """Not when the client takes up the answer that this ended."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection: with a close frame, or (``code`` 0) by cutting the socket."""

    code: int = 0
    reason: str = ""
    once: bool = False
    """Not when the client takes up the answer that this cut."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """Send these frames as they are; text or, where they came as hexadecimal, binary."""

    frames: tuple[str | bytes, ...]


Step = Think | Say | Patch | Calls | Rest | Stall | Fail | Close | Garbage


@dataclass(frozen=True, slots=True)
class Redirect:
    """How a scenario goes on when it is interrupted and redirected.

    ``drop`` names the scenario's hunks that are then no longer wanted.
    """

    prompt: str
    steps: tuple[Step, ...]
    drop: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing the partner can be asked. ``hunks`` holds the redirect's hunks too.

    ``match`` lists phrases; a request matches one when it has all its words (or their beginnings).
    ``times`` is how often the scenario may be begun before the next one that matches takes over.
    """

    id: str
    prompt: str
    match: tuple[str, ...]
    steps: tuple[Step, ...]
    hunks: dict[str, Hunk] = field(default_factory=dict)
    redirect: Redirect | None = None
    times: int | None = None

    def score(self, words: str) -> int:
        """How well a request fits: 0 not at all; the prompt itself fits best."""
        if _plain(words) == _plain(self.prompt):
            return 1_000
        return max((_phrase_score(phrase, words) for phrase in self.match), default=0)

    def is_redirect(self, words: str) -> bool:
        """Whether ``words`` are the redirect's own prompt."""
        return self.redirect is not None and _plain(words) == _plain(self.redirect.prompt)


@dataclass(frozen=True, slots=True)
class Handshake:
    """Answer every upgrade, or every POST, with this HTTP status and body."""

    status: int
    body: str = ""
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Script:
    """Everything a partner plays.

    ``refuse_models`` are answered ``model_not_found``. ``warm_up`` is ``yes``, ``unsupported`` (an
    error) or ``ignored`` (it answers instead). ``bare`` leaves out setup events, indices and sequence
    numbers, as some servers do. ``requests_per_connection`` ends a connection's life after so many.
    """

    name: str
    scenarios: tuple[Scenario, ...] = ()
    models: tuple[str, ...] = PRACTICE_MODELS
    refuse_models: frozenset[str] = frozenset()
    warm_up: str = "yes"
    bare: bool = False
    handshake: Handshake | None = None
    requests_per_connection: int | None = None
    http: Handshake | None = None
    """How every POST is refused, if they are."""
    dialects: tuple[str, ...] = ("responses", "chat", "messages")
    """What is served over HTTP; the rest is not found."""

    def choose(self, words: str, exhausted: frozenset[str] = frozenset()) -> Scenario | None:
        """The scenario that fits ``words`` best, the first of equals; None if none does."""
        fitting = [(s.score(words), s) for s in self.scenarios if s.id not in exhausted]
        best = max((score for score, _ in fitting), default=0)
        return next((scenario for score, scenario in fitting if score == best and best > 0), None)


def patches(steps: tuple[Step, ...]) -> Iterator[Patch]:
    """The patches among ``steps``, in order."""
    return (step for step in steps if isinstance(step, Patch))


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _phrase_score(phrase: str, words: str) -> int:
    if phrase == ANYTHING:
        return 1
    text = words.lower()
    wanted = phrase.lower().split()
    found = all(re.search(rf"(?<!\w){re.escape(word)}", text) for word in wanted)
    return 1 + len(wanted) if found and wanted else 0
