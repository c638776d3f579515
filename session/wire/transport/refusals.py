"""Why a request failed, as one line for the user.

:func:`explain_os` explains failures below HTTP: names, sockets, TLS. :func:`from_server` explains what a
server sends in place of an answer, as an event or as an HTTP status with a body.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import replace

from session.wire.protocol.errors import (
    PREVIOUS_NOT_FOUND,
    header_wait,
    is_context_overflow,
    limit_wait,
    read_error,
)
from session.wire.protocol.events import ServerError
from session.wire.protocol.frames import NotAnObject, parse_object
from session.wire.transport.connect import Http2Error
from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import (
    NO_SUCH_PATH,
    UNTRUSTED,
    LinkError,
    LinkProblem,
    one_line,
    plan_refusal,
)

_BAD_KEY = frozenset(
    {"invalid_api_key", "authentication_error", "permission_denied", "permission_error", "token_expired"}
)
SPENT = frozenset(
    {"usage_limit_reached", "insufficient_quota", "billing_hard_limit_reached", "billing_error"}
)
_UNKNOWN = frozenset({18, 19, 20, 21})
"""OpenSSL's numbers for a certificate that signs itself, or whose authority is not known."""
_NO_HTTP1 = "NO_APPLICATION_PROTOCOL"
"""OpenSSL's word for a server that takes none of the protocols that it was offered."""
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})
_ABOUT_THE_KEY = re.compile(
    r"\b(?:api|access)[ _-]?key\b.{0,40}\b(?:invalid|not valid|incorrect|expired)\b"
    r"|\b(?:invalid|incorrect|expired) api[ _-]?key",
    re.IGNORECASE,
)
"""What is said of a key by servers whose status for it is 400, as Google's is."""
_ELSEWHERE = re.compile(
    r"\b(?:country|region|territory|location)\b|cloudflare|you have been blocked|captcha", re.IGNORECASE
)
"""What is said in a 403 that no other key would change."""
_RATE = frozenset({"rate_limit_exceeded", "rate_limit_error"})
_INVALID_MODEL = "invalid model name"
"""LiteLLM's words for a model it does not have; its status is 400."""
_LIMITED = (429, 503)
"""The statuses of a server that limits its use; with any other, the headers of limits are not what failed."""
_TAGS = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]*>", re.IGNORECASE | re.DOTALL)


class Refusal(Exception):
    """Carries a :class:`ServerError` up to the code that decides what to do about it."""

    def __init__(self, error: ServerError) -> None:
        super().__init__(error.message)
        self.error = error


def explain_os(error: BaseException, endpoint: Endpoint, open_timeout: float) -> LinkError | None:
    """The :class:`LinkError` for a failure of names, sockets or TLS; None for anything else.

    The libraries wrap such failures, so what lies beneath ``error`` is looked at too, the deepest first.
    """
    explained = (_explain_one(cause, endpoint, open_timeout) for cause in _causes(error))
    return next((problem for problem in explained if problem is not None), None)


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in found:
        found.append(cause)
        if isinstance(cause, BaseExceptionGroup):
            cause = min(cause.exceptions, key=_vagueness)
        else:
            cause = cause.__cause__ or cause.__context__
    return found[::-1]


def _vagueness(error: BaseException) -> int:
    """Rank how little an error explains when a host's addresses fail differently. "No route" (often IPv6)
    explains least, then a refused connection; any other error explains more."""
    if isinstance(error, OSError) and error.errno in _NO_ROUTE:
        return 2
    return 1 if isinstance(error, ConnectionRefusedError) else 0


def _explain_one(error: BaseException, endpoint: Endpoint, open_timeout: float) -> LinkError | None:
    host = endpoint.host

    def unreachable(message: str, code: str = "") -> LinkError:
        return LinkError(LinkProblem.UNREACHABLE, message, code=code)

    if isinstance(error, TimeoutError):
        return unreachable(
            f"{host} did not answer within {open_timeout:g} s: check the network, or the base URL."
        )
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message or "not trusted"
        more = " (SSL_CERT_FILE can name your own authority's file)" if error.verify_code in _UNKNOWN else ""
        return unreachable(f"The TLS certificate of {host} was not accepted: {why}{more}.", UNTRUSTED)
    if (spoken := _speaks_http2(error, endpoint)) is not None:
        return spoken
    if isinstance(error, ssl.SSLError):
        message = f"No TLS connection to {host}: {one_line(error)} (is it a plain http server?)"
        return unreachable(message, UNTRUSTED)
    if isinstance(error, OSError) and (proxy := endpoint.proxy):
        refused = isinstance(error, ConnectionRefusedError)
        why = "nothing listens there" if refused else _reason(error)
        return unreachable(f"The proxy on the way to {host} failed ({proxy}, from the environment): {why}.")
    if isinstance(error, socket.gaierror | UnicodeError):
        return unreachable(f"No host named {host} was found: check the base URL and the network.")
    if isinstance(error, ConnectionRefusedError):
        return unreachable(f"Nothing listens at {host}: start the server, or check the base URL.")
    if isinstance(error, OSError):
        return unreachable(f"{host} could not be reached: {_reason(error)}")
    return None


def speaks_http2(error: BaseException, endpoint: Endpoint) -> LinkError | None:
    """The :class:`LinkError` for a server that speaks HTTP/2 alone; None for any other ``error``."""
    found = (_speaks_http2(cause, endpoint) for cause in _causes(error))
    return next((problem for problem in found if problem is not None), None)


def _speaks_http2(error: BaseException, endpoint: Endpoint) -> LinkError | None:
    if not (isinstance(error, Http2Error) or (isinstance(error, ssl.SSLError) and _NO_HTTP1 in str(error))):
        return None
    host = endpoint.host
    message = (
        f"{host} speaks HTTP/2 alone, which spark does not: name one with HTTP/1.1, or a proxy in front."
    )
    return LinkError(LinkProblem.UNREACHABLE, message, code=UNTRUSTED)


def _reason(error: OSError) -> str:
    """The operating system's message for ``error``, which asyncio replaces by its own."""
    if error.errno and not isinstance(error, socket.gaierror):
        return os.strerror(error.errno)
    return error.strerror or one_line(error)


def cut_off(endpoint: Endpoint) -> LinkError:
    """The :class:`LinkError` for a server that closed the connection before it answered."""
    message = f"{endpoint.host} closed the connection without answering: check the base URL."
    return LinkError(LinkProblem.UNREACHABLE, message)


def read_refusal(status: int, body: bytes, headers: Mapping[str, str]) -> ServerError:
    """Read the error in an HTTP response: its JSON error, or the text of its HTML page."""
    listed = body.lstrip()[:1] == b"["  # Google's servers put the error into a list
    now = time.time()
    try:
        said = read_error(parse_object(b'{"errors":%b}' % body if listed else body), now)
    except NotAnObject:
        words = one_line(_TAGS.sub(" ", body.decode("utf-8", "replace")))
        said = ServerError("", words, None, None)
    if 300 <= status < 400:
        said = ServerError("redirect", "", status, None)
    wait = header_wait(headers, now)
    wait = said.retry_after if wait is None else wait
    if wait is None and status in _LIMITED:
        wait = limit_wait({name.lower(): value for name, value in headers.items()}, now)
    # An error with the status of a success has its own in its code, or none.
    own = said.status if said.status is None or said.status >= 300 else None
    return replace(said, status=own if status < 300 else status, retry_after=wait)


def redirected(host: str, status: int) -> str:
    """What is said of a redirect. The address that it gives is not said: whoever answers in place of the host
    would have the user copy it, and send the key there."""
    return (
        f"{host} answers with a redirect ({status}), which spark does not follow with a key: "
        "look up the base URL in the provider's documentation."
    )


def from_server(error: ServerError, endpoint: Endpoint, model: str) -> LinkError:
    """The :class:`LinkError` for an error the server sent in place of an answer."""
    host, said, code, status = endpoint.host, one_line(error.message), error.code, error.status or 0
    detail = f": {said}" if said else "."

    def problem(kind: LinkProblem, message: str, code: str = code) -> LinkError:
        return LinkError(kind, message, code=code, status=error.status, retry_after=error.retry_after)

    if (of_plan := plan_refusal(error, endpoint.plan)) is not None:
        return of_plan
    no_model = _names_model(said, model) and (status == 404 or _INVALID_MODEL in said.lower())
    if code == "model_not_found" or no_model:
        whose = "key" if endpoint.plan is None else "account"
        return problem(LinkProblem.MODEL, f"{host} does not offer {model} to this {whose}{detail}")
    if status == 403 and code not in _BAD_KEY and _ELSEWHERE.search(f"{code} {said}"):
        return problem(
            LinkProblem.REFUSED, f"{host} does not answer requests from this network (403){detail}"
        )
    if code in _BAD_KEY or status in (401, 403) or (status == 400 and _ABOUT_THE_KEY.search(said)):
        had = f"did not accept the {endpoint.holder}" if endpoint.has_key else "wants an API key"
        return problem(LinkProblem.UNAUTHORIZED, f"{host} {had}{_number(status)}{detail}")
    if code in SPENT or status == 402:
        return problem(
            LinkProblem.SERVER, f"The account's limit at {host} is used up{detail}", code or "billing_error"
        )
    if is_context_overflow(code, error.message):
        return problem(LinkProblem.CONTEXT, f"The request is longer than {model} can read{detail}")
    if code in _RATE or status == 429:
        return problem(LinkProblem.SERVER, f"{host} asks to slow down{detail}")
    if code == "redirect":
        message = redirected(host, status)
        return problem(LinkProblem.REFUSED, message)
    if status in (404, 405, 426, 501) and code != PREVIOUS_NOT_FOUND:
        message = f"{host} does not offer this at the base URL ({status}){detail}"
        return problem(LinkProblem.REFUSED, message, NO_SUCH_PATH)
    if status == 413:
        return problem(LinkProblem.CONTEXT, f"The request is larger than {host} accepts (413){detail}")
    if status >= 500 or "overloaded" in code:
        return problem(LinkProblem.SERVER, f"{host} is not working right now{_number(status)}{detail}")
    return problem(LinkProblem.SERVER, f"{host} could not answer{_number(status)}{detail}")


def _number(status: int) -> str:
    return f" ({status})" if status else ""


def _names_model(said: str, model: str) -> bool:
    words = said.lower()
    return bool(model) and "model" in words and model.lower() in words
