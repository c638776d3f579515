"""Turns in which the model calls tools: a real session, real sockets in every dialect, real programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from session.base.events import (
    HunkLanded,
    Notice,
    TextDelta,
    ToolCalled,
    ToolEnded,
    ToolHeld,
    TurnStarted,
    from_dict,
    to_dict,
)
from tests.session.calling import ROUTES, allow, calling, outputs, over
from tests.session.talking import COLOURS, RED, talking

LOOK = f"""
models = ["spark-practice", "spark-practice-text"]
[[scenario]]
match = ["look"]

{RED}
[[scenario.step]]
think = "Where is red?"
[[scenario.step]]
say = "Let me look.\\n"
[[scenario.step]]
call = [
  {{ tool = "search", arguments = {{ pattern = "def r" }} }},
  {{ tool = "read", arguments = {{ path = "colours.py", first_line = 1, last_line = 2 }} }},
  {{ tool = "list" }},
]
[[scenario.step]]
call = [{{ tool = "outline", arguments = {{ path = "colours.py" }} }}]
[[scenario.step]]
say = "Found it.\\n"
[[scenario.step]]
patch = ["red"]
[[scenario.step]]
say = "Red is ten.\\n"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "colours.py").write_text(COLOURS)
    return folder


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("model", ["spark-practice", "spark-practice-text"])
async def test_calls_are_answered_together_and_the_turn_goes_on(
    root: Path, tmp_path: Path, route: str, model: str
) -> None:
    over(tmp_path, route)
    async with talking(root, LOOK, model=model) as talk:
        talk.session.submit("have a look")
        assert (await talk.ended("t1")).status == "completed", talk.all(Notice)
        requests = [
            each for each in talk.partner.requests if each.generate and each.body.get("max_tokens") != 0
        ]
    assert talk.text("colours.py") == COLOURS.replace("return 1", "return 10")
    assert [event.line for event in talk.all(ToolCalled)] == [
        'search "def r"',
        "read colours.py 1–2",
        "list .",
        "outline colours.py",
    ]
    ended = {event.call: event for event in talk.all(ToolEnded)}
    assert [ended[event.call].line for event in talk.all(ToolCalled)] == [
        'search "def r" · 1 match in 1 file',
        "read colours.py 1–2 · lines 1-2 of 10",
        "list . · 1 file",
        "outline colours.py · 3 definitions",
    ]
    assert {event.status for event in ended.values()} == {"done"}
    answer = "".join(event.text for event in talk.all(TextDelta))
    assert answer.replace("\n", "") == "Let me look.Found it.Red is ten."
    patched = model == "spark-practice" and route in ("websocket", "responses")
    assert len(requests) == 3 + patched, "one request for each round, however many calls it had"


@pytest.mark.parametrize("route", ["chat", "messages", "responses"])
async def test_the_answers_follow_the_calls_in_their_order(root: Path, tmp_path: Path, route: str) -> None:
    over(tmp_path, route)
    async with talking(root, LOOK, model="spark-practice-text") as talk:
        talk.session.submit("have a look")
        await talk.ended("t1")
        found = outputs(talk)
        body = talk.partner.requests[-1].body
    assert [text.split("\n")[0] for text in found] == [
        "1 match in 1 file",
        "## File: colours.py (lines 1-2 of 10)",
        ".: 1 file",
        "colours.py (10 lines)",
    ]
    if route == "messages":
        first = next(message for message in body["messages"] if message["role"] == "assistant")
        assert [block["type"] for block in first["content"]] == ["thinking", "text", *["tool_use"] * 3]
        assert first["content"][0]["thinking"] == "Where is red?" and first["content"][0]["signature"]


async def test_over_a_websocket_only_the_answers_are_sent(root: Path) -> None:
    async with talking(root, LOOK) as talk:
        talk.session.submit("have a look")
        await talk.ended("t1")
        second = talk.requests()[1]
    assert isinstance(second, list)
    assert [item["type"] for item in second] == ["function_call_output"] * 3


async def test_a_call_that_cannot_be_made_is_answered_with_the_reason(root: Path) -> None:
    (root / "data.bin").write_bytes(b"\0\1\2")
    (root / ".env").write_text("TOKEN=abc\n")
    (root / "away").symlink_to("/etc/passwd")
    calls: list[tuple[str, Any]] = [
        ("delete", {"path": "colours.py"}),
        ("read", "{not json"),
        ("read", "[1]"),
        ("read", {}),
        ("read", {"path": 3}),
        ("read", {"path": "colours.py", "lines": 3}),
        ("read", {"path": "colours.py", "first_line": 0}),
        ("read", {"path": "../project.txt"}),
        ("read", {"path": "/etc/passwd"}),
        ("read", {"path": "away"}),
        ("read", {"path": "data.bin"}),
        ("read", {"path": ".env"}),
        ("read", {"path": "nowhere/colours.py"}),
        ("read", {"path": "a\u0000b"}),
        ("search", {"pattern": "("}),
        ("run", {"command": "true\u202e"}),
    ]
    async with talking(root, calling(*calls)) as talk:
        talk.session.submit("go")
        assert (await talk.ended("t1")).status == "completed"
        told = outputs(talk)
    assert [event.status for event in talk.all(ToolEnded)] == ["failed"] * len(calls)
    expected = [
        "There is no tool called 'delete'; there are read, search, list, outline, run.",
        "not valid JSON",
        "must be a JSON object",
        "path is missing",
        "path must be a string, not 3",
        "There is no argument 'lines'",
        "first_line must be at least 1",
        "outside the project",
        "outside the project",
        "leads outside the project",
        "a binary file",
        "a secret file",
        "Of that name there is colours.py",
        "no path of this project",
        "cannot be searched",
        "invisible character (U+202E)",
    ]
    for text, part in zip(told, expected, strict=True):
        assert part in text
    assert not talk.all(ToolHeld), "what is refused is not put to the user"


async def test_a_large_answer_is_cut_to_the_room_that_the_window_has(root: Path, tmp_path: Path) -> None:
    allow(tmp_path, "[models.spark-practice]\nwindow = 12000\noutput_reserve = 2000\n")
    (root / "long.txt").write_text(
        "".join(f"line {n} of a long file with words in it\n" for n in range(5000))
    )
    calls = [("read", {"path": "long.txt", "first_line": 1 + 500 * n}) for n in range(4)]
    script = calling(*calls).replace(
        "[[scenario.step]]\nsay",
        """[[scenario.step]]
call = [{ tool = "read", arguments = { path = "long.txt" } }]
[[scenario.step]]
say""",
        1,
    )
    async with talking(root, script) as talk:
        talk.session.submit("go")
        assert (await talk.ended("t1")).status == "completed"
        *first, last = [
            item["output"]
            for body in talk.requests()
            for item in body  # type: ignore[attr-defined]
            if item["type"] == "function_call_output"
        ]
        (started,) = talk.all(TurnStarted)
        assert talk.session._memory.conversation.tokens < started.budget
    assert len(first) == 4 and all("more lines: ask for them with first_line" in text for text in first)
    assert "no room left in the window" in last


async def test_a_file_that_a_tool_read_is_sent_again_only_when_it_changes(root: Path) -> None:
    script = calling(("read", {"path": "colours.py"}))
    async with talking(root, script) as talk:
        talk.session.submit("go")
        await talk.ended("t1")
        (root / "colours.py").write_text(COLOURS.replace("return 3", "return 33"))
        talk.session.submit("what of @colours.py ?")
        await talk.ended("t2")
        told = talk.sent()
    assert "what changed since it was last shown" in told or "overrides what was shown" in told
    assert "return 33" in told


async def test_calls_are_in_the_journal_and_in_the_history_of_a_resumed_session(root: Path) -> None:
    script = calling(("search", {"pattern": "green"}))
    async with talking(root, script) as talk:
        talk.session.submit("go")
        await talk.ended("t1")
        name = talk.session.name
        journal = talk.session.folders.sessions / f"{name}.jsonl"
    told = [event for event in talk.events if isinstance(event, ToolCalled | ToolEnded)]
    assert [from_dict(to_dict(event)) for event in told] == told
    async with talking(root, script, resume=journal) as talk:
        past = [event for event in talk.session.past() if isinstance(event, ToolCalled | ToolEnded)]
        assert past == told
        talk.session.submit("and again, please")
        await talk.ended("t2")
        assert 'search "green" · 1 match in 1 file' in talk.sent(0)


async def test_a_model_that_takes_no_tools_is_offered_none(root: Path, tmp_path: Path) -> None:
    allow(tmp_path, "[models.spark-practice-text]\ntools = false\n")
    async with talking(root, LOOK, model="spark-practice-text") as talk:
        talk.session.submit("have a look")
        assert (await talk.ended("t1")).status == "completed"
        request = talk.partner.requests[-1]
    assert not request.tools and "You cannot run anything" in request.instructions
    assert not talk.all(ToolCalled) and len(talk.all(HunkLanded)) == 1


async def test_the_user_is_told_what_to_do_when_a_server_refuses_tools(root: Path) -> None:
    script = """
models = ["spark-practice-text"]
[[scenario]]
match = ["*"]
[[scenario.step]]
fail = { code = "invalid_request_error", message = "this model does not support tools", status = 400 }
"""
    async with talking(root, script, model="spark-practice-text") as talk:
        talk.session.submit("go")
        ended = await talk.ended("t1")
    assert ended.message is not None and "does not support tools" in ended.message
    assert "tools = false" in ended.message
