"""Keys that a server stops accepting: a newer one is fetched once, or the user is told how to log in."""

from __future__ import annotations

import pytest

from session.partner.server.server import Partner
from session.wire.link.connection import Endpoint, Login
from session.wire.protocol.items import user_message
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route, Service
from tests.session.wire.link.test_connection import ask, failing, linked, said, script


@pytest.mark.parametrize("route", [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE], ids=str)
async def test_a_login_that_expires_is_renewed_once_and_unseen(route: Route) -> None:
    async with Partner(scripts=script(), key="first") as partner:
        asked = 0

        async def refresh() -> str | None:
            nonlocal asked
            asked += 1
            return partner.model.key

        service = Service(routes=(route,), spare=True)
        async with linked(partner, key="first", service=service, login=Login(refresh)) as connection:
            assert said(await ask(connection, [user_message("hello")])) == "All is well."
            partner.model.key = "second"
            await partner.drop_clients()
            assert said(await ask(connection, [user_message("hello")])) == "All is well."
            assert (asked, connection.endpoint.api_key) == (1, "second")
            connection.use(Endpoint(partner.url, "first", {"X-Tier": "fast"}))
            assert connection.endpoint == Endpoint(partner.url, "second", {"X-Tier": "fast"})
            partner.model.key = "third"
            await partner.drop_clients()
            assert said(await ask(connection, [user_message("hello")])) == "All is well."
            assert asked == 2


async def test_a_login_that_is_over_says_how_to_log_in() -> None:
    async with Partner(scripts=script(), key="first") as partner:

        async def refresh() -> str | None:
            return "first"

        service = Service(routes=(RESPONSES_OVER_SSE,))
        options = {"key": "first", "service": service, "login": Login(refresh, "Log in: spark login x")}
        async with linked(partner, **options) as connection:
            assert said(await ask(connection, [user_message("hello")])) == "All is well."
            partner.model.key = "second"
            problem = await failing(connection, "hello")
            assert problem.kind == "unauthorized" and "(401)" in problem.message
            assert problem.message.endswith("key provided. Log in: spark login x")


async def test_a_login_expired_in_the_middle_of_a_connection_is_renewed() -> None:
    expired = '[[scenario.step]]\nfail = {code = "token_expired", message = "Expired.", status = 401}'
    async with Partner(scripts=script(expired)) as partner:

        async def refresh() -> str | None:
            return "second"

        async with linked(partner, key="first", login=Login(refresh)) as connection:
            assert said(await ask(connection, [user_message("fault")])) == "All is well."
            assert (connection.endpoint.api_key, partner.connections) == ("second", 2)
