"""Tests that an optional field is omitted, for each model, after a server refuses it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection, serve

from session.wire.link.connection import Connection, Endpoint, LinkError, RequestProfile, Service
from session.wire.link.refused_parts import OptionalFields
from session.wire.link.state import LinkState
from session.wire.protocol.dialects import dialect
from session.wire.protocol.errors import read_error
from session.wire.protocol.events import Finished, ServerError, TextDelta
from session.wire.protocol.items import Item, OutputText, ToolDefinition, user_message
from session.wire.protocol.request import Quirks
from session.wire.transport.service import RESPONSES_OVER_WEBSOCKET

PROFILE = RequestProfile("m", effort="low", include=("reasoning.encrypted_content",), prompt_cache_key="k")


def refusal(param: str = "", message: str = "", status: int | None = 400) -> ServerError:
    return ServerError("unsupported_value", message, status, None, param)


def test_the_field_is_known_by_its_name_or_by_the_message() -> None:
    fields = OptionalFields(Quirks())
    assert fields.learn(refusal("reasoning.summary"), PROFILE) == "reasoning.summary"
    assert fields.learn(refusal("reasoning.summary"), PROFILE) == "reasoning", (
        "it is out: the rest is refused"
    )
    assert fields.learn(refusal("include[0]"), PROFILE)
    assert fields.learn(refusal(message="Unknown parameter: 'prompt_cache_key'."), PROFILE)
    assert fields.left_out("m") == {"reasoning.summary", "reasoning", "include", "prompt_cache_key"}
    assert not fields.left_out("another")
    for error in (
        refusal("model"),
        refusal("service_tier"),
        refusal(message="do include something"),
        refusal("include", status=500),
        refusal("include", status=401),
        refusal("input[0]"),
    ):
        assert not fields.learn(error, RequestProfile("another"))


@pytest.mark.parametrize(
    ("error", "left_out"),
    [
        (refusal(message='"llama3.2:latest" does not support thinking'), "reasoning_effort"),
        (
            ServerError("", "`reasoning_effort` is not supported with this model", 400, None),
            "reasoning_effort",
        ),
        (refusal("reasoning.effort"), "reasoning.effort"),
        (refusal(message='"thinking.type.enabled" is not supported for this model'), "thinking"),
        (refusal("stream_options.x"), "stream_options"),
        (refusal(message="Unknown parameter: 'text.verbosity'."), "text.verbosity"),
        (refusal(message="Unknown parameter: stream_options"), "stream_options"),
        (refusal(message="prompt_cache_key: Extra inputs are not permitted"), "prompt_cache_key"),
        (refusal(message="reasoning.effort is not known"), "reasoning.effort"),
    ],
)
def test_an_effort_that_a_model_does_not_take_is_left_out(error: ServerError, left_out: str) -> None:
    fields = OptionalFields(Quirks())
    assert fields.learn(error, PROFILE) == left_out


def test_a_model_that_calls_tools_over_chat_without_thinking_alone_is_asked_so() -> None:
    message = (
        "Function tools with reasoning_effort are not supported for gpt-6-luna in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    )
    fields = OptionalFields(Quirks())
    profile = replace(PROFILE, tools=({"type": "function", "name": "read"},))
    error = refusal("reasoning_effort", message)
    assert fields.learn(error, profile) == "an effort beside tools"
    body = dialect("chat").encode(fields.adapted(profile), [user_message("hello")])
    assert body["reasoning_effort"] == "none" and body["tools"]
    assert fields.adapted(PROFILE).effort == "low", "without tools it may think"
    assert fields.learn(error, profile) == "reasoning_effort", "it was of no use: then without the field"


def test_instructions_and_tools_become_fields_where_they_are_refused_as_items() -> None:
    tools: tuple[ToolDefinition, ...] = ({"type": "function", "name": "read"},)
    profile = RequestProfile("m", "Be brief.", tools, tools_as_item=True, instructions_as_item=True)
    fields = OptionalFields(Quirks())
    refused = refusal(message="Invalid type: 'additional_tools'.")
    assert fields.learn(refused, profile)
    assert fields.adapted(profile).fields(standing_items=True)["tools"] == list(tools)
    assert [item["type"] for item in fields.adapted(profile).standing_items()] == ["message"]
    assert not fields.learn(refused, profile), "it is out already"
    assert fields.learn(refusal("input[0].role"), profile)
    assert fields.adapted(profile).standing_items() == []
    assert fields.adapted(profile).fields(standing_items=True)["instructions"] == "Be brief."


def test_a_nested_field_is_omitted_alone() -> None:
    body = {"reasoning": {"effort": "low", "summary": "auto"}, "include": ["x"], "input": []}
    kept = Quirks().without(frozenset({"reasoning.summary", "include"})).apply(body)
    assert kept == {"reasoning": {"effort": "low"}, "input": []}
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert Quirks().without(frozenset({"input.x"})).apply(body) == body


def test_the_name_of_the_field_is_read_from_the_error() -> None:
    told = {"error": {"code": "unsupported_value", "message": "no", "param": "reasoning.summary"}}
    assert read_error(told).param == "reasoning.summary"
    assert read_error({"error": {"message": "no", "param": None}}).param == ""


@asynccontextmanager
async def strict(*refused: str) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """A WebSocket server that refuses these fields one by one, also in warm-ups, and records its requests."""
    bodies: list[dict[str, Any]] = []

    async def handle(connection: ServerConnection) -> None:
        async for frame in connection:
            body = json.loads(frame)
            bodies.append(body)
            flat = {*body, *(f"reasoning.{name}" for name in body.get("reasoning", {}))}
            bad = next((name for name in refused if name in flat), None)
            if bad is not None:
                error = {"code": "unsupported_value", "message": "Not for you.", "param": bad}
                await connection.send(json.dumps({"type": "error", "status": 400, "error": error}))
                continue
            if body.get("generate", True):
                await connection.send(json.dumps({"type": "response.output_text.delta", "delta": "Hi"}))
            final = {"type": "response.completed", "response": {"id": f"r{len(bodies)}"}}
            await connection.send(json.dumps(final))

    async with serve(handle, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1", bodies


async def told(connection: Connection) -> str:
    events = [event async for event in connection.respond([user_message("hello")])]
    assert isinstance(events[-1], Finished)
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize("warm_up", [True, False])
async def test_refused_fields_are_omitted_and_remembered(warm_up: bool) -> None:
    async with strict("reasoning.summary", "prompt_cache_key") as (url, bodies):
        service = Service(routes=(RESPONSES_OVER_WEBSOCKET,), warm_up=warm_up)
        connection = Connection(Endpoint(url), PROFILE, service=service)
        assert await told(connection) == "Hi"
        assert connection.left_out == ("prompt_cache_key", "reasoning.summary")
        before = len(bodies)
        assert await told(connection) == "Hi"
        assert len(bodies) == before + 1
        assert bodies[-1]["reasoning"] == {"effort": "low"} and "prompt_cache_key" not in bodies[-1]
        await connection.close()


async def test_a_warm_up_omits_refused_fields() -> None:
    async with strict("reasoning.summary") as (url, bodies):
        connection = Connection(Endpoint(url), PROFILE, service=Service(routes=(RESPONSES_OVER_WEBSOCKET,)))
        connection.start()
        async for change in connection.states():
            if change.state is LinkState.READY:
                break
        assert connection.warm_ups == 1 and len(bodies) == 2
        assert await told(connection) == "Hi"
        assert bodies[-1]["previous_response_id"] == "r2"
        await connection.close()


async def test_a_refused_required_field_fails_at_once() -> None:
    async with strict("input") as (url, bodies):
        service = Service(routes=(RESPONSES_OVER_WEBSOCKET,), warm_up=False)
        connection = Connection(Endpoint(url), PROFILE, service=service)
        with pytest.raises(LinkError, match="Not for you"):
            await told(connection)
        assert len(bodies) == 1
        await connection.close()


@pytest.mark.parametrize("takes_it", [True, False])
async def test_a_conversation_goes_on_with_another_effort_unless_that_is_refused(takes_it: bool) -> None:
    efforts: list[str] = []
    bodies: list[dict[str, Any]] = []

    async def handle(connection: ServerConnection) -> None:
        async for frame in connection:
            body = json.loads(frame)
            bodies.append(body)
            effort = body["reasoning"]["effort"]
            if not takes_it and "previous_response_id" in body and effort != efforts[-1]:
                error = {"code": "invalid_value", "message": "Not with another effort."}
                await connection.send(json.dumps({"type": "error", "status": 400, "error": error}))
                continue
            efforts.append(effort)
            if body.get("generate", True):
                await connection.send(json.dumps({"type": "response.output_text.delta", "delta": "Hi"}))
            final = {"type": "response.completed", "response": {"id": f"r{len(bodies)}"}}
            await connection.send(json.dumps(final))

    async with serve(handle, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1"
        connection = Connection(Endpoint(url), PROFILE, service=Service(routes=(RESPONSES_OVER_WEBSOCKET,)))
        connection.start()
        async for change in connection.states():
            if change.state is LinkState.READY:
                break
        for effort in ("high", "medium"):
            connection.request = replace(PROFILE, effort=effort)
            assert await told(connection) == "Hi"
            assert bodies[-1]["reasoning"]["effort"] == effort
        if takes_it:
            assert [body.get("previous_response_id") for body in bodies[1:]] == ["r1", None]
            assert len(bodies) == 3, "the second question is another conversation"
        else:
            assert [body.get("previous_response_id") for body in bodies[1:]] == ["r1", None, None]
            assert connection.left_out == ("another effort in a continued conversation",)
        await connection.close()


@pytest.mark.parametrize("takes_it", [True, False])
async def test_a_conversation_goes_on_with_another_effort_as_an_item_unless_that_is_refused(
    takes_it: bool,
) -> None:
    bodies: list[dict[str, Any]] = []

    async def handle(connection: ServerConnection) -> None:
        async for frame in connection:
            body = json.loads(frame)
            bodies.append(body)
            kinds = [item["type"] for item in body["input"]]
            if not takes_it and "configuration_update" in kinds:
                message = "The 'configuration_update' item type is not supported with this model."
                param = f"input[{kinds.index('configuration_update')}].type"
                error = {"code": "unsupported_value", "message": message, "param": param}
                await connection.send(json.dumps({"type": "error", "status": 400, "error": error}))
                continue
            if body.get("generate", True):
                await connection.send(json.dumps({"type": "response.output_text.delta", "delta": "Hi"}))
            final = {"type": "response.completed", "response": {"id": f"r{len(bodies)}"}}
            await connection.send(json.dumps(final))

    async with serve(handle, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{next(iter(server.sockets)).getsockname()[1]}/v1"
        profile = replace(PROFILE, effort_items=True)
        connection = Connection(Endpoint(url), profile, service=Service(routes=(RESPONSES_OVER_WEBSOCKET,)))
        connection.start()
        async for change in connection.states():
            if change.state is LinkState.READY:
                break
        items: list[Item] = []
        for effort in ("high", "low", "low"):
            connection.request = replace(profile, effort=effort)
            items.append(user_message("hello"))
            async for event in connection.respond(items):
                if isinstance(event, Finished):
                    hi: OutputText = {"type": "output_text", "text": "Hi"}
                    items.append({"type": "message", "role": "assistant", "content": [hi]})
        await connection.close()
    said = [
        (
            body["reasoning"]["effort"],
            body.get("previous_response_id"),
            [item.get("reasoning", {}).get("effort", item.get("role")) for item in body["input"]],
        )
        for body in bodies
    ]
    if takes_it:
        assert said == [
            ("low", None, []),
            ("low", "r1", ["high", "user"]),
            ("low", "r2", ["low", "user"]),
            ("low", "r3", ["user"]),
        ]
    else:
        assert connection.left_out == ("another effort as an item of the conversation",)
        assert [effort for effort, *_ in said] == ["low", "low", "high", "low", "low"]
        assert said[1][2] == ["high", "user"]
        assert not any({"high", "low"} & set(kinds) for _, _, kinds in said[2:])
