"""The calls of one response, with tools that do what a test says: their events, answers and decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from context.disk.source import Source
from context.text.tokens import Counter
from session.base.events import Event, ToolCalled, ToolEnded, ToolHeld, ToolOutput
from session.record.outputs import Outputs
from session.tools.tool import Asking, CallContext, Reading, ToolResult, ToolSpec, failed
from session.tools.toolbox import Toolbox
from session.turn.response import Answers
from session.turn.tool_calls import DECLINED, MOST_TOKENS, NO_ROOM, NOBODY, Calls
from session.wire.protocol.items import FunctionCall


class Scripted:
    """A tool that answers with its name, notes its room, and waits where it is told to."""

    def __init__(self, name: str, *, reads: bool = True, asks: bool = False, result: Any = None) -> None:
        self.spec = ToolSpec(name, "", {"type": "object"}, reads_only=reads, asks=asks)
        self.result = result or ToolResult(f"{name} is done", "well")
        self.rooms: list[int] = []
        self.go = asyncio.Event()
        self.go.set()

    def label(self, arguments: Mapping[str, Any]) -> str:
        return f"{self.spec.name} it\nnow"

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        return str(arguments.get("why", ""))

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        self.rooms.append(around.room)
        around.say(f"{self.spec.name} says")
        around.keep(b"all of it")
        await self.go.wait()
        if isinstance(self.result, Exception):
            raise self.result
        assert isinstance(self.result, ToolResult)
        return self.result


def item(name: str, call_id: str = "", arguments: str = "{}") -> FunctionCall:
    return {"type": "function_call", "name": name, "call_id": call_id or name, "arguments": arguments}


class Told:
    """What a test's calls publish."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def publish(self, event: Event) -> None:
        self.events.append(event)

    def ends(self) -> list[tuple[str, str, str]]:
        ends = [event for event in self.events if isinstance(event, ToolEnded)]
        return [(event.call, event.status, event.line) for event in ends]


def calls_of(told: Told, *tools: Scripted, attended: bool = True, outputs: Outputs | None = None) -> Calls:
    return Calls("t1", Toolbox(tools), Counter(), told, attended=attended, outputs=outputs)


async def test_a_call_is_told_as_it_begins_prints_and_ends() -> None:
    told, answers = Told(), Answers()
    await calls_of(told, Scripted("look")).answer([item("look", "id")], 1_000, answers)
    assert told.events == [
        ToolCalled("t1", "t1.c1", "look", "look it ⏎ now"),
        ToolOutput("t1", "t1.c1", "look says"),
        ToolEnded("t1", "t1.c1", "look", "done", "look it ⏎ now · well", ""),
    ]
    assert answers.texts == {"id": "look is done"}


class Questioning(Scripted):
    """Asks while it runs."""

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        await around.ask(Asking("rm it", "it runs\noutside", "all rm"))
        return await super().call(arguments, around)


async def test_a_question_tells_what_why_and_what_may_be_allowed_for_good() -> None:
    told, answers = Told(), Answers()
    calls = calls_of(told, Questioning("do", reads=False))
    running = asyncio.create_task(calls.answer([item("do")], 1_000, answers))
    await held(told, 1)
    assert ToolHeld("t1", "t1.c1", "do", "rm it", why="it runs outside", always="all rm") in told.events
    assert calls.decide("t1.c1", agreed=True)
    await running
    assert answers.texts == {"do": "do is done"}


@pytest.mark.parametrize(("length", "shown"), [(300, "x" * 300), (301, "x" * 300 + "…")])
async def test_a_name_of_a_tool_is_told_up_to_300_characters(length: int, shown: str) -> None:
    told = Told()
    await calls_of(told).answer([item("x" * length)], 1_000, Answers())
    assert told.ends()[0][2].startswith(f"{shown} ")


SOURCE = Source(path="a.py", text="one\n", digest="1")
RESULTS: dict[str, tuple[Any, str, str, str]] = {
    "without a summary": (ToolResult("ok"), "done", "do it ⏎ now", "ok"),
    "that failed": (failed("It is not there. Look again."), "failed", "do it ⏎ now · It is not there", ""),
    "of a full disk": (
        OSError(28, "No space left on device"),
        "failed",
        "do it ⏎ now · do could not be done: No space left on device",
        "do could not be done: No space left on device.",
    ),
    "of an error without words": (
        OSError("odd"),
        "failed",
        "do it ⏎ now · do could not be done: odd",
        "do could not be done: odd.",
    ),
}


@pytest.mark.parametrize("kind", RESULTS)
async def test_a_result(kind: str) -> None:
    result, status, line, text = RESULTS[kind]
    told, answers = Told(), Answers()
    await calls_of(told, Scripted("do", reads=False, result=result)).answer([item("do")], 1_000, answers)
    assert told.ends() == [("t1.c1", status, line)]
    assert answers.texts == {"do": text or "It is not there. Look again."}


async def test_what_was_read_and_the_last_lines_are_passed_on() -> None:
    read = (Reading(SOURCE, whole=True),)
    told, answers = Told(), Answers()
    result = ToolResult("ok", readings=read, tail="last\x07")
    await calls_of(told, Scripted("look", result=result)).answer([item("look")], 1_000, answers)
    assert tuple(answers.readings) == read
    assert isinstance(told.events[-1], ToolEnded) and told.events[-1].tail == "last␇"


UNUSABLE: list[tuple[FunctionCall, str, str]] = [
    (item("none"), "none", "There is no tool called 'none'; there are do."),
    (item("do", arguments="{"), "do", ""),
    (item("do", arguments='{"why": "not today"}'), "do", "not today"),
]


@pytest.mark.parametrize(("call", "label", "text"), UNUSABLE, ids=["unknown", "garbled", "refused"])
async def test_a_call_that_cannot_be_made_fails_with_the_reason(
    call: FunctionCall, label: str, text: str
) -> None:
    told, answers, tool = Told(), Answers(), Scripted("do")
    await calls_of(told, tool).answer([call], 1_000, answers)
    ((name, status, line),) = told.ends()
    assert (name, status) == ("t1.c1", "failed") and line.startswith(f"{label} · ")
    assert answers.texts[call["call_id"]].startswith(text) and tool.rooms == []


@pytest.mark.parametrize(
    ("count", "room", "each"),
    [(1, 1_000, 1_000), (2, 1_000, 500), (1, 200, 200), (1, 10**6, MOST_TOKENS), (5, 1_000, 200)],
)
async def test_the_room_is_shared_by_the_calls_of_a_response(count: int, room: int, each: int) -> None:
    tool = Scripted("look")
    items = [item("look", str(number)) for number in range(count)]
    await calls_of(Told(), tool).answer(items, room, Answers())
    assert tool.rooms == [each] * count


async def test_where_there_is_no_room_nothing_is_called() -> None:
    told, answers, tool = Told(), Answers(), Scripted("look")
    await calls_of(told, tool).answer([item("look")], 199, answers)
    assert tool.rooms == [] and answers.texts == {"look": NO_ROOM}
    assert told.ends() == [("t1.c1", "failed", "look it ⏎ now · no room left in the window")]
    await calls_of(told, tool).answer([], 0, answers)


async def test_calls_that_read_run_together_and_those_that_do_after_them_in_their_order() -> None:
    told = Told()
    first, second, look = Scripted("a", reads=False), Scripted("b", reads=False), Scripted("look")
    look.go.clear()
    calls = calls_of(told, first, second, look)
    running = asyncio.create_task(
        calls.answer([item("b"), item("look"), item("a"), item("look", "2")], 4_000, Answers())
    )
    for _ in range(5):
        await asyncio.sleep(0)
    assert look.rooms == [1_000] * 2 and first.rooms == second.rooms == []
    look.go.set()
    await running
    assert [call for call, _, _ in told.ends()] == ["t1.c2", "t1.c4", "t1.c1", "t1.c3"]


async def test_nobody_is_asked_where_there_is_nobody() -> None:
    told, answers, tool = Told(), Answers(), Scripted("do", reads=False, asks=True)
    await calls_of(told, tool, attended=False).answer([item("do")], 1_000, answers)
    assert tool.rooms == [] and answers.texts == {"do": NOBODY}
    assert told.ends() == [("t1.c1", "declined", "do it ⏎ now · nobody can be asked here")]


async def held(told: Told, count: int) -> None:
    """Wait until ``count`` calls were held."""
    while len([event for event in told.events if isinstance(event, ToolHeld)]) < count:
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("agreed", "rest", "runs", "questions"),
    [(True, False, 2, 2), (True, True, 2, 1), (False, False, 1, 2), (False, True, 1, 2)],
)
async def test_the_user_decides(agreed: bool, rest: bool, runs: int, questions: int) -> None:
    told, answers, tool = Told(), Answers(), Scripted("do", reads=False, asks=True)
    calls = calls_of(told, tool)
    running = asyncio.create_task(calls.answer([item("do", "1"), item("do", "2")], 1_000, answers))
    await held(told, 1)
    assert ToolHeld("t1", "t1.c1", "do", "do it\nnow") in told.events and tool.rooms == []
    assert not calls.decide("t1.c2", agreed=True), "its turn has not come"
    assert calls.decide("t1.c1", agreed=agreed, rest=rest)
    assert not calls.decide("t1.c1", agreed=True), "it was decided"
    if questions == 2:
        await held(told, 2)
        assert calls.decide("t1.c2", agreed=True)
    await running
    assert len(tool.rooms) == runs
    assert answers.texts["1"] == ("do is done" if agreed else DECLINED)
    assert told.ends()[0] == (
        ("t1.c1", "done", "do it ⏎ now · well") if agreed else ("t1.c1", "declined", "do it ⏎ now · declined")
    )
    assert len([event for event in told.events if isinstance(event, ToolHeld)]) == questions


async def test_a_stop_is_told_once_of_each_call_and_nothing_follows_it() -> None:
    told, answers, tool = Told(), Answers(), Scripted("look")
    done = Scripted("done")
    tool.go.clear()
    calls = calls_of(told, tool, done)
    running = asyncio.create_task(calls.answer([item("done"), item("look")], 1_000, answers))
    while not tool.rooms or not answers.texts:
        await asyncio.sleep(0)
    calls.stop()
    assert told.ends() == [
        ("t1.c1", "done", "done it ⏎ now · well"),
        ("t1.c2", "stopped", "look it ⏎ now · stopped"),
    ]
    before = list(told.events)
    tool.go.set()
    await running
    assert told.events == before and answers.texts == {"done": "done is done"}


async def test_the_whole_output_of_a_call_is_kept_and_its_answer_where_it_printed_nothing(
    tmp_path: Path,
) -> None:
    outputs = Outputs(tmp_path)
    await calls_of(Told(), Scripted("look"), outputs=outputs).answer(
        [item("look"), item("none")], 1_000, Answers()
    )
    assert outputs.text("t1.c1") == "all of it"
    assert outputs.text("t1.c2") == "There is no tool called 'none'; there are look."


async def test_a_long_line_is_cut_and_the_numbers_go_on_over_the_turn() -> None:
    told = Told()
    calls = calls_of(told, Scripted("x" * 301))
    await calls.answer([item("x" * 301)], 1_000, Answers())
    await calls.answer([item("x" * 301)], 1_000, Answers())
    called = [event for event in told.events if isinstance(event, ToolCalled)]
    assert [(event.call, event.tool) for event in called] == [
        ("t1.c1", "x" * 300 + "…"),
        ("t1.c2", "x" * 300 + "…"),
    ]
