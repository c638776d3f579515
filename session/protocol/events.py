"""The events of an answer as typed values: every dialect's decoder gives these and nothing else.

All text in them comes from the server and is untrusted: it may hold control sequences and markup.
Text is always encodable as UTF-8 (lone surrogates were replaced).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from session.protocol.items import ServerItem


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The server's own count of one response. ``cached_tokens`` are part of ``input_tokens``, and
    ``reasoning_tokens`` part of ``output_tokens``."""

    input_tokens: int
    cached_tokens: int
    output_tokens: int
    reasoning_tokens: int


@dataclass(frozen=True, slots=True)
class Created:
    """The server has taken the request. The id may be chained from while the connection lives."""

    response_id: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer's words (or of a refusal's)."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the reasoning, or of its summary; an empty line stands between its parts."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolInputDelta:
    """A piece of a tool call's input: free text for a custom tool, JSON for a function.

    ``item_id`` is the same for all pieces of one call, and that of its :class:`ItemDone`. ``call_id``
    and ``name`` are empty when the server streams input before it has said whose it is; the call's
    :class:`ItemDone` says it then. ``custom`` is known at once.
    """

    item_id: str
    call_id: str
    name: str
    text: str
    custom: bool = False


@dataclass(frozen=True, slots=True)
class ItemDone:
    """One output item, whole, as the server gave it: what the next request's input repeats.

    ``item_id`` is the name its deltas came under, which need not be the id the server ends it with.
    """

    item: ServerItem
    item_id: str = ""


FinalStatus = Literal["completed", "incomplete", "failed"]


@dataclass(frozen=True, slots=True)
class Finished:
    """The response's last event. ``reason`` says why it is not ``completed``, in the server's words.

    ``output`` holds every output item in order, each also given as :class:`ItemDone` before.
    ``usage`` is None where the server says none.
    """

    status: FinalStatus
    response_id: str
    output: tuple[ServerItem, ...]
    usage: TokenUsage | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ServerError:
    """The server refused the request or gave up. ``code`` is empty when it named none.

    ``status`` is the HTTP status it compares itself to; ``retry_after`` the seconds it asks to wait.
    """

    code: str
    message: str
    status: int | None
    retry_after: float | None
    param: str = ""
    """The field of the request that the error is about, as the server names it."""


@dataclass(frozen=True, slots=True)
class Garbled:
    """A frame that is no event of this dialect. It is counted, never fatal; ``reason`` is for logs."""

    reason: str


WireEvent = (
    Created | TextDelta | ReasoningDelta | ToolInputDelta | ItemDone | Finished | ServerError | Garbled
)
CONTENT = (TextDelta, ReasoningDelta, ToolInputDelta)
"""The events that carry something of an answer."""
