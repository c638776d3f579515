"""Tests answers over HTTP in every dialect through real sockets, and the fallback from WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from session.partner.script import Script
from session.partner.server.server import Partner
from session.wire.link.connection import Connection, Endpoint, Service
from session.wire.link.state import LinkState
from session.wire.protocol.events import Finished, ReasoningDelta, TextDelta
from session.wire.protocol.items import tool_output, user_message
from session.wire.transport.errors import LinkError
from session.wire.transport.http import HttpLink
from session.wire.transport.model_list import list_models
from session.wire.transport.refusals import Refusal
from session.wire.transport.service import RESPONSES_OVER_SSE, RESPONSES_OVER_WEBSOCKET, Route, Transport
from session.wire.transport.websocket import WebSocketLink
from tests.session.wire.link.test_connection import PROFILE, ask, failing, output, said, script, until
from tests.session.wire.transport.addresses import NAME, resolve_to
from tests.session.wire.transport.test_websocket import answering, error, http

CHAT = Route(Transport.SSE, "chat")
MESSAGES = Route(Transport.SSE, "messages")
ROUTES = [RESPONSES_OVER_SSE, CHAT, MESSAGES]


@contextlib.asynccontextmanager
async def over(partner: Partner, *routes: Route, **options: Any) -> AsyncIterator[Connection]:
    endpoint = Endpoint(partner.url, options.pop("key", None))
    spare = options.pop("spare", False)
    connection = Connection(endpoint, PROFILE, service=Service(routes=routes, spare=spare), **options)
    connection.start()
    try:
        yield connection
    finally:
        await connection.close()


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_every_dialect_gives_the_same_events(route: Route) -> None:
    async with Partner(rate=20_000, scripts=script()) as partner, over(partner, route) as connection:
        await until(connection, LinkState.READY)
        events = await ask(connection, [user_message("edit")])
        thoughts = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
        assert thoughts == "Hm."
        assert said(events).startswith("I will edit it.")
        last = events[-1]
        assert isinstance(last, Finished)
        assert (last.status, last.output[0]["type"]) == ("completed", "reasoning")
        assert last.usage is not None and last.usage.output_tokens > 5
        if route is RESPONSES_OVER_SSE:
            assert last.output[-1]["type"] == "custom_tool_call"
        else:
            assert "<<<<<<< SEARCH" in said(events)


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_a_second_turn_sends_the_full_input_on_the_same_connection(route: Route) -> None:
    async with Partner(scripts=script()) as partner, over(partner, route) as connection:
        items = [user_message("hello")]
        items += output(await ask(connection, items))
        items.append(user_message("hello"))
        assert said(await ask(connection, items)) == "All is well."
        assert partner.plain_connections == 1
        assert len(partner.requests[-1].items) >= 3


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_drop_ends_the_answer_and_the_next_request_uses_the_spare(route: Route) -> None:
    async with (
        Partner(rate=2000, scripts=script()) as partner,
        over(partner, route, spare=True) as connection,
    ):
        async with asyncio.timeout(10):
            while not connection.has_spare:
                await asyncio.sleep(0.01)
            count = 0
            async for event in connection.respond([user_message("long")]):
                count += isinstance(event, TextDelta)
                if count == 5:
                    connection.drop()
            assert (count, connection.promotions) == (5, 1)
            assert said(await ask(connection, [user_message("hello")])) == "All is well."
            while partner.cut != 1:
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_drop_before_the_first_event(route: Route) -> None:
    stalls = script("[[scenario.step]]\nstall = 60")
    async with Partner(scripts=stalls) as partner, over(partner, route) as connection:
        answer = asyncio.create_task(ask(connection, [user_message("fault")]))
        while not partner.requests:
            await asyncio.sleep(0.01)
        connection.drop()
        assert said(await answer) == ""
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


@pytest.mark.parametrize("route", ROUTES, ids=str)
async def test_a_cut_in_the_middle_fails_the_answer_and_nothing_else(route: Route) -> None:
    fault = '[[scenario.step]]\nsay = "one two three"\ntokens = 2\n[[scenario.step]]\nclose = {}'
    async with Partner(scripts=script(fault)) as partner, over(partner, route) as connection:
        assert (await failing(connection, "fault")).kind == "closed"
        assert said(await ask(connection, [user_message("fault")])) == "All is well."


@pytest.mark.parametrize("route", ROUTES, ids=str)
@pytest.mark.parametrize("shape", ["nested", "flat", "response"])
async def test_errors_before_and_in_the_stream_are_reported(route: Route, shape: str) -> None:
    fail = f'code = "insufficient_quota", message = "You spent it all.", status = 429, shape = "{shape}"'
    fault = f"[[scenario.step]]\nfail = {{{fail}}}"
    async with Partner(scripts=script(fault)) as partner, over(partner, route) as connection:
        problem = await failing(connection, "fault")
        assert (problem.kind, problem.code) == ("server", "insufficient_quota")
        assert "You spent it all." in problem.message
        assert said(await ask(connection, [user_message("fault")])) == "All is well."


@pytest.mark.parametrize("key_header", ["", "x-api-key"])
async def test_the_key_is_checked_while_connecting(key_header: str) -> None:
    async with Partner(scripts=script(), key="right") as partner:
        for key, state in (("wrong", LinkState.FAILED), ("right", LinkState.READY)):
            endpoint = Endpoint(partner.url, key, key_header=key_header)
            connection = Connection(endpoint, PROFILE, service=Service(routes=(CHAT,)))
            connection.start()
            message = await until(connection, LinkState.FAILED, LinkState.READY)
            assert connection.state is state
            assert state is LinkState.READY or (message and "did not accept the API key (401)" in message)
            await connection.close()


async def test_a_server_without_websockets_is_asked_over_http_with_one_notice() -> None:
    head = '[handshake]\nstatus = 426\nbody = "{}"\n'
    routes = (RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE)
    async with Partner(scripts=script(head=head)) as partner, over(partner, *routes) as connection:
        message = await until(connection, LinkState.READY)
        assert message is not None
        assert message.endswith("no Responses over WebSocket (426); using Responses over HTTP")
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        connection.drop()
        await partner.drop_clients()
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert (connection.way, partner.connections) == ("Responses over HTTP", 0)


@pytest.mark.parametrize("status", [400, 403, 500, 503])
async def test_a_refused_upgrade_falls_back_to_http(status: int) -> None:
    head = f'[handshake]\nstatus = {status}\nbody = "{{}}"\n'
    routes = (RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE)
    async with Partner(scripts=script(head=head)) as partner, over(partner, *routes) as connection:
        message = await until(connection, LinkState.READY)
        assert message is not None
        assert message.endswith(f"no Responses over WebSocket ({status}); using Responses over HTTP")
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


async def test_routes_fall_back_from_websocket_to_responses_to_chat() -> None:
    head = 'dialects = ["chat"]\n[handshake]\nstatus = 404\n'
    routes = (RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE, CHAT)
    async with Partner(scripts=script(head=head)) as partner, over(partner, *routes) as connection:
        assert said(await ask(connection, [user_message("hello")])) == "All is well."
        assert connection.way == "Chat Completions over HTTP"


async def test_a_websocket_lost_repeatedly_falls_back_to_http() -> None:
    fault = "[[scenario.step]]\nclose = {}"
    routes = (RESPONSES_OVER_WEBSOCKET, RESPONSES_OVER_SSE)
    text = fault + "\n"
    scenario = script(text)
    scenarios = [s for s in scenario.scenarios if s.id == "fault"]
    import dataclasses

    thrice = dataclasses.replace(
        scenario, scenarios=(dataclasses.replace(scenarios[0], times=3), *scenario.scenarios[3:])
    )
    async with Partner(scripts=thrice) as partner, over(partner, *routes) as connection:
        assert said(await ask(connection, [user_message("fault")])) == "All is well."
        assert connection.way == "Responses over HTTP"


async def test_an_error_is_reported_when_no_route_is_left() -> None:
    async with (
        Partner(scripts=script(head='dialects = ["messages"]\n')) as partner,
        over(partner, CHAT) as connection,
    ):
        problem = await failing(connection, "hello")
        assert (problem.kind, problem.status) == ("refused", 404)


@pytest.mark.parametrize(
    ("status", "body", "kind", "said_"),
    [
        ("200 OK", "<html>hello", "refused", "instead of an event stream"),
        ("301 Moved", "", "refused", "answers with a redirect (301)"),
        ("400 Bad Request", error("prompt is too long: 9 tokens > 8 maximum"), "context", "longer than"),
        ("400 Bad Request", error("bad\nthing"), "server", "bad thing"),
        ("402 Payment Required", error("no money"), "server", "used up"),
        ("403 Forbidden", "<html><title>Forbidden</title>", "unauthorized", "Forbidden"),
        ("404 Not Found", error("the model `spark-partner` does not exist"), "model", "does not offer spark"),
        ("409 Conflict", error("busy"), "server", "busy"),
        ("413 Too Large", "<html>too large", "context", "larger than"),
        ("429 Too Many", error("slow"), "server", "asks to slow down"),
        ("500 Oops", "<script>x</script><h1>Oops</h1>", "server", "not working right now (500): Oops"),
        ("502 Bad Gateway", "", "server", "(502)"),
        ("503 Unavailable", error("overloaded"), "server", "overloaded"),
        ("529 Overloaded", error("Overloaded", "overloaded_error"), "server", "(529): Overloaded"),
    ],
)
async def test_each_status_of_a_request_has_its_kind_and_message(
    status: str, body: str, kind: str, said_: str
) -> None:
    from session.wire.link.connection import Retries

    script_ = Script("refusing")
    async with Partner(scripts=script_) as partner:
        connection = Connection(
            Endpoint(partner.url, "sk"), PROFILE, service=Service(routes=(CHAT,)), retries=Retries(most=0)
        )
        connection.start()
        await until(connection, LinkState.READY)
        extra = "Location: https://example.invalid/v1\r\n" if status.startswith("3") else ""
        async with answering(http(status, body, extra=extra + "Connection: close\r\n")) as endpoint:
            line = connection._keeper.active
            assert line is not None and isinstance(line.link, HttpLink)
            line.link._url = endpoint.http_url("/chat/completions")
            problem = await failing(connection, "hello")
        await connection.close()
    assert problem.kind == kind
    assert said_ in problem.message


@pytest.mark.parametrize(
    ("extra", "wait"),
    [
        ("Retry-After: 77\r\nRetry-After-Ms: 1500\r\n", 1.5),
        (
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:50:07 GMT\r\n",
            30.0,
        ),
    ],
    ids=["milliseconds", "date"],
)
async def test_the_delay_in_the_headers_is_read(extra: str, wait: float) -> None:
    async with answering(http("429 Too Many", error("slow"), extra=extra)) as endpoint:
        link = await HttpLink.open(endpoint, "/chat/completions", open_timeout=5)
        with pytest.raises(Refusal) as caught:
            await link.send("{}")
        await link.close()
        assert caught.value.error.retry_after == wait
        with pytest.raises(LinkError) as refused:
            await WebSocketLink.open(endpoint)
        assert refused.value.retry_after == wait


async def test_several_addresses_fail_as_one_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    for addresses, port, words in (
        (("127.0.0.1", "127.0.0.2"), 1, "Nothing listens at several.localhost:1"),
        (("255.255.255.255", "127.0.0.1"), 1, "Nothing listens at several.localhost:1"),
        (("255.255.255.255", "255.255.255.255"), 11111, "could not be reached: "),
    ):
        with monkeypatch.context() as patch:
            resolve_to(patch, *addresses)
            with pytest.raises(LinkError, match=words):
                await HttpLink.open(Endpoint(f"http://{NAME}:{port}/v1"), "/responses", open_timeout=5)


async def test_an_unreachable_server_is_reported_over_http() -> None:
    async with answering(b"") as endpoint:
        pass
    with pytest.raises(LinkError) as caught:
        await HttpLink.open(endpoint, "/responses", open_timeout=5)
    assert caught.value.kind == "unreachable" and "Nothing listens" in caught.value.message
    with pytest.raises(LinkError) as caught:
        await HttpLink.open(Endpoint("https://no-such-host.invalid/v1"), "/responses", open_timeout=5)
    assert caught.value.kind == "unreachable" and "No host named" in caught.value.message
    async with answering(b"SSH-2.0-OpenSSH\r\n\r\n") as endpoint:
        with pytest.raises(LinkError) as caught:
            await HttpLink.open(endpoint, "/responses", open_timeout=5)
    assert caught.value.kind == "refused"
    async with answering(b"", close=False) as endpoint:
        with pytest.raises(LinkError) as caught:
            await HttpLink.open(endpoint, "/responses", open_timeout=0.2)
    assert "did not answer within 0.2 s" in caught.value.message


WHOLE = '{"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}'


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "text/event-stream", ""]
)
@pytest.mark.parametrize(
    ("body", "frames"),
    [(WHOLE, [WHOLE.encode()]), ('data: {"choices": []}\n\ndata: [DONE]\n', [b'{"choices": []}', b"[DONE]"])],
    ids=["one body", "a stream"],
)
async def test_an_answer_is_read_as_what_it_is(body: str, frames: list[bytes], kind: str) -> None:
    async with answering(http("200 OK", body, kind)) as endpoint:
        link = await HttpLink.open(endpoint, "/chat/completions", open_timeout=5)
        await link.send("{}")
        got: list[bytes] = []
        while (some := await link.receive()) is not None:
            got += some
        await link.close()
    assert got == frames


@pytest.mark.parametrize(
    ("body", "code", "status", "said_"),
    [
        ('{"error": {"code": 503, "message": "busy"}}', "503", 503, "busy"),
        ('[{"error": {"code": 429, "message": "slow"}}]', "429", 429, "slow"),
        ('{"error": "no", "choices": [{}]}', "", None, "no"),
        ('{"error": {"type": "overloaded_error", "message": "busy"}}', "overloaded_error", None, "busy"),
        ('{"detail": "no", "status": 200}', "", None, "no"),
    ],
)
async def test_an_error_with_the_status_of_a_success(
    body: str, code: str, status: int | None, said_: str
) -> None:
    async with answering(http("200 OK", body, "application/json")) as endpoint:
        link = await HttpLink.open(endpoint, "/chat/completions", open_timeout=5)
        await link.send("{}")
        with pytest.raises(Refusal) as caught:
            await link.receive()
        await link.close()
    error = caught.value.error
    assert (error.code, error.status, error.message) == (code, status, said_)


async def test_a_success_with_a_damaged_body_counts_as_a_lost_answer() -> None:
    async with answering(http("200 OK", '{"choices": [', "application/json")) as endpoint:
        link = await HttpLink.open(endpoint, "/chat/completions", open_timeout=5)
        await link.send("{}")
        with pytest.raises(LinkError) as caught:
            await link.receive()
        await link.close()
        assert caught.value.kind == "closed" and "damaged" in caught.value.message


async def test_a_silent_server_times_out_over_http() -> None:
    stalls = script("[[scenario.step]]\nstall = 60")
    async with Partner(scripts=stalls) as partner, over(partner, CHAT, idle_timeout=1.0) as connection:
        problem = await failing(connection, "fault")
        assert problem.code == "idle_timeout"
        assert said(await ask(connection, [user_message("hello")])) == "All is well."


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        (http("200 OK", json.dumps({"data": [{"id": "a"}, {"id": 7}, {"id": "b\nc"}]})), ("a", "b c")),
        (http("200 OK", "<html>"), ()),
        (http("500 No", "{}"), ()),
        (b"nonsense\r\n\r\n", ()),
        (http("200 OK", json.dumps({"data": 3})), ()),
    ],
)
async def test_the_list_of_models_is_read_or_ignored(reply: bytes, names: tuple[str, ...]) -> None:
    async with answering(reply) as endpoint:
        assert await list_models(endpoint) == names


async def test_a_tool_call_and_its_result_make_a_round_trip_over_http() -> None:
    async with Partner(scripts=script()) as partner, over(partner, RESPONSES_OVER_SSE) as connection:
        items = [user_message("edit")]
        events = await ask(connection, items)
        call = next(item for item in output(events) if item["type"] == "custom_tool_call")
        items += [*output(events), tool_output(call["call_id"], "done")]
        assert said(await ask(connection, items)) == "Done."


async def test_a_server_that_never_answers_for_its_models_holds_up_no_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("session.wire.transport.http._GREETING", 0.05)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        if not asked.startswith(b"HEAD"):
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n")
        await reader.read()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        endpoint = Endpoint(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", "sk-1")
        link = await HttpLink.open(endpoint, "/chat/completions", open_timeout=60)
        await link.send("{}")
        await link.close()
