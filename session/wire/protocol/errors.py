"""Reads server errors: their shapes, and the wait that some of them ask for.

Shapes as seen from Responses servers: ``{"type":"error","status":N,"error":{…}}``, the same with the
fields flat, ``response.failed`` with ``response.error``, and plain HTTP bodies (``{"error":…}``,
``{"errors":[…]}``, ``{"message":…}``, ``{"detail":…}``, the last with a list of what FastAPI found wrong).
OpenRouter quotes the server behind it in ``metadata.raw``. ``waits.py`` reads the wait that some ask for.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

from session.wire.protocol.events import ServerError
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.protocol.waits import named_wait, retry_after

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
    r"prompt is too long|maximum context length|exceeds? the (?:available |model'?s? )?context"
    r"|context (?:length|window|size) (?:is |was )?exceeded|exceeds? (?:the )?(?:maximum )?context window",
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
