"""A partner's script: scenarios with their answers, hunks and redirects, and faults to produce.

Scripts are TOML files, described in docs/partner.md; :mod:`session.partner.load_script` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from edits.hunk import Hunk
from session.wire.protocol.dialects import FIM_NAMES, NAMES

ANYTHING = "*"
PRACTICE_MODELS = ("spark-practice", "spark-practice-text")
"""The models that the partner lists if a script names none: the catalogue's rows for it."""


@dataclass(frozen=True, slots=True)
class Think:
    """Reasoning, streamed as a summary. ``limit`` cuts a streamed step after that many tokens."""

    text: str
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Say:
    """Text of the answer."""

    text: str
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Patch:
    """Edits, by the ids of their hunks. It ends a round; the answer continues after its result."""

    hunks: tuple[str, ...]
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a function tool; ``arguments`` is sent unchanged, JSON or not. ``id`` is the call's id, or
    empty for one that no other call has."""

    tool: str
    arguments: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Calls:
    """Calls made together. They end a round; the answer continues after all their results."""

    calls: tuple[Call, ...]
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """In a redirect: the rest of the interrupted answer, with its own text before each patch."""


@dataclass(frozen=True, slots=True)
class Stall:
    """Send nothing for this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Fail:
    """End the response with an error. ``shape`` is ``nested``, ``flat`` or ``response``."""

    code: str
    message: str
    status: int = 400
    shape: str = "nested"
    once: bool = False
    """Whether to fail only once, and not when the client resumes the answer."""
    retry_after: float | None = None
    """Seconds that the client is asked to wait."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the connection with a close frame, or with ``code`` 0 by cutting the socket."""

    code: int = 0
    reason: str = ""
    once: bool = False
    """Whether to close only once, and not when the client resumes the answer."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """Send these frames unchanged, as text or binary."""

    frames: tuple[str | bytes, ...]


Step = Think | Say | Patch | Calls | Rest | Stall | Fail | Close | Garbage


@dataclass(frozen=True, slots=True)
class Redirect:
    """How a scenario continues after it is interrupted and redirected.

    ``drop`` names the scenario's hunks that are then no longer wanted. Words that have all of a phrase of
    ``match`` ask for it too, where the script reads redirects.
    """

    prompt: str
    steps: tuple[Step, ...]
    drop: frozenset[str] = frozenset()
    match: tuple[str, ...] = ()

    def fits(self, words: str) -> bool:
        """Whether ``words`` ask for it."""
        same = _plain(words) == _plain(self.prompt)
        return same or any(_phrase_score(phrase, words) for phrase in self.match)


@dataclass(frozen=True, slots=True)
class Scenario:
    """One thing the partner can be asked. ``hunks`` holds the redirect's hunks too.

    ``match`` lists phrases; a request matches one when it has all its words (or their beginnings).
    ``times`` is how often the scenario may begin before the next one that matches is used, and ``chance`` how
    likely it is to be used at all; else the next one is.
    """

    id: str
    prompt: str
    match: tuple[str, ...]
    steps: tuple[Step, ...]
    hunks: dict[str, Hunk] = field(default_factory=dict)
    redirect: Redirect | None = None
    times: int | None = None
    chance: float = 1.0
    name: str = ""
    """What it adds, as the code calls it: a redirect can ask for another name."""

    def score(self, words: str) -> int:
        """How well a request fits: 0 for not at all, the most for the prompt itself."""
        if _plain(words) == _plain(self.prompt):
            return 1_000
        return max((_phrase_score(phrase, words) for phrase in self.match), default=0)

    def is_redirect(self, words: str) -> bool:
        """Whether ``words`` are the redirect's prompt."""
        return self.redirect is not None and _plain(words) == _plain(self.redirect.prompt)


@dataclass(frozen=True, slots=True)
class Handshake:
    """Answer every upgrade, or every POST, with this HTTP status and body."""

    status: int
    body: str = ""
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Script:
    """Everything a partner plays. With a ``seed``, chances fall the same in each run.

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
    """The refusal of every POST, if there is one."""
    dialects: tuple[str, ...] = (*NAMES, *FIM_NAMES)
    """The dialects that are served over HTTP; others are not found."""
    seed: int | None = None
    steer: str = "yes"
    """What becomes of a prompt in the middle of an answer over WebSocket: ``yes``, ``unsupported`` (it is
    given back), ``unknown`` (an error, as without such an event) or ``late`` (the answer ends first)."""
    deflate: bool = False
    """Whether WebSockets are compressed, with the whole window."""
    reads_redirects: bool = False
    """Whether a redirect is answered by what it asks for (:mod:`session.partner.redirects`); else any words
    that fit no scenario redirect the answer as the scenario says."""
    plan: bool = False
    """Whether it serves as the route of a ChatGPT plan, with what that refuses and its list of models."""

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
