"""Why a server refused us, as one line for the person.

:func:`explain` reads what goes wrong while a connection opens: sockets, TLS, handshakes.
:func:`from_server` reads what a server says on an open one.
"""

from __future__ import annotations

import socket
import ssl

from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidProxy, InvalidStatus, ProxyError

from session.protocol.errors import read_error
from session.protocol.events import ServerError
from session.protocol.frames import NotAnObject, parse_object
from session.transport.endpoint import Endpoint
from session.transport.errors import LinkError, LinkProblem, one_line

_NO_WEBSOCKET = frozenset({404, 405, 426})
_BAD_KEY = frozenset({"invalid_api_key", "authentication_error", "permission_denied", "token_expired"})
_SPENT = frozenset({"usage_limit_reached", "insufficient_quota", "billing_hard_limit_reached"})


def explain(error: Exception, endpoint: Endpoint, open_timeout: float) -> LinkError:
    """The :class:`LinkError` for ``error``, raised while opening a connection to ``endpoint``."""
    host = endpoint.host
    if isinstance(error, InvalidStatus):
        return _status(error, endpoint)
    if isinstance(error, ProxyError | InvalidProxy | ImportError):
        return LinkError(LinkProblem.UNREACHABLE, f"The proxy on the way to {host} failed: {one_line(error)}")
    if isinstance(error, TimeoutError):
        message = f"{host} did not answer within {open_timeout:g} s: check the network, or the base URL."
        return LinkError(LinkProblem.UNREACHABLE, message)
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message or "not trusted"
        return LinkError(LinkProblem.UNREACHABLE, f"The TLS certificate of {host} was not accepted: {why}.")
    if isinstance(error, ssl.SSLError):
        message = f"No TLS connection to {host}: {one_line(error)} (is it a plain http server?)"
        return LinkError(LinkProblem.UNREACHABLE, message)
    if isinstance(error, socket.gaierror | UnicodeError):
        message = f"No host named {host} was found: check the base URL and the network."
        return LinkError(LinkProblem.UNREACHABLE, message)
    if isinstance(error, ConnectionRefusedError):
        message = f"Nothing listens at {host}: start the server, or check the base URL."
        return LinkError(LinkProblem.UNREACHABLE, message)
    if isinstance(error, InvalidMessage | EOFError):
        return LinkError(LinkProblem.REFUSED, f"{host} did not answer like a web server: check the base URL.")
    if isinstance(error, InvalidHandshake):
        return LinkError(LinkProblem.NO_WEBSOCKET, f"{host} does not speak WebSocket: {one_line(error)}")
    if isinstance(error, OSError):
        # One host can have several addresses; asyncio joins their errors into one without a number.
        if "Connect call failed" in str(error) and "111" in str(error):
            message = f"Nothing listens at {host}: start the server, or check the base URL."
            return LinkError(LinkProblem.UNREACHABLE, message)
        return LinkError(
            LinkProblem.UNREACHABLE, f"{host} could not be reached: {error.strerror or one_line(error)}"
        )
    return LinkError(LinkProblem.REFUSED, f"The connection to {host} could not be opened: {one_line(error)}")


def _status(error: InvalidStatus, endpoint: Endpoint) -> LinkError:
    response = error.response
    status, host = response.status_code, endpoint.host
    try:
        said = read_error(parse_object(response.body or b""))
        detail, code, wait = f": {one_line(said.message)}", said.code, said.retry_after
    except NotAnObject:
        detail, code, wait = "", "", None

    def problem(kind: LinkProblem, message: str) -> LinkError:
        return LinkError(kind, message, code=code, status=status, retry_after=wait)

    if code == "model_not_found":
        return problem(LinkProblem.MODEL, f"{host} does not offer this model{detail}")
    if status in (401, 403):
        had = "did not accept the API key" if endpoint.api_key else "wants an API key"
        return problem(LinkProblem.UNAUTHORIZED, f"{host} {had} ({status}){detail or '.'}")
    if status in _NO_WEBSOCKET or 200 <= status < 300:
        message = f"{host} does not offer Responses over WebSocket at this base URL ({status}){detail or '.'}"
        return problem(LinkProblem.NO_WEBSOCKET, message)
    if 300 <= status < 400:
        target = one_line(response.headers.get("Location", "elsewhere"))
        return problem(
            LinkProblem.REFUSED, f"{host} redirects to {target}: use that address as the base URL."
        )
    if status >= 500:
        return problem(LinkProblem.SERVER, f"{host} is not working right now ({status}){detail or '.'}")
    if status == 429:
        return problem(
            LinkProblem.SERVER, f"{host} takes no more connections right now ({status}){detail or '.'}"
        )
    return problem(LinkProblem.REFUSED, f"{host} refused the connection ({status}){detail or '.'}")


def from_server(error: ServerError, endpoint: Endpoint, model: str) -> LinkError:
    """The :class:`LinkError` for an error the server sent in place of an answer."""
    host, said, code = endpoint.host, one_line(error.message), error.code

    def problem(kind: LinkProblem, message: str) -> LinkError:
        return LinkError(kind, message, code=code, status=error.status, retry_after=error.retry_after)

    if code == "model_not_found":
        return problem(LinkProblem.MODEL, f"{host} does not offer {model} to this key: {said}")
    if code in _BAD_KEY or error.status in (401, 403):
        return problem(LinkProblem.UNAUTHORIZED, f"{host} did not accept the API key: {said}")
    if code in _SPENT:
        return problem(LinkProblem.SERVER, f"The account's limit at {host} is used up: {said}")
    if code == "rate_limit_exceeded" or error.status == 429:
        return problem(LinkProblem.SERVER, f"{host} asks to slow down: {said}")
    if code == "context_length_exceeded":
        return problem(LinkProblem.SERVER, f"The request is longer than {model} can read: {said}")
    return problem(LinkProblem.SERVER, f"{host} could not answer: {said}")
