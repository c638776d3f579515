"""The one vocabulary of what happens in a session.

The journal stores these events, ``--json`` prints them, and every front end renders nothing else.
Each is a frozen value with a ``type`` tag; :func:`to_dict` and :func:`from_dict` are the JSON form.
Readers ignore types and fields they do not know, so adding either is always safe.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, get_args


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session was opened, or opened again (``resumed``), in the folder ``root``."""

    type: ClassVar[str] = "session.started"
    session: str
    root: str
    model: str
    provider: str
    resumed: bool = False
    instructions: str = ""
    """The version of the instructions in use (see ``session.instructions``)."""


@dataclass(frozen=True, slots=True)
class ModelChosen:
    """The model and effort of the turns to come; ``window`` is the model's context length in tokens."""

    type: ClassVar[str] = "model.chosen"
    model: str
    effort: str
    window: int


@dataclass(frozen=True, slots=True)
class PromptSubmitted:
    """The user's words, as given. ``kind`` is ``prompt`` or ``redirect``."""

    type: ClassVar[str] = "prompt.submitted"
    turn: str
    text: str
    kind: str = "prompt"


@dataclass(frozen=True, slots=True)
class PromptQueued:
    """A prompt waits for the running turn to end; ``waiting`` counts the prompts in the queue."""

    type: ClassVar[str] = "prompt.queued"
    text: str
    waiting: int


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The window is built and its request is going out."""

    type: ClassVar[str] = "turn.started"
    session: str
    turn: str
    model: str
    effort: str
    input_tokens: int
    budget: int = 0


@dataclass(frozen=True, slots=True)
class PhaseChanged:
    """The turn moved to another phase of its machine (see ``session.turn``)."""

    type: ClassVar[str] = "turn.phase"
    turn: str
    phase: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's own words; edits are not in it."""

    type: ClassVar[str] = "text.delta"
    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning summary."""

    type: ClassVar[str] = "reasoning.delta"
    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class HunkOpened:
    """The model began to type an edit of ``path``."""

    type: ClassVar[str] = "hunk.open"
    turn: str
    hunk: str
    path: str
    action: str = "update"


@dataclass(frozen=True, slots=True)
class HunkTyped:
    """A piece of a line of an open hunk; ``kind`` is `` ``, ``-`` or ``+``, ``\\n`` ends the line."""

    type: ClassVar[str] = "hunk.typed"
    turn: str
    hunk: str
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class HunkAimed:
    """The place an open hunk will replace, as far as its old text is known: lines ``start`` to ``end``,
    from 1, ``end`` one past the last. It may move until the hunk lands."""

    type: ClassVar[str] = "hunk.aimed"
    turn: str
    hunk: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HunkHeld:
    """A complete hunk waits for the user's word, and all that follow wait behind it. ``guard`` is one of
    ``edits.hunk.Guard``, or ``review``; what becomes of it is told by another event."""

    type: ClassVar[str] = "hunk.held"
    turn: str
    hunk: str
    path: str
    guard: str
    message: str


@dataclass(frozen=True, slots=True)
class HunkLanded:
    """A hunk is on disk. Fields as in the command line's contract; ``moved_to`` is set for a move."""

    type: ClassVar[str] = "hunk.landed"
    turn: str
    hunk: str
    path: str
    status: str
    tier: int
    start: int
    end: int
    action: str = "update"
    moved_to: str | None = None


@dataclass(frozen=True, slots=True)
class HunkRefused:
    """A hunk was not landed; ``code`` is one of ``edits.hunk.RefusalCode``."""

    type: ClassVar[str] = "hunk.refused"
    turn: str
    hunk: str
    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class HunkDropped:
    """A hunk in flight when its turn was interrupted or failed: nothing of it was written."""

    type: ClassVar[str] = "hunk.dropped"
    turn: str
    hunk: str
    path: str


@dataclass(frozen=True, slots=True)
class HunkUndone:
    """The user took a hunk back; ``start`` and ``end`` frame the old text in the file as it is now."""

    type: ClassVar[str] = "hunk.undone"
    hunk: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HunkRedone:
    """The user landed an undone hunk again; ``start`` and ``end`` frame its new text."""

    type: ClassVar[str] = "hunk.redone"
    hunk: str
    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FileSaved:
    """The user saved ``path`` from the editor pane."""

    type: ClassVar[str] = "file.saved"
    path: str


@dataclass(frozen=True, slots=True)
class FilesChanged:
    """Files of the project changed on disk, by whomever; paths are relative to the root."""

    type: ClassVar[str] = "files.changed"
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn so far. ``estimated`` is true when the server did not say them."""

    type: ClassVar[str] = "usage"
    turn: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    reasoning_tokens: int
    estimated: bool = False


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn's last event; ``status`` is ``completed``, ``interrupted`` or ``failed``."""

    type: ClassVar[str] = "turn.ended"
    turn: str
    status: str
    message: str | None = None
    code: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectionChanged:
    """The link to the server: ``offline``, ``connecting``, ``warming``, ``ready``, ``idle``, ``failed``, or
    ``waiting`` for ``seconds`` before the next attempt."""

    type: ClassVar[str] = "connection"
    state: str
    message: str | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """One line for the person; ``level`` is ``info``, ``warning`` or ``error``."""

    type: ClassVar[str] = "notice"
    level: str
    text: str


@dataclass(frozen=True, slots=True)
class ApplyEnded:
    """The last line of ``spark apply``: how many hunks landed, were refused, were there already."""

    type: ClassVar[str] = "apply.ended"
    landed: int
    refused: int
    already_applied: int


Event = (
    SessionStarted
    | ModelChosen
    | PromptSubmitted
    | PromptQueued
    | TurnStarted
    | PhaseChanged
    | TextDelta
    | ReasoningDelta
    | HunkOpened
    | HunkTyped
    | HunkAimed
    | HunkHeld
    | HunkLanded
    | HunkRefused
    | HunkDropped
    | HunkUndone
    | HunkRedone
    | FileSaved
    | FilesChanged
    | Usage
    | TurnEnded
    | ConnectionChanged
    | Notice
    | ApplyEnded
)

_BY_TYPE: dict[str, Any] = {event.type: event for event in get_args(Event)}


def to_dict(event: Event) -> dict[str, Any]:
    """The JSON form of ``event``; optional fields that are None are left out."""
    values = {field.name: getattr(event, field.name) for field in fields(event)}
    return {"type": event.type, **{name: value for name, value in values.items() if value is not None}}


def from_dict(record: dict[str, Any]) -> Event | None:
    """The event of a JSON object, or None for a type this version does not know.

    Raises TypeError when a known type lacks a field it needs, or has one of another kind.
    """
    name = record.get("type")
    kind = _BY_TYPE.get(name) if isinstance(name, str) else None
    if kind is None:
        return None
    values = {}
    for field in fields(kind):
        if field.name in record:
            values[field.name] = _value(record[field.name], str(field.type), f"{name}.{field.name}")
    event: Event = kind(**values)
    return event


def _value(value: Any, annotation: str, where: str) -> Any:
    """``value`` from JSON as the field's type, which ``annotation`` names; raises TypeError if it is not."""
    if annotation == "tuple[str, ...]" and isinstance(value, list | tuple):
        if all(isinstance(part, str) for part in value):
            return tuple(value)
    elif type(value).__name__ in annotation.split(" | ") or (value is None and "None" in annotation):
        return value
    raise TypeError(f"{where} must be {annotation}, not {value!r}")
