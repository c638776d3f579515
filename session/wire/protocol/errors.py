"""Reads server errors: their shapes, and how long a server asks to wait, wherever it says so.

Shapes as seen from Responses servers: ``{"type":"error","status":N,"error":{…}}``, the same with the
fields flat, ``response.failed`` with ``response.error``, and plain HTTP bodies (``{"error":…}``,
``{"errors":[…]}``, ``{"message":…}``, ``{"detail":…}``, the last with a list of what FastAPI found wrong).
OpenRouter quotes the server behind it in ``metadata.raw``.

All waits are in seconds.

| where | which |
| --- | --- |
| headers | ``retry-after`` (seconds or a date, RFC 9110, 10.2.3), ``retry-after-ms`` |
| headers of limits | ``x-ratelimit-reset*``, ``ratelimit-reset``, ``anthropic-ratelimit-*-reset`` |
| fields | ``retry_after`` and its like, ``resets_at``, Google's ``RetryInfo.retryDelay`` |
| words | "try again in 1m2.5s", "please wait 3 seconds", "retry after 26 seconds" |
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any

from session.wire.protocol.events import ServerError
from session.wire.protocol.frames import NotAnObject, parse_object

_LEAD = (
    r"\b(?:try|retry|retrying|available|wait|resets?|retry[-_]after|cool ?down)\b"
    r"[^.\d\n]{0,40}?(?<![\w.])"
)
_SPAN = (
    r"(?:(\d+) ?d(?:ays?)?)?,? ?(?:(\d+) ?h(?:ours?|rs?)?)?,? ?(?:(\d+) ?m(?:in(?:ute)?s?)?)?"
    r",? ?(?:(\d+(?:\.\d+)?) ?(ms|millis(?:econds?)?|milliseconds?|s|sec(?:ond)?s?))?(?![\w])"
)
_WAIT_WORDS = re.compile(_LEAD + r"(?=\d)" + _SPAN, re.IGNORECASE)
_WAIT_HEADER = re.compile(
    r"\bretry[-_ ]after\W{1,3}(\d+(?:\.\d+)?)(?![\w.]| ?(?:d|h|m|s|sec|min)\b)", re.IGNORECASE
)
"""A header that a message quotes, in seconds."""
_PLAIN_SPAN = re.compile(_SPAN, re.IGNORECASE)
_SECONDS = (
    "retry_after",
    "retryAfter",
    "retry_after_seconds",
    "retryDelay",
    "resets_in_seconds",
    "wait_seconds",
)
_MILLISECONDS = ("retry_after_ms", "retryAfterMs")
_LIMIT = re.compile(r"(?:x-|anthropic-)?ratelimit-(?:reset(?:-.+)?|.+-reset)")
_MOST_LEFT = 0.5
"""The share above which a limit was not reached by one more request."""
_EPOCH = 1e9
"""A number as large as this is a moment since 1970, not a span; a thousand times that is in milliseconds."""


def retry_after(message: str) -> float | None:
    """The wait that a message asks for: "try again in 1.5s", "… in 6m0s", "please wait 3 seconds"."""
    for found in _WAIT_WORDS.finditer(message):
        if any(found.group(1, 2, 3, 4)):
            return _spanned(found)
    quoted = _WAIT_HEADER.search(message)
    return None if quoted is None else sensible(float(quoted[1]))


def span(text: str) -> float | None:
    """A span of time as servers write it: "7", "1.5s", "20ms", "6m0s"."""
    found = _PLAIN_SPAN.fullmatch(text.strip())
    if found is not None and any(found.group(1, 2, 3, 4)):
        return _spanned(found)
    try:
        return sensible(float(text))
    except ValueError:
        return None


def _spanned(found: re.Match[str]) -> float | None:
    days, hours, minutes, amount, unit = found.groups()
    last = float(amount or 0) * (0.001 if (unit or "").lower().startswith("m") else 1.0)
    return sensible(int(days or 0) * 86_400.0 + int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + last)


def named_wait(body: Mapping[str, Any], fields: Mapping[str, Any], now: float | None) -> float | None:
    """The wait in a field of an error, or in headers that it repeats. ``fields`` is the error in ``body``;
    without ``now``, in seconds since 1970, moments tell nothing."""
    for each in _with_details(fields):
        for names, unit in ((_SECONDS, 1.0), (_MILLISECONDS, 0.001)):
            for name in names:
                wait = _field(each.get(name))
                if wait is not None:
                    return wait * unit
        until = each.get("resets_at")
        if isinstance(until, int | float) and until >= _EPOCH and now is not None:
            return max(0.0, until - now)
    metadata = fields.get("metadata")
    quoted = metadata.get("headers") if isinstance(metadata, dict) else None
    for headers in (body.get("headers"), fields.get("headers"), quoted):
        if isinstance(headers, dict):
            lower = {str(name).lower(): str(value) for name, value in headers.items()}
            wait = header_wait(lower, now)
            wait = limit_wait(lower, now) if wait is None else wait
            if wait is not None:
                return wait
    return None


def _with_details(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """``fields``, and what Google lists beside them."""
    yield fields
    details = fields.get("details")
    for each in details if isinstance(details, list) else ():
        if isinstance(each, dict):
            yield each


def _field(value: object) -> float | None:
    if isinstance(value, dict):  # a Duration of protobuf, written out
        seconds = value.get("seconds")
        return None if isinstance(seconds, bool | dict) else span(str(seconds))
    return None if value is None or isinstance(value, bool) else span(str(value))


def header_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """The wait that ``headers`` (names in lower case) ask for, or None.

    A date is compared with the server's own ``date`` header, since clocks differ. Without one, it is
    compared with ``now``, in seconds since 1970.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        wait = span(value) if value else None
        if wait is None:
            until, said = _moment(value), _moment(headers.get("date", ""))
            since = now if said is None else said
            wait = None if until is None or since is None else max(0.0, until - since)
        else:
            wait *= unit
        if wait is not None:
            return wait
    return None


def limit_wait(headers: Mapping[str, str], now: float | None) -> float | None:
    """The seconds until the limit that was reached is reset, by ``headers`` (names in lower case).

    Of several limits that counts of which nothing remains, else the one of which the smallest share does;
    where that is not told, the one that is reset first. One of which most remains was not reached.
    """
    found: list[tuple[float, float]] = []
    for name, value in headers.items():
        wait = _until(value.strip(), now) if _LIMIT.fullmatch(name) else None
        left = _left(headers, name)
        if wait is not None and (left is None or left <= _MOST_LEFT):
            found.append((1.0, wait) if left is None else (left, wait if left else -wait))
    return abs(min(found)[1]) if found else None


def _left(headers: Mapping[str, str], name: str) -> float | None:
    """The share that remains of the limit whose reset ``name`` tells; None where that is not known."""
    remaining, limit = (_number(headers.get(name.replace("reset", word))) for word in ("remaining", "limit"))
    if remaining is None:
        return None
    return min(1.0, remaining / limit) if limit else min(_MOST_LEFT, remaining)


def _number(text: str | None) -> float | None:
    try:
        return sensible(float(text or ""))
    except ValueError:
        return None


def _until(value: str, now: float | None) -> float | None:
    """The seconds until ``value``: a span, a moment since 1970 in seconds or milliseconds, or a date."""
    wait = span(value)
    if wait is not None and wait < _EPOCH:
        return wait
    moment = _moment(value) if wait is None else wait / 1000 if wait >= _EPOCH * 1000 else wait
    return None if moment is None or now is None else max(0.0, moment - now)


def _moment(date: str) -> float | None:
    """An HTTP date, or one of RFC 3339, in seconds since 1970; None if it is no date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        pass
    try:
        moment = datetime.fromisoformat(date)
        return moment.timestamp() if moment.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def sensible(seconds: float) -> float | None:
    """``seconds`` where that is a time to wait."""
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


PREVIOUS_NOT_FOUND = "previous_response_not_found"
"""The code of a server that no longer has the response that a request continues."""
_LONGEST_MESSAGE = 2_000
_DEEPEST = 3
_MOST_FOUND = 5
_NOTHING = "None"
"""What LiteLLM writes into the fields of an error that it does not know."""
_NUMBER = re.compile(r"[1-5]\d\d")
_CONTEXT_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "request_too_large"}
)
# Only some servers have a code for it; for the others the message is searched.
_CONTEXT_WORDS = re.compile(
    r"(?:prompt|input) (?:is )?too long|maximum (?:context|prompt) length|(?:max|limited) context length"
    r"|exceed(?:s|ed)? (?:the |your )?(?:available |maximum |model'?s? )?context"
    r"|context (?:length|window|size) (?:is |was )?exceed(?:s|ed)|with context length of only"
    r"|exceeded model token limit|input tokens? exceeds? the|input token count [^.]{0,40}exceeds? the maximum"
    r"|token count [^.]{0,20}exceeds the limit|range of input length should be"
    r"|reduce the length of (?:the|your) (?:messages|prompt|input)|larger than the context",
    re.IGNORECASE,
)


def read_error(body: dict[str, Any], now: float | None = None) -> ServerError:
    """The error in ``body``, in any of the shapes. Missing fields stay empty; it never raises. ``now``, in
    seconds since 1970, is for errors that name the moment at which a limit ends."""
    fields = _fields(body)
    found = _found_wrong(fields.get("detail"))
    words = (
        *(fields.get(name) for name in ("message", "error", "detail", "msg", "title")),
        body.get("message"),
    )
    message = next(filter(None, map(_text, words)), "") or "; ".join(found.values())
    kind = _text(fields.get("type"))
    code = _text(fields.get("code")) or ("" if kind == "error" else kind)
    message = _with_quoted(message, fields.get("metadata")) or code
    message = message or "the server reported an error without a message"
    said = (body.get("status"), fields.get("status"), fields.get("code"))
    status = next((number for each in said if (number := _status(each)) is not None), None)
    wait = named_wait(body, fields, now)
    return ServerError(
        code,
        message[:_LONGEST_MESSAGE],
        status,
        retry_after(message) if wait is None else wait,
        _text(fields.get("param")) or next(iter(found), ""),
    )


def _fields(body: dict[str, Any]) -> dict[str, Any]:
    """The object that says what is wrong: ``body`` itself, or one within it."""
    fields = body
    for _ in range(_DEEPEST):
        inner = fields.get("error") or fields.get("errors")
        if isinstance(inner, list):
            inner = {"message": inner[0]} if inner and isinstance(inner[0], str) else next(iter(inner), None)
        if not isinstance(inner, dict) or (fields is not body and _text(fields.get("message"))):
            break
        fields = inner
    return fields


def _found_wrong(detail: object) -> dict[str, str]:
    """What FastAPI says of each field of a request, by the field's name: ``{"loc": [...], "msg": …}``."""
    found: dict[str, str] = {}
    for each in detail if isinstance(detail, list) else ():
        place = each.get("loc") if isinstance(each, dict) else None
        if isinstance(place, list) and len(found) < _MOST_FOUND:
            name = ".".join(_text(part) for part in place if part != "body")
            found[name] = f"'{name}': {_text(each.get('msg'))}"
    return found


def _with_quoted(message: str, metadata: object) -> str:
    """``message`` with what the server behind a router said, which it quotes."""
    raw = _text(metadata.get("raw")) if isinstance(metadata, dict) else ""
    if not raw:
        return message
    with contextlib.suppress(NotAnObject):
        raw = read_error({**parse_object(raw), "metadata": None}).message
    return f"{message}: {raw}" if message else raw


def is_context_overflow(code: str, message: str) -> bool:
    """Whether the error says that the request is longer than the model's window."""
    return code in _CONTEXT_CODES or _CONTEXT_WORDS.search(message) is not None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return "" if value == _NOTHING else value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9 else ""


def _status(value: Any) -> int | None:
    """An HTTP status; OpenRouter and LiteLLM put it into the code, the latter as text."""
    number = int(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value
    return number if type(number) is int and 100 <= number <= 599 else None
