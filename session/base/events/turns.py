"""Events of a session and its turns: opened, asked, answered, ended; the dialogue's compaction, and
remembered lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


@dataclass(frozen=True, slots=True)
class SessionStarted(Event):
    """A session was opened, or resumed, in the folder ``root``."""

    type: ClassVar[str] = "session.started"
    session: str
    root: str
    model: str
    provider: str
    resumed: bool = False
    instructions: str = ""
    """The version of the instructions in use (see ``session.wire.instructions``)."""


@dataclass(frozen=True, slots=True)
class SessionNamed(Event):
    """The user gave the session a title, which lists of sessions show; an empty one takes it back."""

    type: ClassVar[str] = "session.named"
    title: str


@dataclass(frozen=True, slots=True)
class ModelChosen(Event):
    """The model and effort of the turns to come; ``window`` is the model's context length in tokens, 0 where
    nobody told it, ``fast`` whether a faster tier of the provider is used, ``tier`` which, and ``plan`` the
    words for a plan that pays, if one does."""

    type: ClassVar[str] = "model.chosen"
    model: str
    effort: str
    window: int
    fast: bool = False
    plan: str = ""
    tier: str = ""
    budget: int = 0
    """The most tokens of a request, which is the window without room for the answer; 0 where not told."""


@dataclass(frozen=True, slots=True)
class PromptSubmitted(Event):
    """The user submitted a prompt. ``kind`` is ``prompt`` or ``redirect``."""

    type: ClassVar[str] = "prompt.submitted"
    turn: str
    text: str
    kind: str = "prompt"
    waiting: int = 0
    """Number of prompts that are still queued."""
    typed: str | None = None
    """What the user typed: a part of ``text``, perhaps nothing, where spark wrote the rest, or the command
    that sent it; None where it is ``text``."""


@dataclass(frozen=True, slots=True)
class PromptQueued(Event):
    """A prompt waits for the running turn to end; ``waiting`` counts the prompts in the queue. With ``when``
    ``hunk`` it waits for the hunk that is being typed instead, in place of what waited for that before."""

    type: ClassVar[str] = "prompt.queued"
    text: str
    waiting: int
    when: str = "turn"


@dataclass(frozen=True, slots=True)
class PromptsUnqueued(Event):
    """The user took back queued prompts: ``texts``, oldest first. ``waiting`` counts those that are left."""

    type: ClassVar[str] = "prompt.unqueued"
    texts: tuple[str, ...]
    waiting: int = 0
    number: int | None = None
    """The place in the queue that the prompt had, from 1, or 0 for the one that waited for a hunk; None
    where all of the queue was taken back."""


@dataclass(frozen=True, slots=True)
class TurnStarted(Event):
    """The window is built and its request goes out.

    ``effort`` is empty for a model without efforts; ``effort_why`` says what decided it if the user chose
    ``auto``.
    """

    type: ClassVar[str] = "turn.started"
    session: str
    turn: str
    model: str
    effort: str
    input_tokens: int
    budget: int = 0
    effort_why: str | None = None
    fast: bool = False


@dataclass(frozen=True, slots=True)
class PhaseChanged(Event):
    """The turn entered another phase (see ``session.turn.turn``)."""

    type: ClassVar[str] = "turn.phase"
    turn: str
    phase: str


@dataclass(frozen=True, slots=True)
class PromptRead(Event):
    """An engine has read so many ``tokens`` of the request's ``total``, which takes a processor minutes."""

    type: ClassVar[str] = "prompt.read"
    turn: str
    tokens: int
    total: int


@dataclass(frozen=True, slots=True)
class TextDelta(Event):
    """A piece of the answer's text, without its edits."""

    type: ClassVar[str] = "text.delta"
    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta(Event):
    """A piece of the model's reasoning summary."""

    type: ClassVar[str] = "reasoning.delta"
    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class Usage(Event):
    """The tokens and cost of one turn so far. ``estimated`` says that the server did not report the tokens.

    ``cost`` is in US dollars at list prices, None where they are unknown. ``first_token_seconds`` is from
    the first request to the first token, ``tokens_per_second`` over the time in which tokens arrived,
    ``round_trip_seconds`` for a message to the server and back; None if not measured. ``kept_tokens`` are the
    output tokens that the conversation goes on with, where those are not all: a race's are its winner's.
    ``plan`` is the plan that paid in place of dollars, empty for none.
    """

    type: ClassVar[str] = "usage"
    turn: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    reasoning_tokens: int
    estimated: bool = False
    model: str = ""
    cost: float | None = None
    first_token_seconds: float | None = None
    tokens_per_second: float | None = None
    round_trip_seconds: float | None = None
    kept_tokens: int | None = None
    plan: str = ""


@dataclass(frozen=True, slots=True)
class TurnEnded(Event):
    """A turn's last event; ``status`` is ``completed``, ``interrupted`` or ``failed``."""

    type: ClassVar[str] = "turn.ended"
    turn: str
    status: str
    message: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class DialogueCompacted(Event):
    """A ledger replaces older turns in the window from now on. The journal keeps them whole.

    ``text`` is what the model is shown in place of the first ``turns`` turns, the last of which is
    ``through``. ``before`` and ``after`` are exact tokens of the dialogue as it is sent; ``kept`` and
    ``dropped`` are short lines for the user; ``by`` says who wrote the ledger: ``rules`` or ``model``.
    """

    type: ClassVar[str] = "dialogue.compacted"
    through: str
    turns: int
    before: int
    after: int
    by: str
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class LedgerProposed(Event):
    """The model's own summary of the turns up to ``through``: the lines that passed the checks.

    ``rejected`` counts the other lines; the tokens are those of the request for the summary.
    """

    type: ClassVar[str] = "ledger.proposed"
    through: str
    goal: str
    constraints: tuple[str, ...]
    decisions: tuple[str, ...]
    next: tuple[str, ...]
    rejected: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class LineRemembered(Event):
    """The user keeps ``text`` word for word through every compaction, as line number ``line`` (from 1)."""

    type: ClassVar[str] = "line.remembered"
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class LineForgotten(Event):
    """The user ends a remembered line."""

    type: ClassVar[str] = "line.forgotten"
    line: int
    text: str
