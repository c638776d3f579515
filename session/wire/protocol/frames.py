"""Parses a frame into a JSON object and writes a request's body as JSON."""

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
