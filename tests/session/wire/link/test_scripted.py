"""The connection against a server in memory: one answer, what is tried again, and what is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from session.base.tasks import LinkTasks
from session.wire.link.connection import LinkError, Retries
from session.wire.link.exchange import AnswerSize
from session.wire.link.retries import Backoff
from session.wire.link.state import LinkChange, LinkFeed, LinkState
from session.wire.protocol.events import Created, Finished, Garbled, ServerError, TextDelta
from session.wire.protocol.items import Item, user_message
from session.wire.transport.errors import LinkProblem
from tests.session.wire.link.scripted import (
    HELLO,
    LOST,
    SOCKET,
    SPARE,
    Linked,
    Reply,
    ScriptedServer,
    beside,
    completed,
    heard,
    refusal,
    server,
    text,
    words,
)

__all__ = ["server"]

# One answer.


async def test_the_link_is_warmed_up_and_an_answer_continues_from_that(server: ScriptedServer) -> None:
    rig = Linked(server)
    link = rig.connection
    following = link.states()
    link.start()
    link.start()
    await rig.until(lambda: link.state is LinkState.READY)
    assert [(await heard(following)).state for _ in range(4)] == [
        LinkState.OFFLINE, LinkState.CONNECTING, LinkState.WARMING, LinkState.READY,
    ]  # fmt: skip
    assert (link.dials, link.warm_ups, link.promotions, link.has_spare) == (1, 1, 0, False)
    assert (link.times, link.way) == ((0.5, 0.25), "Responses over WebSocket")
    assert (link.first_token_seconds, link.last_request_bytes, link.left_out) == (None, 0, ())
    server.replies.append([{"a": 1}, text("Hi"), completed("r1", "Hi")])
    events = await rig.ask()
    assert [type(each) for each in events][:2] == [Garbled, TextDelta]
    assert isinstance(events[-1], Finished) and link.garbled == 1
    (request,) = server.asked
    assert request["previous_response_id"] == "w1" and request["input"] == HELLO
    assert server.requests[0]["generate"] is False and server.requests[0]["input"] == []
    assert link.first_token_seconds is not None and link.last_request_bytes > 100
    answer: Item = {"type": "message", "role": "assistant",
                    "content": [{"type": "output_text", "text": "Hi"}]}  # fmt: skip
    more = user_message("more")
    assert words([each async for each in link.respond([*HELLO, answer, more])]) == "Hi"
    assert server.asked[-1]["previous_response_id"] == "r1" and server.asked[-1]["input"] == [more]
    assert len(server.links) == 1 and link.dials == 1
    await link.close()
    assert [change.state async for change in following] == [LinkState.OFFLINE]
    await link.close()
    with pytest.raises(RuntimeError, match="the connection is closed"):
        await rig.ask()
    link.start()
    link.wake()
    assert link.dials == 1


async def test_a_dropped_answer_ends_at_once_and_its_socket_is_closed(server: ScriptedServer) -> None:
    rig = Linked(server, SPARE)
    link = rig.connection
    link.drop()
    link.start()
    await rig.until(lambda: link.has_spare)
    server.replies.append([text("one"), text("two")])
    seen = []
    async for each in link.respond(HELLO):
        seen.append(each)
        link.drop()
        assert server.links[0].aborted and not server.links[1].aborted
        assert (link.promotions, link.state, link.has_spare) == (1, LinkState.READY, False)
    assert len(seen) == 1
    assert words(await rig.ask()) == "Hi" and server.asked[-1] in server.links[1].sent
    await rig.until(lambda: link.has_spare)
    assert link.dials == 3
    await link.close()
    assert all(each.aborted or each.closed for each in server.links)


async def test_an_answer_that_is_left_or_asked_again_is_dropped(server: ScriptedServer) -> None:
    rig = Linked(server)
    server.replies.append([text("one")])
    answer = rig.connection.respond(HELLO)
    assert await anext(answer) == TextDelta("one")
    assert words(await rig.ask()) == "Hi"
    assert server.links[0].aborted and len(server.links) == 2
    assert [each async for each in answer] == []
    server.replies.append([text("one")])
    answer = rig.connection.respond(HELLO)
    await anext(answer)
    await answer.aclose()
    assert server.links[1].aborted
    await rig.connection.close()


# Failures that may pass.


@pytest.mark.parametrize(
    ("replies", "requests"),
    [
        ([[LOST]], 2),
        ([[LOST], [LOST]], 3),
        ([[None]], 2),
        ([[{"type": "response.created", "response": {"id": "r0"}}, LOST]], 2),
        ([[refusal("rate_limit_exceeded", 429)], [refusal("server_error", 500)]], 3),
        ([[refusal("websocket_connection_limit_reached", 400)]], 2),
        ([[refusal("previous_response_not_found", 400)]], 2),
    ],
    ids=["lost", "lost twice", "cut", "lost as it began", "overloaded", "too old", "forgotten"],
)
async def test_a_failure_that_may_pass_is_tried_again_unseen(
    server: ScriptedServer, replies: list[Reply], requests: int
) -> None:
    rig = Linked(server, SOCKET)
    server.replies.extend(replies)
    events = await rig.ask()
    assert words(events) == "Hi" and not any(isinstance(each, ServerError) for each in events)
    assert len(server.asked) == requests
    await rig.connection.close()


@pytest.mark.parametrize(
    ("replies", "kind", "requests"),
    [
        ([[text("one"), LOST]], LinkProblem.CLOSED, 1),
        ([[text("one"), refusal("server_error", 500)]], LinkProblem.SERVER, 1),
        ([[refusal("invalid_value", 400)]], LinkProblem.SERVER, 1),
        ([[refusal("insufficient_quota", 429)]], LinkProblem.SERVER, 1),
        ([[refusal("context_length_exceeded", 400)]], LinkProblem.CONTEXT, 1),
        ([[LOST]] * 9, LinkProblem.CLOSED, 7),
        ([[refusal("server_error", 500)]] * 9, LinkProblem.SERVER, 6),
    ],
    ids=["begun", "begun, error", "wrong", "spent", "too long", "always lost", "always down"],
)
async def test_a_failure_that_stays_is_told(
    server: ScriptedServer, replies: list[Reply], kind: LinkProblem, requests: int
) -> None:
    rig = Linked(server, SOCKET)
    server.replies.extend(replies)
    with pytest.raises(LinkError) as caught:
        await rig.ask()
    assert caught.value.kind is kind and len(server.asked) == requests
    server.replies.clear()
    assert words(await rig.ask()) == "Hi", "the next answer is none the worse for it"
    await rig.connection.close()


async def test_the_wait_for_the_next_try_is_shown_and_ends_with_a_drop(server: ScriptedServer) -> None:
    rig = Linked(server, SOCKET, retries=Retries(backoff=Backoff(first=900.0, longest=900.0)))
    rig.connection.start()
    await rig.until(lambda: rig.connection.state is LinkState.READY)
    following = rig.connection.states()
    await heard(following)
    server.replies.append([refusal("server_error", 500)])
    asked = asyncio.create_task(rig.ask())
    waiting = await heard(following)
    assert waiting.state is LinkState.WAITING and waiting.seconds == pytest.approx(900.0, rel=0.11)
    assert rig.connection.state is LinkState.READY
    rig.connection.drop()
    assert await asked == [] and (await heard(following)).state is LinkState.READY
    await rig.connection.close()


async def test_a_pause_is_shown_and_cancelled(server: ScriptedServer) -> None:
    rig = Linked(server)
    pausing = asyncio.create_task(rig.connection.pause(900.0, "Resuming."))
    await asyncio.sleep(0)
    following = rig.connection.states()
    assert (await heard(following)).state is LinkState.OFFLINE
    pausing.cancel()
    await asyncio.gather(pausing, return_exceptions=True)
    assert (await heard(following)).state is LinkState.OFFLINE
    await rig.connection.pause(0.0, "Resuming.")
    assert await heard(following) == LinkChange(LinkState.WAITING, "Resuming.", 0.0)


# What is told, and how much an answer may be.


async def test_whoever_follows_a_closed_link_is_told_its_end_at_once() -> None:
    feed = LinkFeed()
    feed.close()
    assert [change async for change in feed.follow()] == [LinkChange(LinkState.OFFLINE)]


async def test_a_background_task_that_is_cancelled_is_no_fault_and_one_that_fails_is_told() -> None:
    told: list[str] = []
    background = LinkTasks(lambda name, error: told.append(f"{name}: {error}"))

    async def fail() -> None:
        raise ValueError("odd")

    background.run(asyncio.sleep(3_600), "sleeps").cancel()
    background.run(fail(), "fails")
    await background.close()
    assert told == ["fails: odd"]


@pytest.mark.parametrize(("pieces", "fits"), [((5, 5), True), ((5, 6), False), ((11,), False)])
def test_an_answer_of_too_many_bytes_or_characters_is_given_up(
    monkeypatch: pytest.MonkeyPatch, pieces: tuple[int, ...], fits: bool
) -> None:
    monkeypatch.setattr("session.wire.link.exchange.MOST_BYTES", 10)
    monkeypatch.setattr("session.wire.link.exchange.MOST_TEXT", 10)
    size = AnswerSize("api.test")
    adds: list[Callable[[int], None]] = [
        lambda length: size.add_frames([b"x" * length]),
        lambda length: size.add_events([Created("r" * 99), TextDelta("x" * length)]),
    ]
    for add in adds:
        with nullcontext() if fits else pytest.raises(LinkError, match=r"api\.test sent an answer of more"):
            for length in pieces:
                add(length)


async def test_a_request_that_is_of_use_at_once_waits_for_the_answer_and_no_longer(
    server: ScriptedServer,
) -> None:
    rig = Linked(server, SOCKET)
    server.replies.append([text("one")])
    answer = rig.connection.respond(HELLO)
    await anext(answer)
    asking = asyncio.create_task(beside(rig, at_once=True))
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(server.asked) == 1
    rig.connection.drop()
    await rig.until(asking.done)
    assert words(await asking) == "Hi"
    await answer.aclose()
    await rig.connection.close()
