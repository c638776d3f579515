"""What becomes of the dialogue itself: compacted when it takes too much room, and lines kept for ever."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.events.event import Event


@dataclass(frozen=True, slots=True)
class DialogueCompacted(Event):
    """Older turns stand as a ledger from now on; the journal keeps them whole.

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
    """The model's own account of the turns up to ``through``, as far as it could be believed.

    ``rejected`` counts its lines that could not; the tokens are those of the request beside the conversation.
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
    """The user keeps ``text`` word for word through every compaction, as line ``line`` (from 1)."""

    type: ClassVar[str] = "line.remembered"
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class LineForgotten(Event):
    """The user takes a kept line back."""

    type: ClassVar[str] = "line.forgotten"
    line: int
    text: str
