"""Hostile tool calls and commands: bounded, told in a line, and without effect on anything else."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from context.text.tokens import Counter
from session.base.events import Event, ToolCalled, ToolEnded
from session.tools.command.run import RunTool
from session.tools.settings import Running
from session.tools.tool import CallContext, ToolResult, ToolSpec
from session.tools.toolbox import Toolbox
from session.turn.response import Answers
from session.turn.tool_calls import MOST_AT_ONCE, Calls
from session.wire.protocol.items import FunctionCall
from tests.session.recording import recorder_for


def called(name: str, call_id: str) -> FunctionCall:
    return {"type": "function_call", "name": name, "call_id": call_id, "arguments": "{}"}


async def test_a_thousand_calls_run_a_few_at_a_time(tmp_path: Path) -> None:
    running = most = 0

    class Looking:
        spec = ToolSpec("look", "", {"type": "object"})

        def label(self, arguments: Mapping[str, Any]) -> str:
            return "look"

        def refusal(self, arguments: Mapping[str, Any]) -> str:
            return ""

        async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return ToolResult("seen")

    events: list[Event] = []
    recorder = recorder_for(tmp_path, events.append)
    calls = Calls("t1", Toolbox([Looking()]), Counter(), recorder, attended=True)
    answers = Answers()
    items = [called("look", f"c{n}") for n in range(1_000)]
    await calls.answer([*items, called("x" * 10_000_000, "big")], 10_000_000, answers)
    assert most == MOST_AT_ONCE
    assert [answers.texts[item["call_id"]] for item in items] == ["seen"] * 1_000
    told = [event for event in events if isinstance(event, ToolCalled | ToolEnded)]
    assert len(told) == 2_002 and max(len(event.tool) + len(event.line) for event in told) < 1_000


@pytest.mark.parametrize(
    ("command", "parts"),
    [
        (
            "head -c 5000000 /dev/zero | tr '\\0' a; echo end; exit 3",
            ("exit 3\n```\naaa", "not shown", "aaaend\n"),
        ),
        ("head -c 100000 /dev/zero", ("exit 0\n```\n␀␀␀", "not shown")),
        (
            "i=0; while [ $i -lt 5000 ]; do i=$((i+1)); printf '\\r%d of 5000' $i; done",
            ("exit 0\n", "5000 of 5000"),
        ),
        ("printf 'one\\r\\ntwo\\r\\n'", ("exit 0\n```\none\ntwo\n```\n",)),
    ],
)
async def test_output_without_lines_is_shown_as_far_as_it_fits(
    tmp_path: Path, command: str, parts: tuple[str, ...]
) -> None:
    tool = RunTool(tmp_path, {"PATH": os.environ["PATH"]}, Running.ALWAYS)
    result = await tool.call({"command": command}, CallContext(500, lambda text: len(text) // 4 + 1))
    assert all(part in result.text for part in parts), result.text
    assert len(result.text) < 500 * 4


@pytest.mark.parametrize("where", ["label", "refusal", "call"])
async def test_a_tool_that_raises_anything_gives_a_failed_answer_and_the_others_theirs(
    tmp_path: Path, where: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Faulty:
        def __init__(self, name: str, where: str, *, reads_only: bool) -> None:
            self.spec = ToolSpec(name, "", {"type": "object"}, reads_only=reads_only)
            self._where = where

        def label(self, arguments: Mapping[str, Any]) -> str:
            return self._at("label")

        def refusal(self, arguments: Mapping[str, Any]) -> str:
            self._at("refusal")
            return ""

        async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
            return ToolResult(self._at("call"))

        def _at(self, place: str) -> str:
            if place == self._where:
                raise KeyError("no such drawer")
            return place

    tools = [
        Faulty("reading", where, reads_only=True),
        Faulty("doing", where, reads_only=False),
        Faulty("good", "", reads_only=True),
    ]
    events: list[Event] = []
    recorder = recorder_for(tmp_path, events.append)
    calls = Calls("t1", Toolbox(tools), Counter(), recorder, attended=True)
    answers = Answers()
    names = ("reading", "doing", "good")
    await calls.answer([called(each, each) for each in names], 10_000, answers)
    line = "spark itself failed while running the tool {} (KeyError: 'no such drawer')"
    assert answers.texts == {
        "reading": f"{line.format('reading')}. Go on without this call.",
        "doing": f"{line.format('doing')}. Go on without this call.",
        "good": "call",
    }
    ends = {event.tool: event for event in events if isinstance(event, ToolEnded)}
    assert [ends[name].status for name in names] == ["failed", "failed", "done"]
    assert line.format("doing") in ends["doing"].line
    assert len([record for record in caplog.records if record.exc_info]) == 2
