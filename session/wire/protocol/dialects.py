"""The dialects by name: each one's path, its request encoder and its answer decoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from session.wire.protocol.events import WireEvent
    from session.wire.protocol.items import Sent
    from session.wire.protocol.request import RequestProfile


class Decoder(Protocol):
    """Reads one answer. It raises for nothing that a server sends."""

    @property
    def finished(self) -> bool:
        """True after the answer's last event."""

    def feed(self, frame: str | bytes | bytearray) -> list[WireEvent]:
        """The events in ``frame``, one complete event of the stream."""

    def end(self) -> list[WireEvent]:
        """The last events when the stream ends; empty if the answer is not complete."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """One API over HTTP. ``path`` follows the base URL, or its parent if it begins with ``/..``. ``encode``
    returns the request's body."""

    name: str
    path: str
    encode: Callable[[RequestProfile, Sequence[Sent]], dict[str, Any]]
    decoder: Callable[[RequestProfile], Decoder]
    """Makes the decoder for an answer to a request with this profile."""
    encode_warm_up: Callable[[RequestProfile], dict[str, Any]] | None = None
    """The body of a request that only fills the server's cache; None where there is no such request."""


def origin(name: str, profile: RequestProfile) -> str:
    """The mark of reasoning that comes in the dialect ``name``: what else may be asked with it."""
    return f"{name} {profile.model}"


NAMES = ("responses", "chat", "messages")
FIM_PATHS = {
    "completions": "/completions",
    "tokens": "/completions",
    "infill": "/../infill",
    "fim": "/fim/completions",
    "beta": "/../beta/completions",
}
"""The paths of the dialects that fill in the middle, for suggestions alone."""
FIM_NAMES = tuple(FIM_PATHS)


def dialect(name: str) -> Dialect:
    """The dialect called ``name``, of :data:`NAMES` or :data:`FIM_NAMES`. Raises KeyError for others."""
    if name == "chat":
        from session.wire.protocol.chat import ChatDecoder, encode_chat

        def chat_decoder(profile: RequestProfile) -> Decoder:
            return ChatDecoder(origin(name, profile), keeps_reasoning=bool(profile.reasoning_field))

        return Dialect(name, "/chat/completions", encode_chat, chat_decoder)
    if name == "messages":
        from session.wire.protocol.messages import MessagesDecoder, encode_messages, encode_warm_up

        return Dialect(
            name,
            "/messages",
            encode_messages,
            lambda profile: MessagesDecoder(origin(name, profile)),
            encode_warm_up,
        )
    if name == "responses":
        from session.wire.protocol.responses import ResponseDecoder, encode_response

        return Dialect(
            name, "/responses", encode_response, lambda profile: ResponseDecoder(origin(name, profile))
        )
    if name in FIM_NAMES:
        from session.wire.protocol import fim

        own = {"infill": fim.encode_infill, "fim": fim.encode_fim, "tokens": fim.encode_tokens}
        encode = own.get(name, fim.encode_completions)
        return Dialect(name, FIM_PATHS[name], encode, lambda profile: fim.FimDecoder(origin(name, profile)))
    raise KeyError(name)
