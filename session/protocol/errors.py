"""Server errors: the shapes they come in, and the wait some of them ask for.

Shapes as seen from Responses servers: ``{"type":"error","status":N,"error":{…}}``, the same with the
fields flat, ``response.failed`` with ``response.error``, and plain HTTP bodies (``{"error":…}``,
``{"detail":…}``, ``{"message":…}``).
"""

from __future__ import annotations

import re
from typing import Any

from session.protocol.events import ServerError
from session.protocol.waits import header_wait, retry_after

_LONGEST_MESSAGE = 2_000
_CONTEXT_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "request_too_large"}
)
# Only OpenAI has a code for it; the others say it in words.
_CONTEXT_WORDS = re.compile(
    r"prompt is too long|maximum context length|exceeds? the (?:available |model'?s? )?context"
    r"|context (?:length|window|size) (?:is |was )?exceeded|exceeds? (?:the )?(?:maximum )?context window",
    re.IGNORECASE,
)


def read_error(body: dict[str, Any]) -> ServerError:
    """The error in ``body``, in whichever shape; what is missing stays empty, never raises."""
    inner = body.get("error")
    fields = inner if isinstance(inner, dict) else body
    message = _text(fields.get("message")) or _text(inner) or _text(fields.get("detail"))
    kind = _text(fields.get("type"))
    code = _text(fields.get("code")) or ("" if kind == "error" else kind)
    message = message or code or "the server reported an error without saying which"
    status = next((n for n in (body.get("status"), fields.get("status")) if _is_status(n)), None)
    wait = _named_wait(body, fields)
    return ServerError(
        code, message[:_LONGEST_MESSAGE], status, retry_after(message) if wait is None else wait
    )


def is_context_overflow(code: str, message: str) -> bool:
    """Whether the error says that the request is longer than the model's window."""
    return code in _CONTEXT_CODES or _CONTEXT_WORDS.search(message) is not None


def _named_wait(body: dict[str, Any], fields: dict[str, Any]) -> float | None:
    """A wait given as a field or as a ``retry-after`` header repeated in the frame."""
    for value in (fields.get("retry_after"), fields.get("resets_in_seconds")):
        wait = None if isinstance(value, bool) else header_wait({"retry-after": str(value)})
        if wait is not None:
            return wait
    headers = body.get("headers")
    if not isinstance(headers, dict):
        return None
    return header_wait({str(name).lower(): str(value) for name, value in headers.items()})


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9 else ""


def _is_status(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599
