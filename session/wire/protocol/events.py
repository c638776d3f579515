"""The events of an answer as typed values. Every dialect's decoder returns these and nothing else.

All text in them comes from the server and is untrusted: it may hold control sequences and markup.
Text can always be encoded as UTF-8: lone surrogates are already replaced.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from session.wire.protocol.items import ServerItem


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The server's token count for one response. ``cached_tokens`` (read from a cache) and ``written_tokens``
    (written to one) are part of ``input_tokens``, and ``reasoning_tokens`` are part of ``output_tokens``."""

    input_tokens: int
    cached_tokens: int
    output_tokens: int
    reasoning_tokens: int
    written_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Created:
    """The server accepted the request. A later request on the same connection may continue from the id."""

    response_id: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's text, or of a refusal's."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the reasoning, or of its summary; an empty line stands between its parts."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolInputDelta:
    """A piece of a tool call's input: free text for a custom tool, JSON for a function.

    ``item_id`` is the same for all pieces of one call, and for its :class:`ItemDone`. ``call_id``
    and ``name`` are empty while the server has not sent them; the call's :class:`ItemDone` then has
    them. ``custom`` is always known.
    """

    item_id: str
    call_id: str
    name: str
    text: str
    custom: bool = False


@dataclass(frozen=True, slots=True)
class ItemDone:
    """One complete output item as the server sent it. The next request's input repeats it.

    ``item_id`` is the id of its deltas; the server may use another id in the item itself.
    """

    item: ServerItem
    item_id: str = ""


FinalStatus = Literal["completed", "incomplete", "failed"]


@dataclass(frozen=True, slots=True)
class Finished:
    """The response's last event. ``reason`` is the server's reason why it is not ``completed``.

    ``output`` holds every output item in order; each one was an :class:`ItemDone` event before.
    ``usage`` is None if the server sent no token count.
    """

    status: FinalStatus
    response_id: str
    output: tuple[ServerItem, ...]
    usage: TokenUsage | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ServerError:
    """The server refused the request or stopped answering. ``code`` is empty if the server sent none.

    ``status`` is the HTTP status in the error, ``retry_after`` the seconds that it asks to wait.
    """

    code: str
    message: str
    status: int | None
    retry_after: float | None
    param: str = ""
    """The request field that the error is about, as the server names it."""


@dataclass(frozen=True, slots=True)
class Garbled:
    """A frame that is not an event of this dialect. It is counted and never fatal; ``reason`` is for logs."""

    reason: str
    of_message: bool = False
    """Whether it is a part of the model's message, so that words of it may be lost."""


@dataclass(frozen=True, slots=True)
class Steered:
    """The answer that ran before has become this one. ``unread`` counts the characters that it went on for
    after the prompt, which are paid for and which nobody was shown."""

    unread: int


@dataclass(frozen=True, slots=True)
class PromptRead:
    """An engine has read so many ``tokens`` of the request's ``total``; the answer has not begun."""

    tokens: int
    total: int


WireEvent = (
    Created
    | PromptRead
    | TextDelta
    | ReasoningDelta
    | ToolInputDelta
    | ItemDone
    | Finished
    | ServerError
    | Garbled
    | Steered
)
NOT_BEGUN = (Created, PromptRead, Garbled, Steered)
"""The events of an answer that has not begun."""
CONTENT = (TextDelta, ReasoningDelta, ToolInputDelta)
"""The events that carry a piece of an answer."""
