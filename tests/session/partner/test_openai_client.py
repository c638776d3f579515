"""The official ``openai`` client, which nobody here wrote, holds a conversation with the partner."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from session.partner.load_script import DEMO, load, parse
from session.partner.script import Script
from session.partner.server.server import Partner

if TYPE_CHECKING:
    from openai import AsyncOpenAI

pytestmark = pytest.mark.xdist_group("clients")
"""Each worker that imports one of the official clients does so for a second or two."""

TOOL: Any = {"type": "custom", "name": "apply_patch", "description": "Edits files."}


@asynccontextmanager
async def talking(script: Script, rate: float = 50_000) -> AsyncIterator[tuple[Partner, AsyncOpenAI]]:
    """A partner and a client that does not retry."""
    from openai import AsyncOpenAI

    async with (
        Partner(rate=rate, scripts=script) as partner,
        AsyncOpenAI(base_url=partner.url, api_key="k", max_retries=0) as client,
    ):
        yield partner, client


async def answer(connection: Any) -> tuple[str, str, Any]:
    """The text and the tool input as they streamed, and the final response."""
    text = tool_input = ""
    async for event in connection:
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type == "response.custom_tool_call_input.delta":
            tool_input += event.delta
        elif event.type == "response.completed":
            return text, tool_input, event.response
        assert event.type != "error", event
    raise AssertionError("the connection ended")


async def test_answers_that_are_not_streamed() -> None:
    async with talking(load(DEMO)) as (_, client):
        whole = await client.responses.create(
            model="m", input="Explain how a task gets from the page to the disk"
        )
        assert "os.replace" in whole.output_text and whole.usage is not None
        asking: Any = [{"role": "user", "content": "Explain how a task gets from the page to the disk"}]
        chat = await client.chat.completions.create(model="m", messages=asking)
        assert "os.replace" in (chat.choices[0].message.content or "")
        assert chat.choices[0].finish_reason == "stop" and chat.usage is not None
        counted = await client.responses.input_tokens.count(model="m", input="hello")
        assert counted.input_tokens > 0


async def test_a_stored_response_is_retrieved_continued_cancelled_and_deleted() -> None:
    import openai

    async with talking(load(DEMO)) as (partner, client):
        first = await client.responses.create(
            model="m", input="Explain how a task gets from the page to the disk"
        )
        again = await client.responses.retrieve(first.id)
        assert (again.id, again.output_text, again.status) == (first.id, first.output_text, "completed")
        second = await client.responses.create(model="m", input="and now?", previous_response_id=first.id)
        assert second.id != first.id and len(partner.requests[-1].items) == 4, "reasoning is kept too"
        await client.responses.delete(first.id)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(first.id)
        unstored = await client.responses.create(model="m", input="hello", store=False)
        with pytest.raises(openai.NotFoundError):
            await client.responses.retrieve(unstored.id)


async def test_cancelling_ends_an_answer_that_streams() -> None:
    async with talking(load(DEMO), rate=50) as (partner, client):
        stream = await client.responses.create(
            model="m", input="Explain how a task gets from the page to the disk", stream=True
        )
        async for event in stream:
            if event.type == "response.created":
                cancelled = await client.responses.cancel(event.response.id)
                break
        assert cancelled.status == "cancelled"
        await stream.close()
        assert partner.cut == 1


async def test_a_limit_says_when_to_ask_again() -> None:
    import openai

    limit = 'fail = { code = "rate_limit_exceeded", status = 429, retry_after = 7 }'
    script = parse(f'[[scenario]]\nmatch = ["*"]\n[[scenario.step]]\n{limit}\n')
    async with talking(script) as (_, client):
        with pytest.raises(openai.RateLimitError) as caught:
            await client.responses.create(model="m", input="hello")
        assert caught.value.response.headers["retry-after"] == "7"


async def test_two_turns_with_a_round_of_tool_calls() -> None:
    from openai import AsyncOpenAI

    script = load(DEMO)
    bug = next(told for told in script.scenarios if told.id == "lost-task")
    async with (
        Partner(rate=50_000, scripts=script, key="sk-practice") as partner,
        AsyncOpenAI(base_url=partner.url, api_key="sk-practice") as client,
        client.responses.connect() as connection,
    ):
        await connection.response.create(model="spark-partner", input=bug.prompt, tools=[TOOL])
        text, tool_input, first = await answer(connection)
        assert "The cause is in `Store.add`" in text
        assert tool_input.startswith("*** Begin Patch\n*** Update File: tasks/store.py")
        (call,) = [item for item in first.output if item.type == "custom_tool_call"]
        assert (call.name, call.input) == ("apply_patch", tool_input)
        result: Any = {"type": "custom_tool_call_output", "call_id": call.call_id, "output": "Done!"}
        await connection.response.create(
            model="spark-partner", input=[result], tools=[TOOL], previous_response_id=first.id
        )
        text, tool_input, second = await answer(connection)
        assert "That fixes it" in text and tool_input == ""
        await connection.response.create(
            model="spark-partner",
            input="Explain how a task gets from the page to the disk",
            previous_response_id=second.id,
        )
        text, _, third = await answer(connection)
        assert "os.replace" in text and text == third.output_text
        assert third.usage.input_tokens_details.cached_tokens > 0
        assert [model.id async for model in client.models.list()] == ["spark-practice", "spark-practice-text"]


async def test_it_is_told_what_is_wrong() -> None:
    import openai
    from openai import AsyncOpenAI

    async with Partner(rate=50_000, key="sk-practice") as partner:
        async with AsyncOpenAI(base_url=partner.url, api_key="wrong", max_retries=0) as client:
            with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
                await client.models.list()
        async with (
            AsyncOpenAI(base_url=partner.url, api_key="sk-practice") as client,
            client.responses.connect() as connection,
        ):
            await connection.response.create(model="m", input="hi", previous_response_id="resp_unknown")
            event: Any = await connection.recv()
            assert event.type == "error"
            assert "previous_response_not_found" in event.to_json()


async def test_the_other_dialects_it_speaks() -> None:
    from openai import AsyncOpenAI

    async with (
        Partner(rate=50_000, scripts=load(DEMO), key="sk-practice") as partner,
        AsyncOpenAI(base_url=partner.url, api_key="sk-practice") as client,
    ):
        assert [model.id async for model in client.models.list()] == list(partner.script.models)
        streamed = await client.responses.create(model="m", input="anything", stream=True)
        kinds = [event.type async for event in streamed]
        assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
        asking: Any = [{"role": "user", "content": "anything"}]
        options: Any = {"stream_options": {"include_usage": True}}
        chat = await client.chat.completions.create(model="m", messages=asking, stream=True, **options)
        chunks = [chunk async for chunk in chat]
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        assert len(text) > 50 and chunks[-1].usage is not None


STORY = f"""
[[scenario]]
match = ["story"]
[[scenario.step]]
think = "{"hm " * 200}"
[[scenario.step]]
say = "Once upon a time."
[[scenario]]
match = ["shorter"]
[[scenario.step]]
say = "Once."
"""


async def test_an_answer_is_steered_and_its_events_are_of_the_documented_types() -> None:
    from openai import AsyncOpenAI
    from openai.types.responses import ResponseSteerAcceptedEvent, ResponseSteerFailedEvent

    async with (
        Partner(rate=2_000, scripts=parse(STORY)) as partner,
        AsyncOpenAI(base_url=partner.url, api_key="k") as client,
        client.responses.connect() as connection,
    ):
        await connection.response.create(model="gpt-6-sol", input="a story")
        first: Any = await connection.recv()
        assert first.type == "response.created"
        steer: Any = {"type": "response.steer", "previous_response_id": first.response.id, "input": "shorter"}
        await connection.send(steer)
        events: list[Any] = []
        while not (events and events[-1].type == "response.completed"):
            events.append(await connection.recv())
        (accepted,) = [event for event in events if isinstance(event, ResponseSteerAcceptedEvent)]
        assert accepted.steer.previous_response_id == first.response.id
        (stopped,) = [event for event in events if event.type == "response.incomplete"]
        assert stopped.response.incomplete_details.reason == "steered"
        successor = events[-1].response
        assert successor.output_text == "Once."
        steer["previous_response_id"] = successor.id
        await connection.send(steer)
        late: Any = await connection.recv()
        assert isinstance(late, ResponseSteerFailedEvent)
        assert late.error.code == "response_already_completed" and late.steer.input == "shorter"
