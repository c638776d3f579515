"""Events of the dialogue itself: its compaction, and remembered lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from session.base.events.event import Event


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
