"""The models a key can use: to list them, to try a key, and for the message about one that it cannot use."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from session.protocol.framing.frames import NotAnObject, parse_object
from session.text.near_names import listed
from session.transport.endpoint import Endpoint
from session.transport.errors import NO_SUCH_PATH, LinkError, LinkProblem, one_line
from session.transport.refusals import from_server, read_refusal

TIMEOUT = 5.0
MOST_BYTES = 4 * 1024 * 1024
_MOST_NAMED = 12
_LONGEST_NAME = 80


async def list_models(endpoint: Endpoint, *, open_timeout: float = TIMEOUT) -> tuple[str, ...]:
    """The ids that ``GET /models`` gives, in the server's order; empty where it gives none in time."""
    try:
        return await fetch_models(endpoint, open_timeout=open_timeout)
    except LinkError:
        return ()


async def fetch_models(endpoint: Endpoint, *, open_timeout: float = TIMEOUT) -> tuple[str, ...]:
    """The same, but raises :class:`LinkError` where there is no such list: ``unauthorized`` for a key
    that is not taken, ``refused`` for an answer that is no list."""
    body = await _get(endpoint, "/models", open_timeout)
    try:
        rows = parse_object(body).get("data")
    except NotAnObject:
        raise _no_list(endpoint) from None
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return tuple(one_line(name)[:_LONGEST_NAME] for name in names if isinstance(name, str) and name)


async def has_model(endpoint: Endpoint, name: str, *, open_timeout: float = TIMEOUT) -> bool:
    """Whether ``GET /models/NAME`` gives a model: a list may have further pages, and leaves out aliases.

    A server that does not know the path has none there. Raises :class:`LinkError` where it cannot be asked.
    """
    try:
        body = await _get(endpoint, f"/models/{quote(name, safe='/:')}", open_timeout)
        return isinstance(parse_object(body).get("id"), str)
    except NotAnObject:
        return False
    except LinkError as problem:
        if problem.status in (400, 404, 405, 501):
            return False
        raise


async def _get(endpoint: Endpoint, path: str, seconds: float) -> bytes:
    """The body that ``GET path`` gives. Raises :class:`LinkError`."""
    import httpx2

    from session.transport.http import client_for, explain

    endpoint = await endpoint.with_key()
    try:
        async with (
            asyncio.timeout(seconds),
            await client_for(endpoint, seconds) as client,
            client.stream("GET", endpoint.http_url(path)) as response,
        ):
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise _no_list(endpoint)
            if not response.is_success:
                raise from_server(read_refusal(response.status_code, body, response.headers), endpoint, "")
    except (TimeoutError, OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise explain(error, endpoint, seconds) from error
    return body


def _no_list(endpoint: Endpoint) -> LinkError:
    message = f"{endpoint.host} does not list its models: check the base URL."
    return LinkError(LinkProblem.REFUSED, message, code=NO_SUCH_PATH)


def usable_models(models: tuple[str, ...]) -> str:
    """``models`` as a sentence to end a message with; empty for none."""
    return f" This key can use {listed(models, _MOST_NAMED)}." if models else ""
