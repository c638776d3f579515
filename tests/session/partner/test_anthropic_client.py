"""The official ``anthropic`` client, which nobody here wrote, talks to the partner."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from session.partner.load_script import parse
from session.partner.server.server import Partner
from tests.session.wire.link.test_connection import script

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

pytestmark = pytest.mark.xdist_group("clients")
"""Each worker that imports one of the official clients does so for a second or two."""


def client(partner: Partner, key: str = "sk-practice") -> AsyncAnthropic:
    from anthropic import AsyncAnthropic

    return AsyncAnthropic(base_url=partner.url.removesuffix("/v1"), api_key=key, max_retries=0)


async def test_a_streamed_answer() -> None:
    async with Partner(scripts=script(), key="sk-practice") as partner, client(partner) as claude:
        asking: Any = [{"role": "user", "content": "edit"}]
        async with claude.messages.stream(model="m", max_tokens=99, messages=asking) as stream:
            text = "".join([piece async for piece in stream.text_stream])
            final = await stream.get_final_message()
        assert text.startswith("I will edit it.")
        assert [block.type for block in final.content] == ["thinking", "text"]
        assert final.stop_reason == "end_turn" and final.usage.output_tokens > 5


async def test_an_answer_that_is_not_streamed_and_a_count_of_tokens() -> None:
    async with Partner(scripts=script(), key="sk-practice") as partner, client(partner) as claude:
        asking: Any = [{"role": "user", "content": "edit"}]
        whole = await claude.messages.create(model="m", max_tokens=99, messages=asking)
        assert [block.type for block in whole.content] == ["thinking", "text"]
        assert whole.stop_reason == "end_turn" and whole.usage.output_tokens > 5
        counted = await claude.messages.count_tokens(model="m", messages=asking)
        assert counted.input_tokens > 0


async def test_refusals_are_its_own_errors() -> None:
    import anthropic

    asking: Any = [{"role": "user", "content": "fault"}]
    fail = 'code = "overloaded_error", message = "Overloaded", status = 529'
    async with Partner(scripts=script(f"[[scenario.step]]\nfail = {{{fail}}}"), key="sk-practice") as partner:
        async with client(partner, "wrong") as claude:
            with pytest.raises(anthropic.AuthenticationError):
                await claude.messages.create(model="m", max_tokens=9, messages=asking, stream=True)
        async with client(partner) as claude:
            with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
                await claude.messages.create(model="m", max_tokens=9, messages=asking, stream=True)


CALL = """
[[scenario]]
match = ["look"]
[[scenario.step]]
call = [{tool = "look", arguments = {path = "a.py"}}]
[[scenario.step]]
say = "I have looked."
"""


async def test_a_tool_is_called_and_its_result_is_read() -> None:
    tools: Any = [{"name": "look", "input_schema": {"type": "object"}}]
    asking: Any = [{"role": "user", "content": "look"}]
    async with Partner(scripts=parse(CALL), key="sk-practice") as partner, client(partner) as claude:
        async with claude.messages.stream(model="m", max_tokens=99, messages=asking, tools=tools) as stream:
            final = await stream.get_final_message()
        (call,) = [block for block in final.content if block.type == "tool_use"]
        assert (call.name, call.input, final.stop_reason) == ("look", {"path": "a.py"}, "tool_use")
        result = {"type": "tool_result", "tool_use_id": call.id, "content": "a = 1"}
        asking += [
            {"role": "assistant", "content": final.content},
            {"role": "user", "content": [result]},
        ]
        whole = await claude.messages.create(model="m", max_tokens=99, messages=asking, tools=tools)
        assert [block.text for block in whole.content if block.type == "text"] == ["I have looked."]


async def test_an_interrupt_stops_the_answer_and_the_conversation_goes_on_otherwise() -> None:
    asking: Any = [{"role": "user", "content": "long"}]
    async with Partner(rate=500, scripts=script(), key="sk-practice") as partner, client(partner) as claude:
        async with claude.messages.stream(model="m", max_tokens=99, messages=asking) as stream:
            said = await anext(aiter(stream.text_stream))
        async with asyncio.timeout(10):
            while not partner.cut:
                await asyncio.sleep(0.01)
        asking += [{"role": "assistant", "content": said.strip()}, {"role": "user", "content": "hello"}]
        whole = await claude.messages.create(model="m", max_tokens=99, messages=asking)
        assert [block.text for block in whole.content if block.type == "text"] == ["All is well."]
