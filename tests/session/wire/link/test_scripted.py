"""The connection against a server in memory: what it sends, retries, falls back to and gives up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from session.base.tasks import LinkTasks
from session.wire.link.connection import Endpoint, LinkError, Login, Retries, Service
from session.wire.link.exchange import AnswerSize
from session.wire.link.retries import Backoff
from session.wire.link.state import LinkChange, LinkFeed, LinkState
from session.wire.protocol.events import Created, Finished, Garbled, ServerError, TextDelta, WireEvent
from session.wire.protocol.items import Item, user_message
from session.wire.transport.errors import NO_KEY, NO_UPGRADE, LinkProblem
from session.wire.transport.links import HOST_ENDED
from session.wire.transport.network import Standing
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET
from tests.session.wire.link.scripted import (
    HELLO,
    LOST,
    PROFILE,
    Linked,
    Reply,
    ScriptedServer,
    completed,
    heard,
    refusal,
    server,
    text,
)

__all__ = ["server"]

SPARE = Service(spare=True)
SOCKET = Service(routes=(RESPONSES_OVER_WEBSOCKET,))


def words(events: list[WireEvent]) -> str:
    return "".join(each.text for each in events if isinstance(each, TextDelta))


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


def logins(*keys: str | Exception | None) -> tuple[Login, list[object]]:
    left, asked = list(keys), list[object]()

    async def refresh() -> str | None:
        asked.append(left[0])
        found = left.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    return Login(refresh, "Log in again."), asked


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


# Requests beside the answer.


async def beside(rig: Linked, **options: Any) -> list[WireEvent]:
    return [each async for each in rig.connection.ask_in_parallel(PROFILE, HELLO, **options)]


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
