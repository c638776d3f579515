"""The models a key can use, for the message about one that it cannot."""

from __future__ import annotations

import asyncio

from session.protocol.frames import NotAnObject, parse_object
from session.transport.endpoint import Endpoint
from session.transport.errors import LinkError, one_line

TIMEOUT = 5.0
MOST_BYTES = 4 * 1024 * 1024
_MOST_NAMED = 12
_LONGEST_NAME = 80


async def list_models(endpoint: Endpoint, *, open_timeout: float = TIMEOUT) -> tuple[str, ...]:
    """The ids that ``GET /models`` gives, in the server's order; empty where it gives none in time."""
    import httpx2

    from session.transport.http import client_for

    try:
        async with (
            asyncio.timeout(open_timeout),
            await client_for(endpoint, open_timeout) as client,
            client.stream("GET", endpoint.http_url("/models")) as response,
        ):
            if not response.is_success:
                return ()
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > MOST_BYTES:
                    return ()
        rows = parse_object(body).get("data")
    except (TimeoutError, OSError, LinkError, NotAnObject, httpx2.HTTPError, httpx2.InvalidURL):
        return ()
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return tuple(one_line(name)[:_LONGEST_NAME] for name in names if isinstance(name, str) and name)


def said(models: tuple[str, ...]) -> str:
    """``models`` as a sentence to end a message with; empty for none."""
    if not models:
        return ""
    more = f" and {len(models) - _MOST_NAMED} more" if len(models) > _MOST_NAMED else ""
    return f" This key can use {', '.join(models[:_MOST_NAMED])}{more}."
