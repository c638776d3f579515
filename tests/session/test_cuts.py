"""An answer cut off after every number of bytes there is, and whole turns that were cut."""

from __future__ import annotations

import asyncio

import pytest

from session.connection import Connection, Endpoint, LinkError, RequestProfile, Retries, Service
from session.link import Backoff, LinkState
from session.protocol.events import Finished, TextDelta, ToolInputDelta
from session.protocol.request import user_message
from session.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route
from tests.session.replay import BLOCK, PATCH, Replay
from tests.session.test_transport_http import CHAT, MESSAGES

ROUTES = [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE, CHAT, MESSAGES]
PROFILE = RequestProfile("spark-partner")


def connect(url: str, route: Route) -> Connection:
    service = Service(routes=(route,), warm_up=False)
    quick = Retries(most=0, backoff=Backoff(first=0.01))
    return Connection(Endpoint(url), PROFILE, service=service, backoff=Backoff(first=0.01), retries=quick)


async def told(connection: Connection) -> tuple[str, str]:
    """Ask: the edit as it came, and how it ended."""
    edit = ""
    try:
        async for event in connection.respond([user_message("hello")]):
            if isinstance(event, TextDelta | ToolInputDelta):
                edit += event.text
            elif isinstance(event, Finished):
                return edit, event.status
    except LinkError as error:
        assert error.message and "\n" not in error.message
        return edit, error.kind.value
    return edit, "nothing"


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_cut_after_every_byte(route: Route, reset: bool) -> None:
    whole = PATCH if route.dialect == "responses" else BLOCK
    endings: dict[str, int] = {}
    async with Replay(route) as server, asyncio.timeout(120):
        for server.limit in range(server.total):
            server.reset = reset
            connection = connect(server.url, route)
            edit, ending = await told(connection)
            at = f"cut after {server.limit} of {server.total} bytes: {ending}"
            assert whole.startswith(edit), at
            assert ending in ("closed", "unreachable", "completed"), at
            assert ending != "completed" or edit == whole, at
            endings[ending] = endings.get(ending, 0) + 1
            if server.limit % 16 == 0:
                server.limit = None
                assert await told(connection) == (whole, "completed"), f"after one {at}"
                assert connection.state is LinkState.READY
            await connection.close()
        print(f"{route}: {server.total} bytes, {endings}")
    assert endings["closed"] > 100
