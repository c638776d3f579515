"""Parses server-sent events and frames into JSON objects, and writes a request's body as JSON.

Server-sent events come in chunks of any size; what is given back is the data of complete events. Source: the
WHATWG HTML standard, section "Server-sent events". Line ends may be LF, CR or CRLF; a byte order mark at the
start is skipped; comments, ids and retry times are ignored. Beyond the standard, an event of JSON needs no
empty line after it: some servers send none, or none after the last.

Gateways and small servers ignore ``stream: true``, or label an event stream ``application/json``. The first
character of a body tells which it is: no line of an event stream begins with a brace or a bracket.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

DEEPEST = 64
"""The deepest nesting of untrusted JSON that a request may carry."""
_DECODER = json.JSONDecoder()
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


class NotAnObject(ValueError):
    """The frame is not one JSON object."""


def parse_object(frame: str | bytes | bytearray) -> dict[str, Any]:
    """The JSON object in ``frame``; every string in it can be encoded as UTF-8.

    Bytes are read as UTF-8. An invalid sequence becomes U+FFFD, so a bad byte costs one character and
    not the answer. Raises :class:`NotAnObject`, with the reason, for anything else.
    """
    is_text = isinstance(frame, str)
    text = frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
    try:
        value = _read_json(text)
        # A lone surrogate comes only from an escape, or from a str that already holds one.
        if ("\\u" in text and _SURROGATE_ESCAPE.search(text)) or (is_text and not _encodable(text)):
            value = _clean(value)
    except RecursionError:
        raise NotAnObject("nested too deeply") from None
    except ValueError as error:
        raise NotAnObject(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise NotAnObject(f"a JSON {type(value).__name__} where an object was expected")
    return value


def is_object(text: str | bytes) -> bool:
    """Whether ``text`` is one JSON object."""
    try:
        parse_object(text)
    except NotAnObject:
        return False
    return True


def _read_json(text: str) -> Any:
    """``json.loads`` without its two searches for white space, which servers rarely send."""
    try:
        value, end = _DECODER.raw_decode(text)
    except ValueError:
        return json.loads(text)  # it starts with white space, or is invalid: the error then has the position
    return value if end == len(text) else json.loads(text)


def write_body(body: dict[str, Any]) -> str:
    """``body`` as JSON that can be encoded as UTF-8. Raises ValueError for any other value."""
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except TypeError as error:
        raise ValueError(f"the request cannot be written as JSON: {error}") from error
    # A lone surrogate in the user's own text must not stop the request.
    return text.encode("utf-8", "replace").decode("utf-8")


def _encodable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _clean(value: Any) -> Any:
    """``value`` with lone surrogates replaced and split pairs joined, in keys and strings alike."""
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    return value


def can_be_sent(value: object, levels: int = DEEPEST) -> bool:
    """Whether every server accepts ``value`` as JSON. NaN, infinity, a lone surrogate or deep nesting would
    make each request that carries it invalid."""
    if isinstance(value, str):
        return _encodable(value)
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return levels > 0 and all(
            can_be_sent(key) and can_be_sent(each, levels - 1) for key, each in value.items()
        )
    return not isinstance(value, list) or (
        levels > 0 and all(can_be_sent(each, levels - 1) for each in value)
    )


MAX_EVENT_BYTES = 16 * 1024 * 1024
"""The largest event accepted. It is this large because a final event carries the whole response."""
_LINE_BYTES = 32
"""What a line counts for besides its text: lines without text take memory too."""
_BOM = b"\xef\xbb\xbf"
_DONE = b"[DONE]"
_ANSWERS = ("choices", "output", "content")
"""What the whole answers of the dialects hold: Chat, Responses, and Messages or what fills in the middle."""


class EventTooLarge(ValueError):
    """One event is larger than the limit."""


class EventStream:
    """Splits a stream into events: ``feed(chunk) -> [data, …]``, the data as bytes."""

    def __init__(self, max_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_bytes
        self._parts: list[bytes] = []
        self._held = 0
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._start = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The data of the events that ``chunk`` completes. Raises :class:`EventTooLarge`."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = chunk.split(b"\n")
        events: list[bytes] = []
        if lines and self._parts:
            lines[0] = b"".join((*self._parts, lines[0]))
            self._parts.clear()
            self._held = 0
        if lines and self._start:
            self._start = False
            lines[0] = lines[0].removeprefix(_BOM)
        for line in lines:
            if not line:
                events += self._event()
            elif line.startswith(b"data:"):
                value = line[6:] if line[5:6] == b" " else line[5:]
                # Within one JSON value a closing brace is never followed by an opening one.
                if self._data and value.startswith((b"{", _DONE)) and self._data[-1].rstrip()[-1:] == b"}":
                    events += self._event()
                self._data.append(value)
                self._data_bytes += len(value) + _LINE_BYTES
        if rest:
            self._parts.append(rest)
            self._held += len(rest) + _LINE_BYTES
        if self._held + self._data_bytes > self._max:
            raise EventTooLarge(f"an event of more than {self._max:,} bytes")
        return events

    def end(self) -> list[bytes]:
        """The last event where the stream ends without the empty line after it, if that event is whole."""
        rest, self._parts = b"".join(self._parts), []
        events = self.feed(rest + b"\n") if rest else []
        for data in self._event():
            events += [data] if data.strip() == _DONE or is_object(data) else []
        return events

    def _event(self) -> list[bytes]:
        """The event whose lines have come, if there is one; the next begins."""
        if not self._data:
            return []
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data.clear()
        self._data_bytes = 0
        return [data]


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
