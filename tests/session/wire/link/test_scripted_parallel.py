"""Requests beside the answer of a server in memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from session.wire.link.connection import Endpoint, LinkError
from session.wire.protocol.events import Created, Finished
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET
from tests.session.wire.link.scripted import (
    HELLO,
    LOST,
    PROFILE,
    SOCKET,
    SPARE,
    Linked,
    Reply,
    ScriptedServer,
    beside,
    completed,
    refusal,
    server,
    text,
    words,
)

__all__ = ["server"]


async def test_a_request_beside_the_answer_has_a_connection_of_its_own_which_is_kept(
    server: ScriptedServer,
) -> None:
    rig = Linked(server, SPARE)
    assert words(await beside(rig)) == "Hi" and words(await beside(rig)) == "Hi"
    assert len(server.links) == 1 and rig.connection.dials == 0
    assert words(await beside(rig, route=RESPONSES_OVER_SSE)) == "Hi"
    assert [route for route, *_ in server.opened] == [RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE]
    assert all(timeout == 15.0 and compression is not None for _, _, timeout, compression in server.opened)
    rig.connection.use(Endpoint("https://other.test/v1"))
    before = len(server.links)
    assert words(await beside(rig)) == "Hi"
    assert len(server.links) > before, "what is kept belongs to the other address"
    await rig.connection.close()
    assert all(link.aborted or link.closed for link in server.links)
    with pytest.raises(RuntimeError):
        await beside(rig)


@pytest.mark.parametrize(
    ("replies", "requests", "begun_again"),
    [([[LOST]], 2, 1), ([[text("a"), LOST]], 2, 1), ([[refusal("server_error", 500)]], 2, 1)],
)
async def test_a_request_beside_the_answer_is_made_again_where_it_was_lost(
    server: ScriptedServer, replies: list[Reply], requests: int, begun_again: int
) -> None:
    rig = Linked(server, SPARE)
    server.replies.extend(replies)
    events = await beside(rig)
    assert isinstance(events[-1], Finished) and len(server.asked) == requests
    assert events.count(Created("")) == begun_again
    await rig.connection.close()


async def test_a_request_beside_the_answer_fails_with_what_stays(server: ScriptedServer) -> None:
    rig = Linked(server, SPARE)
    server.replies.append([refusal("invalid_value", 400)])
    with pytest.raises(LinkError, match="could not answer"):
        await beside(rig)
    assert server.links[0].aborted
    await rig.connection.close()


async def test_four_requests_run_beside_the_answer_at_a_time(server: ScriptedServer) -> None:
    rig = Linked(server, SPARE)
    server.replies.extend([[]] * 5)
    asking = [asyncio.create_task(beside(rig)) for _ in range(5)]
    await rig.until(lambda: len(server.asked) == 4)
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(server.asked) == 4
    server.links[0].say(completed())
    await rig.until(lambda: len(server.asked) == 5)
    for link in server.links:
        link.say(completed())
    server.links[0].say(completed())
    assert all(isinstance(events[-1], Finished) for events in await asyncio.gather(*asking))
    await rig.connection.close()


async def test_where_one_connection_is_allowed_a_request_gives_way_to_the_answer(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("session.wire.link.parallel._QUIET_SECONDS", 0.0)
    rig = Linked(server, SOCKET)
    server.replies.append([text("aside")])
    asking = asyncio.create_task(beside(rig))
    await rig.until(lambda: server.asked)
    assert words(await rig.ask()) == "Hi"
    assert server.links[0].aborted
    events = await asking
    assert events.count(Created("")) == 1 and isinstance(events[-1], Finished)
    assert len(server.asked) == 3
    await rig.connection.close()


async def test_a_request_that_runs_at_the_close_ends_without_an_end(server: ScriptedServer) -> None:
    rig = Linked(server, SPARE)
    server.replies.append([text("a")])
    asking = asyncio.create_task(beside(rig))
    await rig.until(lambda: server.asked)
    await rig.connection.close()
    assert not any(isinstance(each, Finished) for each in await asking)
    assert server.links[0].aborted


async def test_an_error_of_the_parallel_requests_teaches_what_to_leave_out(server: ScriptedServer) -> None:
    rig = Linked(server, SPARE, profile=replace(PROFILE, prompt_cache_key="x"))
    server.replies.append([refusal("unsupported", 400, param="prompt_cache_key")])
    profile = replace(PROFILE, prompt_cache_key="x")
    events = [each async for each in rig.connection.ask_in_parallel(profile, HELLO)]
    assert isinstance(events[-1], Finished) and "prompt_cache_key" not in server.asked[-1]
    assert rig.connection.left_out == ("prompt_cache_key",)
    await rig.connection.close()
