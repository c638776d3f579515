"""A session with a server whose answers are odd goes on: each road once, through real sockets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from session.base.events import HunkLanded, HunkUndone, ReasoningDelta, TextDelta
from tests.session.calling import last_body, outputs, over
from tests.session.talking import COLOURS, colours_project, talking

BLOCK = """colours.py
```
<<<<<<< SEARCH
    return {old}
=======
    return {new}
>>>>>>> REPLACE
```
"""
DRAFT, EDIT = BLOCK.format(old=1, new=10), BLOCK.format(old=3, new=30)


def saying(text: str) -> str:
    return f"""
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["begin"]
[[scenario.step]]
say = {json.dumps(text)}
[[scenario]]
match = ["go on"]
[[scenario.step]]
say = "Going on.\\n"
"""


@pytest.mark.parametrize("route", ["responses", "chat", "messages"])
@pytest.mark.parametrize("opened", [True, False], ids=["opened", "not opened"])
async def test_what_is_thought_in_the_text_lands_nothing(tmp_path: Path, route: str, opened: bool) -> None:
    over(tmp_path, route)
    root = colours_project(tmp_path)
    text = f"{'<think>' if opened else ''}Perhaps:\n\n{DRAFT}\nNo.\n</think>\n\nI change blue.\n\n{EDIT}"
    async with talking(root, saying(text), model="spark-practice-text") as talk:
        talk.session.submit("begin")
        assert (await talk.ended("t1")).status == "completed"
        assert talk.text("colours.py") == COLOURS.replace("return 3", "return 30")
        assert len(talk.all(HunkLanded)) == len(talk.all(HunkUndone)) + 1
        if opened:
            assert not talk.all(HunkUndone)
            assert "Perhaps" in "".join(event.text for event in talk.all(ReasoningDelta))
            assert "Perhaps" not in "".join(event.text for event in talk.all(TextDelta))
        talk.session.submit("go on")
        assert (await talk.ended("t2")).status == "completed"
        sent = json.dumps(last_body(talk))
    assert "I change blue." in sent and ("Perhaps" in sent) is not opened


@pytest.mark.parametrize("route", ["websocket", "responses", "chat", "messages"])
async def test_a_call_that_no_server_takes_back_is_answered_and_mended(tmp_path: Path, route: str) -> None:
    over(tmp_path, route)
    root = colours_project(tmp_path)
    script = """
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["begin"]
[[scenario.step]]
call = [{ tool = "read<|channel|>json", arguments = "{}" }, { tool = "read", arguments = '{"path": ' }]
[[scenario.step]]
say = "Both were wrong.\\n"
[[scenario]]
match = ["go on"]
[[scenario.step]]
say = "Going on.\\n"
"""
    async with talking(root, script) as talk:
        talk.session.submit("begin")
        assert (await talk.ended("t1")).status == "completed"
        answers = outputs(talk)
        talk.session.submit("go on")
        assert (await talk.ended("t2")).status == "completed"
        sent = json.dumps(last_body(talk))
    assert "There is no tool called" in answers[0] and "not valid JSON" in answers[1]
    if route in ("chat", "messages"):
        assert '"name": "read_channel_json"' in sent and '"name": "read<|channel|>json"' not in sent


async def test_an_answer_that_cannot_be_read_is_no_empty_one(tmp_path: Path) -> None:
    over(tmp_path, "chat")
    odd = json.dumps({"choices": [{"delta": {"content": [{"type": "blob", "data": "x"}]}}]})
    script = f"""
models = ["spark-practice-text"]
[[scenario]]
match = ["begin"]
[[scenario.step]]
garbage = [{json.dumps(odd)}]
[[scenario]]
match = ["go on"]
[[scenario.step]]
say = "Going on.\\n"
"""
    async with talking(colours_project(tmp_path), script, model="spark-practice-text") as talk:
        talk.session.submit("begin")
        ended = await talk.ended("t1")
        assert (ended.status, ended.code) == ("failed", "unread")
        talk.session.submit("go on")
        assert (await talk.ended("t2")).status == "completed"
