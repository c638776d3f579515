"""Failures while a WebSocket opens, as one line for the user."""

from __future__ import annotations

from websockets.exceptions import InvalidHandshake, InvalidMessage, InvalidProxy, InvalidStatus, ProxyError

from session.wire.transport.endpoint import Endpoint
from session.wire.transport.errors import LinkError, LinkProblem, one_line, plan_refusal
from session.wire.transport.refusals import cut_off, explain_os, read_refusal, redirected

_NO_WEBSOCKET = frozenset({404, 405, 426, 501})


def explain(error: Exception, endpoint: Endpoint, open_timeout: float) -> LinkError:
    """The :class:`LinkError` for ``error``, raised while opening a connection to ``endpoint``."""
    host = endpoint.host
    if isinstance(error, InvalidStatus):
        return _status(error, endpoint)
    if isinstance(error, ProxyError | InvalidProxy | ImportError):
        return LinkError(LinkProblem.UNREACHABLE, f"The proxy on the way to {host} failed: {one_line(error)}")
    if isinstance(error, OSError | UnicodeError | ExceptionGroup):
        below = explain_os(error, endpoint, open_timeout)
        if below is not None:
            return below
    if isinstance(error, EOFError) or isinstance(error.__cause__, EOFError):
        return cut_off(endpoint)
    if isinstance(error, InvalidMessage):
        return LinkError(LinkProblem.REFUSED, f"{host} did not answer like a web server: check the base URL.")
    if isinstance(error, InvalidHandshake):
        return LinkError(LinkProblem.NO_WEBSOCKET, f"{host} does not speak WebSocket: {one_line(error)}")
    return LinkError(LinkProblem.REFUSED, f"The connection to {host} could not be opened: {one_line(error)}")


def _status(error: InvalidStatus, endpoint: Endpoint) -> LinkError:
    response = error.response
    status, host = response.status_code, endpoint.host
    headers = {name.lower(): value for name, value in response.headers.raw_items()}
    said = read_refusal(status, bytes(response.body or b""), headers)
    if (of_plan := plan_refusal(said, endpoint.plan)) is not None:
        return of_plan
    # A page of HTML says less than the status does.
    words = one_line(said.message) if (response.body or b"").lstrip()[:1] == b"{" else ""
    detail = f": {words}" if words else "."

    def problem(kind: LinkProblem, message: str) -> LinkError:
        return LinkError(kind, message, code=said.code, status=status, retry_after=said.retry_after)

    if said.code == "model_not_found":
        return problem(LinkProblem.MODEL, f"{host} does not offer this model{detail}")
    if status in (401, 403):
        had = f"did not accept the {endpoint.holder}" if endpoint.has_key else "wants an API key"
        return problem(LinkProblem.UNAUTHORIZED, f"{host} {had} ({status}){detail}")
    if status in _NO_WEBSOCKET or 200 <= status < 300:
        message = f"{host} does not offer Responses over WebSocket at this base URL ({status}){detail}"
        return problem(LinkProblem.NO_WEBSOCKET, message)
    if 300 <= status < 400:
        message = redirected(host, status)
        return problem(LinkProblem.REFUSED, message)
    if status >= 500:
        return problem(LinkProblem.SERVER, f"{host} is not working right now ({status}){detail}")
    if status == 429:
        return problem(LinkProblem.SERVER, f"{host} accepts no more connections right now ({status}){detail}")
    return problem(LinkProblem.REFUSED, f"{host} refused the connection ({status}){detail}")
