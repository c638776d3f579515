"""The dialects by name: where each is served, how a request is written, how an answer is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from session.protocol.events import WireEvent
    from session.protocol.items import Item
    from session.protocol.request import RequestProfile


class Decoder(Protocol):
    """Reads one answer. Nothing a server sends raises."""

    @property
    def finished(self) -> bool:
        """True after the answer's last event."""

    def feed(self, frame: str | bytes | bytearray) -> list[WireEvent]:
        """What one whole event says."""

    def end(self) -> list[WireEvent]:
        """What the end of the stream says: the last events where it was due, none where it was not."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way to speak over HTTP. ``path`` follows the base URL; ``encode`` gives the body."""

    name: str
    path: str
    encode: Callable[[RequestProfile, Sequence[Item]], dict[str, Any]]
    decoder: Callable[[], Decoder]


NAMES = ("responses", "chat", "messages")


def dialect(name: str) -> Dialect:
    """The dialect called ``name``, one of :data:`NAMES`. Raises KeyError for another."""
    if name == "chat":
        from session.protocol.chat import ChatDecoder, encode_chat

        return Dialect(name, "/chat/completions", encode_chat, ChatDecoder)
    if name == "messages":
        from session.protocol.messages import MessagesDecoder, encode_messages

        return Dialect(name, "/messages", encode_messages, MessagesDecoder)
    if name == "responses":
        from session.protocol.responses import ResponseDecoder, encode_response

        return Dialect(name, "/responses", encode_response, ResponseDecoder)
    raise KeyError(name)
