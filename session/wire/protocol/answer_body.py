"""The body of an answer over HTTP as frames, whatever it is labelled: an event stream, or one JSON body.

Gateways and small servers ignore ``stream: true``, or label an event stream ``application/json``. The first
character tells which it is: no line of an event stream begins with a brace or a bracket.
"""

from __future__ import annotations

from session.wire.protocol.sse import MAX_EVENT_BYTES, EventStream, EventTooLarge

_BOM = b"\xef\xbb\xbf"
_ANSWERS = ("choices", "output", "content")
"""What the whole answers of the dialects hold: Chat, Responses, and Messages or what fills in the middle."""


class AnswerBody:
    """Splits a body into frames: ``feed(chunk) -> [frame, …]``, then ``end()``, which gives the last ones."""

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_bytes
        self._stream: EventStream | None = None
        self._whole: list[bytes] | None = None
        self._size = 0
        self._start = b""

    @property
    def whole(self) -> bytes | None:
        """The JSON body that has come so far; None where the body is an event stream, or nothing yet."""
        return None if self._whole is None else b"".join(self._whole)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The frames that ``chunk`` completes. Raises :class:`EventTooLarge`."""
        if self._stream is not None:
            return self._stream.feed(chunk)
        if self._whole is None:
            chunk = self._start + chunk
            self._start = b""
            begin = chunk.removeprefix(_BOM).lstrip()
            if not begin or (len(chunk) < len(_BOM) and _BOM.startswith(chunk)):
                self._start = chunk[-self._max :]
                return []
            if begin[:1] not in (b"{", b"["):
                self._stream = EventStream(self._max)
                return self._stream.feed(chunk)
            self._whole, chunk = [], begin
        self._whole.append(chunk)
        self._size += len(chunk)
        if self._size > self._max:
            raise EventTooLarge(f"a body of more than {self._max:,} bytes")
        return []

    def end(self) -> list[bytes]:
        """The last events of a stream that did not end them; none of a JSON body, which :attr:`whole` is."""
        return [] if self._stream is None else self._stream.end()


def is_answer(body: dict[str, object]) -> bool:
    """Whether a JSON body is an answer, and no error: those come with the status 200 too."""
    return not body.get("error") and any(body.get(name) is not None for name in _ANSWERS)
