"""Reads server errors: their shapes, and the wait that some of them ask for.

Shapes as seen from Responses servers: ``{"type":"error","status":N,"error":{…}}``, the same with the
fields flat, ``response.failed`` with ``response.error``, and plain HTTP bodies (``{"error":…}``,
``{"errors":[…]}``, ``{"message":…}``, ``{"detail":…}``, the last with a list of what FastAPI found wrong).
OpenRouter quotes the server behind it in ``metadata.raw``. A wait is in a header (RFC 9110, 10.2.3, and
``retry-after-ms``), in a field, or in the message.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from session.wire.protocol.events import ServerError
from session.wire.protocol.frames import NotAnObject, parse_object

PREVIOUS_NOT_FOUND = "previous_response_not_found"
"""The code of a server that no longer has the response that a request continues."""
_LONGEST_MESSAGE = 2_000
_DEEPEST = 3
_MOST_FOUND = 5
_NOTHING = "None"
"""What LiteLLM writes into the fields of an error that it does not know."""
_NUMBER = re.compile(r"[1-5]\d\d")
_WAIT_WORDS = re.compile(
    r"(?:(?:try|retry) again in|retry after) (?:about |approximately )?"
    r"(?:(\d+) ?d(?:ays?)?)? ?(?:(\d+) ?h(?:ours?|rs?)?)? ?(?:(\d+) ?m(?:in(?:ute)?s?)?)?"
    r" ?(?:(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|sec(?:ond)?s?))?(?![\w])",
    re.IGNORECASE,
)
_CONTEXT_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "request_too_large"}
)
# Only some servers have a code for it; for the others the message is searched.
_CONTEXT_WORDS = re.compile(
    r"prompt is too long|maximum context length|exceeds? the (?:available |model'?s? )?context"
    r"|context (?:length|window|size) (?:is |was )?exceeded|exceeds? (?:the )?(?:maximum )?context window",
    re.IGNORECASE,
)


def read_error(body: dict[str, Any]) -> ServerError:
    """The error in ``body``, in any of the shapes. Missing fields stay empty; it never raises."""
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
    wait = _named_wait(body, fields)
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


def _named_wait(body: dict[str, Any], fields: dict[str, Any]) -> float | None:
    """The wait in a field, or in a ``retry-after`` header that the frame repeats."""
    for value in (fields.get("retry_after"), fields.get("resets_in_seconds")):
        wait = None if isinstance(value, bool) else header_wait({"retry-after": str(value)})
        if wait is not None:
            return wait
    for headers in (body.get("headers"), fields.get("headers")):
        if isinstance(headers, dict):
            wait = header_wait({str(name).lower(): str(value) for name, value in headers.items()})
            if wait is not None:
                return wait
    return None


def _text(value: Any) -> str:
    if isinstance(value, str):
        return "" if value == _NOTHING else value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9 else ""


def _status(value: Any) -> int | None:
    """An HTTP status; OpenRouter and LiteLLM put it into the code, the latter as text."""
    number = int(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else value
    return number if type(number) is int and 100 <= number <= 599 else None


def retry_after(message: str) -> float | None:
    """The seconds that a message asks to wait: "try again in 1.5s", "… in 20 ms", "… in 6m0s"."""
    found = _WAIT_WORDS.search(message)
    if found is None or not any(found.group(1, 2, 3, 4)):
        return None
    days, hours, minutes, amount, unit = found.groups()
    last = float(amount or 0) * (0.001 if (unit or "").lower().startswith("m") else 1.0)
    return _sensible(int(days or 0) * 86_400.0 + int(hours or 0) * 3600.0 + int(minutes or 0) * 60.0 + last)


def header_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """The seconds that ``headers`` (names in lower case) ask to wait, or None.

    A date is compared with the server's own ``date`` header, since clocks differ. Without one, it is
    compared with ``now``, in seconds since 1970.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            wait = _sensible(float(value) * unit)
        except ValueError:
            until, said = _moment(value), _moment(headers.get("date", ""))
            since = now if said is None else said
            wait = None if until is None or since is None else max(0.0, until - since)
        if wait is not None:
            return wait
    return None


def _moment(date: str) -> float | None:
    """An HTTP date in seconds since 1970, or None if it is not a date."""
    try:
        return parsedate_to_datetime(date).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _sensible(seconds: float) -> float | None:
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
