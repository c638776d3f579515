"""The official ``openai`` client, which nobody here wrote, holds a conversation with the partner."""

from __future__ import annotations

from typing import Any

import openai
import pytest
from openai import AsyncOpenAI

from session.partner.script.load import DEMO, load
from session.partner.server.server import Partner

TOOL: Any = {"type": "custom", "name": "apply_patch", "description": "Edits files."}


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


async def test_two_turns_with_a_round_of_tool_calls() -> None:
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
