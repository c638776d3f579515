"""The connections to a server in memory: lost, old, moved, warmed up, or to a server of spark's own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from session.wire.link.connection import Endpoint, LinkError, Retries
from session.wire.link.state import LinkChange, LinkState
from session.wire.protocol.items import user_message
from session.wire.transport.errors import LinkProblem
from session.wire.transport.links import HOST_ENDED
from session.wire.transport.network import Standing
from tests.session.wire.link.scripted import (
    LOST,
    PROFILE,
    SOCKET,
    SPARE,
    Linked,
    Reply,
    ScriptedServer,
    completed,
    heard,
    logins,
    refusal,
    server,
    text,
    words,
)

__all__ = ["server"]

# Connections that are lost, old or of another network.


async def test_a_spare_is_dialled_and_a_lost_one_replaced_without_a_word(server: ScriptedServer) -> None:
    rig = Linked(server, SPARE)
    rig.connection.start()
    await rig.until(lambda: rig.connection.has_spare)
    following = rig.connection.states()
    assert (await heard(following)).state is LinkState.READY
    server.links[0].lose()
    await rig.until(lambda: rig.connection.has_spare and len(server.links) == 3)
    assert rig.connection.promotions == 1 and words(await rig.ask()) == "Hi"
    assert server.asked[-1] in server.links[1].sent
    await rig.connection.close()
    assert [change.state async for change in following] == [LinkState.OFFLINE]


async def test_a_connection_that_the_server_closes_is_told_and_replaced(server: ScriptedServer) -> None:
    rig = Linked(server)
    rig.connection.start()
    await rig.until(lambda: rig.connection.state is LinkState.READY)
    following = rig.connection.states()
    await heard(following)
    server.links[0].lose()
    lost = await heard(following)
    assert lost == LinkChange(LinkState.OFFLINE, "api.test closed the connection; reconnecting")
    await rig.until(lambda: rig.connection.state is LinkState.READY)
    assert len(server.links) == 2
    await rig.connection.close()


async def slept(rig: Linked) -> None:
    rig.slept = 3_600.0


async def moved(rig: Linked) -> None:
    rig.standing = Standing.MOVED


async def settled(rig: Linked) -> None:
    rig.connection.use(Endpoint("https://other.test/v1", "k"))


@pytest.mark.parametrize("happens", [slept, moved, settled])
async def test_connections_that_are_of_no_use_any_more_are_replaced_before_a_request(
    server: ScriptedServer, happens: Callable[[Linked], Any]
) -> None:
    rig = Linked(server, SPARE)
    rig.connection.start()
    await rig.until(lambda: rig.connection.has_spare)
    rig.connection.wake()
    before = rig.connection._keeper.generation
    await happens(rig)
    rig.connection.wake()
    assert [link.aborted for link in server.links[:2]] == [True, True]
    assert rig.connection._keeper.generation == before + (happens is not moved)
    assert words(await rig.ask()) == "Hi" and server.asked[-1] not in server.links[0].sent
    await rig.connection.close()


async def test_the_same_address_changes_nothing_and_a_renewed_key_is_kept(server: ScriptedServer) -> None:
    login, _ = logins("new")
    rig = Linked(server, SOCKET, login=login)
    server.replies.append([refusal("invalid_api_key", 401)])
    await rig.ask()
    dials = rig.connection.dials
    rig.connection.use(Endpoint("https://api.test/v1", "k"))
    assert (rig.connection.dials, [link.aborted for link in server.links]) == (dials, [True, False])
    rig.connection.use(Endpoint("https://api.test/v1", "k", {"x": "y"}))
    assert server.links[-1].aborted and rig.connection.endpoint.api_key == "new"
    rig.connection.use(Endpoint("https://api.test/v1", "other", {"x": "y"}))
    assert rig.connection.endpoint.api_key == "other"
    await rig.connection.close()


async def test_a_change_of_model_tries_a_failed_link_again(server: ScriptedServer) -> None:
    rig = Linked(server, SOCKET)
    server.opens.append(LinkError(LinkProblem.REFUSED, "no such address"))
    rig.connection.start()
    await rig.until(lambda: rig.connection.state is LinkState.FAILED)
    assert rig.connection.times == (None, None)
    rig.connection.request = replace(PROFILE, model="other")
    assert rig.connection.state is LinkState.CONNECTING
    await rig.until(lambda: rig.connection.state is LinkState.READY)
    assert server.requests[-1]["model"] == "other"
    rig.connection.request = PROFILE
    assert rig.connection.dials == 2
    await rig.connection.close()


async def test_a_request_that_waits_is_told_of_an_attempt_that_failed(server: ScriptedServer) -> None:
    rig = Linked(server, SOCKET, retries=Retries(most=0))
    server.opens.append(LinkError(LinkProblem.UNREACHABLE, "nothing listens"))
    with pytest.raises(LinkError, match="nothing listens"):
        await rig.ask()
    assert words(await rig.ask()) == "Hi"
    await rig.connection.close()


async def test_a_drop_ends_the_wait_for_a_connection(server: ScriptedServer) -> None:
    rig = Linked(server, SOCKET)
    server.hangs = True
    asked = asyncio.create_task(rig.ask())
    await rig.until(lambda: server.opened)
    rig.connection.drop()
    assert await asked == [] and server.links == []
    await rig.connection.close()


# What goes ahead.

LONG = [user_message("long " * 2_000)]


async def test_after_an_interrupt_the_conversation_is_sent_ahead_while_the_user_types(
    server: ScriptedServer,
) -> None:
    rig = Linked(server, SPARE)
    rig.connection.start()
    await rig.until(lambda: rig.connection.has_spare)
    server.replies.append([text("one")])
    answer = rig.connection.respond(LONG)
    await anext(answer)
    rig.connection.drop()
    before = len(server.requests)
    rig.connection.wake()
    rig.connection.wake()
    await rig.until(lambda: len(server.requests) > before)
    ahead = server.requests[-1]
    assert (ahead["generate"], ahead["input"], ahead["previous_response_id"]) == (False, LONG, "w1")
    assert len([each for each in server.requests[before:] if each["input"] == LONG]) == 1
    await answer.aclose()
    more = [*LONG, user_message("more")]
    async for _ in rig.connection.respond(more):
        pass
    assert server.asked[-1]["input"] == more[1:]
    await rig.connection.close()


# Warm-ups.


@pytest.mark.parametrize(
    ("reply", "given", "state"),
    [
        ([refusal("x", 400)], 0, LinkState.READY),
        ([refusal("rate_limit_exceeded", 429)], 0, LinkState.READY),
        ([refusal("invalid_api_key", 401)], 0, LinkState.FAILED),
        ([refusal("model_not_found", 404)], 0, LinkState.FAILED),
        ([completed("w1")], 1, LinkState.READY),
    ],
)
async def test_a_warm_up_that_is_refused(
    server: ScriptedServer, reply: Reply, given: int, state: LinkState
) -> None:
    rig = Linked(server, SOCKET)
    server.warm_up = reply
    rig.connection.start()
    await rig.until(lambda: rig.connection.state is state)
    assert rig.connection.warm_ups == given
    await rig.connection.close()


async def test_a_server_that_answers_a_warm_up_is_asked_without_one_from_then_on(
    server: ScriptedServer,
) -> None:
    rig = Linked(server, SOCKET)
    server.warm_up = [text("Hello!")]
    rig.connection.start()
    await rig.until(lambda: rig.connection.state is LinkState.READY)
    assert len(server.links) == 2 and server.links[0].aborted and server.links[1].sent == []
    assert words(await rig.ask()) == "Hi" and "previous_response_id" not in server.asked[-1]
    await rig.connection.close()


async def test_a_server_that_loses_two_warm_ups_gets_none(server: ScriptedServer) -> None:
    rig = Linked(server, SOCKET)
    server.warm_up = [LOST]
    rig.connection.start()
    await rig.until(lambda: rig.connection.state is LinkState.READY)
    assert [len(link.sent) for link in server.links] == [1, 1, 0]
    await rig.connection.close()


# A server of spark's own.


class Hosted:
    """A server that spark starts: it can be started, end by itself, and say why."""

    def __init__(self) -> None:
        self.on_end: Callable[[str], None] = lambda why: None
        self.served = 0
        self.why: str | None = None
        self.closed = False

    async def serve(self, say: Callable[[str], None]) -> Endpoint:
        self.served += 1
        say("reading the model")
        return Endpoint("http://127.0.0.1:1/v1")

    async def why_ended(self) -> str | None:
        return self.why

    async def close(self) -> None:
        self.closed = True


async def test_a_server_of_our_own_is_started_told_of_and_ended(server: ScriptedServer) -> None:
    host = Hosted()
    rig = Linked(server, SOCKET, host=host)
    following = rig.connection.states()
    rig.connection.start()
    await rig.until(lambda: rig.connection.state is LinkState.READY)
    assert server.links[0].endpoint.base_url.startswith("http://127")
    host.why = "it ended: no memory"
    host.on_end("it ended: no memory")
    assert rig.connection.state is LinkState.FAILED and server.links[0].aborted
    server.opens.append(LinkError(LinkProblem.UNREACHABLE, "nothing listens"))
    with pytest.raises(LinkError, match="it ended: no memory") as caught:
        await rig.ask()
    assert caught.value.code == HOST_ENDED
    host.why = None
    assert words(await rig.ask()) == "Hi" and host.served == 3
    await rig.connection.close()
    assert host.closed
    assert "reading the model" in [change.message async for change in following]
