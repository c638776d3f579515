"""Servers that number the calls of each response from zero, and answers that are cut after reasoning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from session.base.events import ReasoningDelta, TextDelta, ToolEnded
from session.turn.response import CUT
from tests.session.calling import ROUTES, last_body, outputs, over
from tests.session.talking import talking

TWO_CALLS = """
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["*"]
[[scenario.step]]
call = [{ tool = "read", arguments = { path = "a.txt" }, id = "call_0" }]
[[scenario.step]]
call = [{ tool = "read", arguments = { path = "b.txt" }, id = "call_0" }]
[[scenario.step]]
say = "Both are read.\\n"
"""

LONG = "one two three four five six seven eight nine ten " * 40


def cut_after(*frames: dict[str, Any], first: str = "") -> str:
    """A script whose model, after the steps ``first``, sends ``frames`` and then text that takes long."""
    garbage = json.dumps([json.dumps(frame) for frame in frames])
    return f"""
models = ["spark-practice"]
[[scenario]]
match = ["begin"]
{first}
[[scenario.step]]
garbage = {garbage}
[[scenario.step]]
say = "{LONG}"
[[scenario]]
match = ["go on"]
[[scenario.step]]
say = "Going on.\\n"
"""


def item_done(**item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": {"status": "completed", **item}, "output_index": 9}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("the first file\n")
    (folder / "b.txt").write_text("the second file\n")
    return folder


@pytest.mark.parametrize("route", ROUTES)
async def test_a_call_id_that_comes_again_in_a_later_response_gets_its_own_answer(
    root: Path, tmp_path: Path, route: str
) -> None:
    over(tmp_path, route)
    async with talking(root, TWO_CALLS) as talk:
        talk.session.submit("read both")
        assert (await talk.ended("t1")).status == "completed"
        answers = outputs(talk)
        body = json.dumps(last_body(talk))
    assert len(talk.all(ToolEnded)) == 2
    assert len(answers) == 2 and "the first file" in answers[0] and "the second file" in answers[1]
    # Servers refuse a conversation in which two calls have one id.
    assert '"call_0"' in body and '"call_0-2"' in body


async def test_a_call_that_was_cut_is_not_given_the_answer_of_an_earlier_call_of_its_id(root: Path) -> None:
    again = item_done(
        type="function_call", id="fc_2", call_id="call_0", name="read", arguments='{"path": "b.txt"}'
    )
    first = """
[[scenario.step]]
call = [{ tool = "read", arguments = { path = "a.txt" }, id = "call_0" }]
"""
    async with talking(root, cut_after(again, first=first), rate=200) as talk:
        talk.session.submit("begin")
        await talk.until(TextDelta)
        talk.session.submit("go on")
        assert (await talk.ended("t2")).status == "completed"
        given = [item for item in last_body(talk)["input"] if item["type"].startswith("function_call")]
    kinds = [(item["type"], item["call_id"]) for item in given]
    assert kinds == [
        ("function_call", "call_0"),
        ("function_call_output", "call_0"),
        ("function_call", "call_0-2"),
        ("function_call_output", "call_0-2"),
    ]
    assert "the first file" in given[1]["output"] and given[3]["output"] == CUT


@pytest.mark.parametrize("route", ["websocket", "responses"])
async def test_sealed_reasoning_that_nothing_followed_is_not_sent_back(
    root: Path, tmp_path: Path, route: str
) -> None:
    over(tmp_path, route)
    sealed = item_done(type="reasoning", id="rs_1", summary=[], encrypted_content="c2VhbGVk")
    script = cut_after(sealed).replace('say = "one', 'think = "one')
    async with talking(root, script, rate=200) as talk:
        talk.session.submit("begin")
        await talk.until(ReasoningDelta)
        talk.session.interrupt()
        await talk.ended("t1")
        talk.session.submit("go on")
        assert (await talk.ended("t2")).status == "completed"
        kinds = [item["type"] for item in last_body(talk)["input"]]
    assert "reasoning" not in kinds


async def test_sealed_reasoning_is_sent_back_with_the_words_that_followed_it(root: Path) -> None:
    sealed = item_done(type="reasoning", id="rs_1", summary=[], encrypted_content="c2VhbGVk")
    async with talking(root, cut_after(sealed), rate=200) as talk:
        talk.session.submit("begin")
        await talk.until(TextDelta)
        talk.session.submit("go on")
        assert (await talk.ended("t2")).status == "completed"
        items = last_body(talk)["input"]
    (at,) = [place for place, item in enumerate(items) if item["type"] == "reasoning"]
    assert items[at]["encrypted_content"] == "c2VhbGVk" and items[at + 1]["role"] == "assistant"
