"""Tests the connection over real sockets: warm-up, reuse, increments and server faults."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, LinkError, RequestProfile, Retries
from session.wire.link.retries import Backoff
from session.wire.link.state import LinkState
from session.wire.protocol.events import Created, Finished, Garbled, TextDelta, WireEvent
from session.wire.protocol.items import Item, tool_output, user_message
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET, Service

PROFILE = RequestProfile(
    "spark-partner", "Be a pair programmer. " * 20, ({"type": "custom", "name": "apply_patch"},)
)
SCRIPT = """
[[scenario]]
id = "edit"
match = ["edit"]
[[scenario.hunk]]
id = "one"
path = "a.py"
lines = '''
-a = 1
+a = 2
'''
[[scenario.step]]
think = "Hm."
[[scenario.step]]
say = "I will edit it."
[[scenario.step]]
patch = ["one"]
[[scenario.step]]
say = "Done."

[[scenario]]
id = "long"
match = ["long"]
[[scenario.step]]
say = "{words}"

[[scenario]]
id = "fault"
match = ["fault"]
times = 1
{fault}

[[scenario]]
id = "well"
match = ["fault", "hello"]
[[scenario.step]]
say = "All is well."
"""


def script(fault: str = '[[scenario.step]]\nsay = "x"', head: str = "") -> Any:
    return parse(head + SCRIPT.replace("{words}", "word " * 3000).replace("{fault}", fault))


@contextlib.asynccontextmanager
async def linked(partner: Partner, **options: Any) -> AsyncIterator[Connection]:
    connection = Connection(Endpoint(partner.url, options.pop("key", None)), PROFILE, **options)
    connection.start()
    try:
        yield connection
    finally:
        await connection.close()


async def until(connection: Connection, *wanted: LinkState) -> str | None:
    """Wait for one of these states and return its message."""
    async with asyncio.timeout(10):
        async for change in connection.states():
            if change.state in wanted:
                return change.message
    raise AssertionError("the states ended")


async def ask(connection: Connection, items: Sequence[Item]) -> list[WireEvent]:
    async with asyncio.timeout(20):
        return [event async for event in connection.respond(items)]


def said(events: list[WireEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def output(events: list[WireEvent]) -> list[Item]:
    last = events[-1]
    assert isinstance(last, Finished)
    return cast("list[Item]", list(last.output))


async def failing(connection: Connection, words: str) -> LinkError:
    with pytest.raises(LinkError) as caught:
        await ask(connection, [user_message(words)])
    assert "\n" not in caught.value.message
    return caught.value


async def test_the_link_is_warm_before_the_first_prompt_and_sends_only_new_items() -> None:
    async with Partner(rate=5000, scripts=script()) as partner, linked(partner) as connection:
        await until(connection, LinkState.READY)
        assert connection.warm_ups == 1
        items = [user_message("please edit this:\n" + "some file\n" * 4000)]
        events = await ask(connection, items)
        first = connection.last_request_bytes
        (call,) = [item for item in output(events) if item["type"] == "custom_tool_call"]
        items += [*output(events), tool_output(call["call_id"], "done")]
        assert said(await ask(connection, items)) == "Done."
        second = connection.last_request_bytes
        warm_up, one, two = partner.requests
        assert (warm_up.generate, one.previous_response_id is not None) == (False, True)
        assert two.items == (tool_output(call["call_id"], "done"),)
        assert (one.size, two.size) == (first, second)
        assert partner.connections == 1
        print(f"second turn / first turn: {second} / {first} bytes = {second / first:.1%}")
        assert second < first / 20


async def test_the_first_request_connects_when_nothing_was_started() -> None:
    async with Partner(scripts=script()) as partner:
        connection = Connection(Endpoint(partner.url), PROFILE)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert (connection.warm_ups, len(partner.requests)) == (0, 1)
        await connection.close()
        await connection.close()
        with pytest.raises(RuntimeError):
            await ask(connection, [])


async def test_drop_ends_the_answer_and_a_new_link_is_warm_at_once() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, linked(partner) as connection:
        await until(connection, LinkState.READY)
        events = []
        async with asyncio.timeout(10):
            async for event in connection.respond([user_message("long")]):
                events.append(event)
                if len(events) == 20:
                    connection.drop()
        assert len(events) == 20 and not isinstance(events[-1], Finished)
        connection.drop()
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert (partner.cut, partner.connections) == (1, 2)
        assert partner.requests[-1].previous_response_id is None


async def test_drop_from_another_task_ends_a_waiting_answer() -> None:
    fault = "[[scenario.step]]\nstall = 60"
    async with Partner(scripts=script(fault)) as partner, linked(partner) as connection:
        answer = asyncio.create_task(ask(connection, [user_message("fault")]))
        while not partner.requests or not partner.requests[-1].generate:
            await asyncio.sleep(0.01)
        connection.drop()
        assert not any(isinstance(event, Finished) for event in await answer)
        await until(connection, LinkState.READY)


async def test_leaving_the_loop_or_being_cancelled_drops_the_answer_too() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, linked(partner) as connection:
        answer = connection.respond([user_message("long")])
        async for event in answer:
            if isinstance(event, TextDelta):
                break
        await answer.aclose()
        task = asyncio.create_task(ask(connection, [user_message("long")]))
        while len(partner.requests) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_a_new_request_drops_the_running_answer() -> None:
    async with Partner(rate=2000, scripts=script()) as partner, linked(partner) as connection:
        answer = connection.respond([user_message("long")])
        assert isinstance(await anext(answer), Created)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert [event async for event in answer] == []
        assert partner.cut == 1


async def test_a_server_that_closes_mid_answer_fails_the_answer_and_nothing_else() -> None:
    fault = """
[[scenario.step]]
say = "one two three four"
tokens = 2
[[scenario.step]]
close = {code = 1011, reason = "oops"}
"""
    async with Partner(scripts=script(fault)) as partner, linked(partner) as connection:
        problem = await failing(connection, "fault")
        assert problem.kind == "closed" and "1011 (oops)" in problem.message
        assert said(await ask(connection, [user_message("fault")])) == "All is well."


async def test_a_cut_before_the_first_event_is_retried_silently() -> None:
    fault = "[[scenario.step]]\nclose = {}"
    async with Partner(scripts=script(fault)) as partner, linked(partner) as connection:
        events = await ask(connection, [user_message("fault")])
        assert said(events) == "All is well."
        assert [request.previous_response_id for request in partner.requests][-1] is None
        assert sum(isinstance(event, Created) for event in events) == 2


async def test_a_second_cut_is_reported() -> None:
    fault = "[[scenario.step]]\nclose = {}"
    twice = dataclasses.replace(script(fault), scenarios=())
    scenarios = tuple(dataclasses.replace(s, times=None) for s in script(fault).scenarios)
    twice = dataclasses.replace(twice, scenarios=scenarios)
    once = Retries(most=0)
    async with Partner(scripts=twice) as partner, linked(partner, retries=once) as connection:
        assert (await failing(connection, "fault")).kind == "closed"
        assert len([request for request in partner.requests if request.generate]) == 2


async def test_a_connection_lost_while_idle_is_replaced_in_the_background() -> None:
    async with Partner(scripts=script()) as partner, linked(partner) as connection:
        await until(connection, LinkState.READY)
        items = [user_message("hello")]
        items += output(await ask(connection, items))
        states = connection.states()
        await anext(states)
        await partner.drop_clients()
        seen = []
        async with asyncio.timeout(10):
            async for change in states:
                seen.append(change.state)
                if change.state is LinkState.READY:
                    break
        assert seen == ["offline", "connecting", "warming", "ready"]
        items.append(user_message("hello"))
        assert said(await ask(connection, items)) == "All is well."


async def test_an_id_that_the_server_forgot_is_retried_silently() -> None:
    async with Partner(scripts=script()) as partner, linked(partner) as connection:
        await until(connection, LinkState.READY)
        items = [user_message("hello")]
        items += output(await ask(connection, items))
        for client in partner._clients:
            client._remembered.clear()
        items.append(user_message("hello"))
        assert said(await ask(connection, items)) == "All is well."
        assert [len(request.items) for request in partner.requests] == [0, 1, 1, 3]
        assert partner.connections == 1


async def test_a_connection_that_is_too_old_is_replaced_silently() -> None:
    async with (
        Partner(scripts=script(head="requests_per_connection = 2\n")) as partner,
        linked(partner) as connection,
    ):
        await until(connection, LinkState.READY)
        for _ in range(3):
            assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert partner.connections >= 2


async def test_a_wrong_key_is_reported_and_the_next_request_recovers() -> None:
    async with Partner(scripts=script(), key="right") as partner:
        async with linked(partner, key="wrong") as connection:
            message = await until(connection, LinkState.FAILED)
            assert message is not None and "did not accept the API key" in message
            assert (await failing(connection, "hello")).kind == "unauthorized"
        async with linked(partner, key="right") as connection:
            assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_a_model_refused_at_the_warm_up_is_reported_and_another_works() -> None:
    head = 'refuse_models = ["spark-partner"]\n'
    async with Partner(scripts=script(head=head)) as partner, linked(partner) as connection:
        message = await until(connection, LinkState.FAILED)
        assert message is not None and "does not offer spark-partner" in message
        assert (await failing(connection, "hello")).kind == "model"
        connection.request = dataclasses.replace(PROFILE, model="other")
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


@pytest.mark.parametrize("warm_up", ["unsupported", "ignored"])
async def test_a_server_without_warm_ups_is_used_without_one(warm_up: str) -> None:
    head = f'warm_up = "{warm_up}"\n'
    async with Partner(scripts=script(head=head)) as partner, linked(partner) as connection:
        await until(connection, LinkState.READY)
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert connection.warm_ups == 0


async def test_invalid_frames_between_events_are_counted() -> None:
    fault = """
[[scenario.step]]
say = "Still "
[[scenario.step]]
garbage = ["<html>", "hex:fffe00", "[]", '{"type": 5}', '{"type": "response.unheard_of"}']
[[scenario.step]]
say = "here."
"""
    async with Partner(scripts=script(fault)) as partner, linked(partner) as connection:
        events = await ask(connection, [user_message("fault")])
        assert said(events) == "Still \n\nhere."
        assert connection.garbled == sum(isinstance(event, Garbled) for event in events) == 4


@pytest.mark.parametrize("shape", ["nested", "flat", "response"])
async def test_an_error_is_reported_and_the_link_is_kept(shape: str) -> None:
    fail = f'code = "insufficient_quota", message = "You spent it all.", status = 429, shape = "{shape}"'
    async with (
        Partner(scripts=script(f"[[scenario.step]]\nfail = {{{fail}}}")) as partner,
        linked(partner) as connection,
    ):
        await until(connection, LinkState.READY)
        problem = await failing(connection, "fault")
        assert (problem.kind, problem.code) == ("server", "insufficient_quota")
        assert said(await ask(connection, [user_message("fault")])) == "All is well."
        assert partner.connections == 1


async def test_a_silent_server_times_out() -> None:
    fault = "[[scenario.step]]\nstall = 60"
    async with Partner(scripts=script(fault)) as partner, linked(partner, idle_timeout=1.0) as connection:
        problem = await failing(connection, "fault")
        assert (problem.kind, problem.code) == ("closed", "idle_timeout")
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_a_server_that_starts_later_is_found() -> None:
    async with Partner(scripts=script()) as partner:
        port = partner.port
    connection = Connection(
        Endpoint(f"http://127.0.0.1:{port}/v1"), PROFILE, backoff=Backoff(first=0.01, longest=0.05)
    )
    connection.start()
    problem = await failing(connection, "hello")
    assert problem.kind == "unreachable" and "Nothing listens" in problem.message
    late = Partner(scripts=script())
    await late.serve(port)
    await until(connection, LinkState.READY)
    assert said(await ask(connection, [user_message("hello")])) == "All is well."
    await connection.close()
    await late.close()


async def test_a_server_without_websockets_is_reported() -> None:
    head = '[handshake]\nstatus = 426\nbody = "{}"\n'
    only = Service(routes=(RESPONSES_OVER_WEBSOCKET,))
    async with Partner(scripts=script(head=head)) as partner, linked(partner, service=only) as connection:
        await until(connection, LinkState.FAILED)
        assert (await failing(connection, "hello")).kind == "no_websocket"


async def test_a_bare_server_without_websockets_is_reported() -> None:
    async with Partner(scripts=script(head="bare = true\n")) as partner, linked(partner) as connection:
        events = await ask(connection, [user_message("edit")])
        assert said(events) == "I will edit it."
        assert [item["type"] for item in output(events)] == ["reasoning", "message", "custom_tool_call"]


async def test_a_request_that_json_cannot_hold_raises_to_the_caller() -> None:
    async with Partner(scripts=script()) as partner:
        profile = dataclasses.replace(PROFILE, extra={"odd": object()})
        connection = Connection(Endpoint(partner.url), profile)
        connection.start()
        await until(connection, LinkState.READY)
        with pytest.raises(ValueError, match="JSON"):
            await ask(connection, [user_message("hello")])
        await connection.close()


def test_waits_double_up_to_the_maximum() -> None:
    backoff = Backoff(first=0.2, longest=5.0, jitter=0.1)
    assert [backoff.wait(n, lambda: 0.5) for n in (0, 1, 2, 3, 9, 99)] == [0.0, 0.2, 0.4, 0.8, 5.0, 5.0]
    assert backoff.wait(1, lambda: 0.0) == pytest.approx(0.18)
    assert backoff.wait(1, lambda: 1.0) == pytest.approx(0.22)
