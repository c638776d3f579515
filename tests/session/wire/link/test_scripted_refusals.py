"""The connection against a server in memory that refuses: the route, the key, or a part of the request."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from session.wire.link.connection import LinkError
from session.wire.protocol.items import Item, user_message
from session.wire.transport.errors import NO_KEY, NO_UPGRADE, LinkProblem
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET
from tests.session.wire.link.scripted import (
    HELLO,
    LOST,
    PROFILE,
    SOCKET,
    Linked,
    ScriptedServer,
    logins,
    refusal,
    server,
    words,
)

__all__ = ["server"]

# Routes.


def refused(kind: LinkProblem, status: int | None = None, code: str = "") -> LinkError:
    return LinkError(kind, "no", status=status, code=code)


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (refused(LinkProblem.NO_WEBSOCKET, 426), "426"),
        (refused(LinkProblem.REFUSED, 400), "400"),
        (refused(LinkProblem.UNAUTHORIZED, 403), "403"),
        (refused(LinkProblem.SERVER, 500), "500"),
        (refused(LinkProblem.UNREACHABLE, None, NO_UPGRADE), "no answer"),
        (refused(LinkProblem.REFUSED, 404, "no_such_path"), "404"),
        (refused(LinkProblem.MODEL, 400), ""),
        (refused(LinkProblem.CLOSED, 500), ""),
        (refused(LinkProblem.SERVER, 499), ""),
        (refused(LinkProblem.UNREACHABLE), ""),
    ],
)
async def test_a_server_that_takes_no_websocket_is_asked_over_http(
    server: ScriptedServer, problem: LinkError, why: str
) -> None:
    rig = Linked(server, replace(SOCKET, routes=(RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE)))
    server.opens.append(problem)
    following = rig.connection.states()
    if why and problem.code != "no_such_path":
        assert words(await rig.ask()) == "Hi"
        assert [route for route, *_ in server.opened] == [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE]
        assert rig.connection.way == "Responses over HTTP" and server.asked[0]["stream"] is True
        await rig.connection.close()
        note = f"api.test: no Responses over WebSocket ({why}); using Responses over HTTP"
        assert note in [change.message async for change in following]
    else:
        rig.connection.start()
        await rig.until(lambda: server.opened)
        await asyncio.sleep(0)
        assert rig.connection.way == ("Responses over WebSocket")
    await rig.connection.close()


async def test_a_websocket_that_is_lost_three_times_in_one_answer_is_given_up(
    server: ScriptedServer,
) -> None:
    rig = Linked(server)
    server.replies.extend([[LOST]] * 3)
    assert words(await rig.ask()) == "Hi"
    routes = [route for route, *_ in server.opened]
    assert routes[-1] == RESPONSES_OVER_SSE and routes.count(RESPONSES_OVER_WEBSOCKET) == 3
    await rig.connection.close()


async def test_where_a_websocket_has_worked_three_lost_upgrades_are_needed(server: ScriptedServer) -> None:
    rig = Linked(server)
    assert words(await rig.ask()) == "Hi"
    for lost in (2, 1):
        server.opens.extend([refused(LinkProblem.SERVER, 502)] * lost)
        server.links[-1].lose()
        assert words(await rig.ask()) == "Hi"
        assert rig.connection.way == "Responses over WebSocket"
    server.opens.extend([refused(LinkProblem.SERVER, 502)] * 3)
    server.links[-1].lose()
    assert words(await rig.ask()) == "Hi" and rig.connection.way == "Responses over HTTP"
    await rig.connection.close()


async def test_a_path_that_the_server_does_not_have_leads_to_the_next_route(server: ScriptedServer) -> None:
    rig = Linked(server)
    server.replies.append([refusal("x", 404)])
    assert words(await rig.ask()) == "Hi" and rig.connection.way == "Responses over HTTP"
    server.replies.append([refusal("x", 404)])
    with pytest.raises(LinkError, match="does not offer this"):
        await rig.ask()
    await rig.connection.close()


# Keys.


@pytest.mark.parametrize(
    ("keys", "status", "works", "message"),
    [
        (("new",), 401, True, ""),
        (("k",), 401, False, "Log in again."),
        ((None,), 401, False, "Log in again."),
        (
            (LinkError(LinkProblem.REFUSED, "no login server"),),
            401,
            False,
            "no login server. Log in again.",
        ),
        ((), 403, False, "Log in again."),
    ],
)
async def test_a_refused_key_is_renewed_once_between_answers(
    server: ScriptedServer, keys: tuple[str | Exception | None, ...], status: int, works: bool, message: str
) -> None:
    login, asked = logins(*keys)
    rig = Linked(server, SOCKET, login=login)
    server.replies.append([refusal("invalid_api_key", status)])
    if works:
        assert words(await rig.ask()) == "Hi"
        assert [key for _, key, *_ in server.opened] == ["k", "new"]
        assert rig.connection.endpoint.api_key == "new"
    else:
        with pytest.raises(LinkError) as caught:
            await rig.ask()
        assert caught.value.message.endswith(message)
    assert len(asked) == len(keys)
    await rig.connection.close()


async def test_a_key_that_is_refused_twice_is_asked_for_once_until_an_answer_came(
    server: ScriptedServer,
) -> None:
    login, asked = logins("two", "three")
    rig = Linked(server, SOCKET, login=login)
    server.replies.extend([[refusal("invalid_api_key", 401)]] * 2)
    with pytest.raises(LinkError, match=r"did not accept the API key \(401\): no. Log in again\.$"):
        await rig.ask()
    assert asked == ["two"]
    assert words(await rig.ask()) == "Hi"
    server.replies.append([refusal("invalid_api_key", 401)])
    assert words(await rig.ask()) == "Hi" and asked == ["two", "three"]
    await rig.connection.close()


async def test_a_key_that_could_not_be_read_is_not_renewed(server: ScriptedServer) -> None:
    login, asked = logins("two")
    rig = Linked(server, SOCKET, login=login)
    server.opens.append(LinkError(LinkProblem.UNAUTHORIZED, "the keyring is locked", code=NO_KEY))
    with pytest.raises(LinkError, match=r"^the keyring is locked$"):
        await rig.ask()
    assert asked == []
    await rig.connection.close()


# What is left out of a request.


async def test_an_optional_field_that_is_refused_is_left_out_and_an_effort_is_told(
    server: ScriptedServer,
) -> None:
    profile = replace(PROFILE, effort="low", prompt_cache_key="x")
    rig = Linked(server, replace(SOCKET, warm_up=False), profile=profile)
    following = rig.connection.states()
    server.replies.append([refusal("unsupported", 400, param="prompt_cache_key")])
    server.replies.append([refusal("unsupported", 400, param="reasoning.effort")])
    assert words(await rig.ask()) == "Hi"
    assert [sorted(request.keys() & {"reasoning", "prompt_cache_key"}) for request in server.asked] == [
        ["prompt_cache_key", "reasoning"],
        ["reasoning"],
        ["reasoning"],
    ]
    assert server.asked[-1]["reasoning"] == {"summary": "auto"}
    assert rig.connection.left_out == ("prompt_cache_key", "reasoning.effort")
    assert len(server.links) == 1, "the connection is as good as before"
    await rig.connection.close()
    told = [change.message async for change in following if change.message]
    assert told == ["api.test takes no effort for m: asking without it"]


SEALED: Item = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
ANSWER: Item = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}


@pytest.mark.parametrize(
    ("error", "forgets"),
    [
        (refusal("invalid_encrypted_content", 400), True),
        (refusal("x", 400, "The encrypted content abc could not be verified."), True),
        (refusal("invalid_signature", 400), True),
        (refusal("x", 400, "the content could not be verified"), False),
    ],
)
async def test_reasoning_that_the_server_cannot_read_is_left_out(
    server: ScriptedServer, error: dict[str, Any], forgets: bool
) -> None:
    rig = Linked(server, replace(SOCKET, warm_up=False))
    server.replies.extend([[error]] * 2)
    items = [*HELLO, SEALED, ANSWER, user_message("more")]
    with pytest.raises(LinkError):
        async for _ in rig.connection.respond(items):
            pass
    kinds = [[item["type"] for item in request["input"]] for request in server.asked]
    whole = ["message", "reasoning", "message", "message"]
    assert kinds == ([whole, ["message"] * 3] if forgets else [whole])
    await rig.connection.close()


async def test_a_signature_that_the_server_cannot_read_does_not_cost_the_effort(
    server: ScriptedServer,
) -> None:
    rig = Linked(server, replace(SOCKET, warm_up=False), profile=replace(PROFILE, effort="low"))
    server.replies.append(
        [refusal("x", 400, "messages.1.content.0: Invalid `signature` in `thinking` block")]
    )
    items = [*HELLO, SEALED, ANSWER, user_message("more")]
    assert [event async for event in rig.connection.respond(items)]
    assert [item["type"] for item in server.asked[-1]["input"]] == ["message"] * 3
    assert rig.connection.left_out == () and server.asked[-1]["reasoning"]["effort"] == "low"
    await rig.connection.close()
