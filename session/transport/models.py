"""The models a key can use: to list them, to try a key, and for the message about one that it cannot use."""

from __future__ import annotations

import asyncio

from session.protocol.frames import NotAnObject, parse_object
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
    import httpx2

    from session.transport.http import client_for, explain

    endpoint = await endpoint.with_key()
    try:
        async with (
            asyncio.timeout(open_timeout),
            await client_for(endpoint, open_timeout) as client,
            client.stream("GET", endpoint.http_url("/models")) as response,
        ):
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    raise _no_list(endpoint)
            if not response.is_success:
                raise from_server(read_refusal(response.status_code, body, response.headers), endpoint, "")
        rows = parse_object(body).get("data")
    except NotAnObject:
        raise _no_list(endpoint) from None
    except (TimeoutError, OSError, httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise explain(error, endpoint, open_timeout) from error
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return tuple(one_line(name)[:_LONGEST_NAME] for name in names if isinstance(name, str) and name)


def _no_list(endpoint: Endpoint) -> LinkError:
    message = f"{endpoint.host} gives no list of models: check the base URL."
    return LinkError(LinkProblem.REFUSED, message, code=NO_SUCH_PATH)


def said(models: tuple[str, ...]) -> str:
    """``models`` as a sentence to end a message with; empty for none."""
    if not models:
        return ""
    more = f" and {len(models) - _MOST_NAMED} more" if len(models) > _MOST_NAMED else ""
    return f" This key can use {', '.join(models[:_MOST_NAMED])}{more}."
