"""One turn against answers written by hand: what came over the wire, how it ended, and what is kept of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from context.window.pieces import BudgetTooSmall
from edits.hunk import RefusalCode, Refused, RefusedBy
from session.base.events import (
    Event,
    HunkLanded,
    Notice,
    PhaseChanged,
    PromptRead,
    ReasoningDelta,
    TextDelta,
    TurnEnded,
    TurnStarted,
    Usage,
)
from session.models.chosen import ChosenModel
from session.tools.tool import Consent
from session.turn.failures import INTERNAL, TurnFailedError
from session.turn.hunk_life import Answer
from session.turn.repair import Repairs, left_behind, quoted, renamed
from session.turn.runner import Runner
from session.turn.turn import Turn
from session.turn.turn_memory import TurnMemory
from session.wire.input_items import item_text
from session.wire.instructions import SEND_AGAIN
from session.wire.protocol import events as wire
from session.wire.protocol.items import Item, user_message
from session.wire.transport.errors import LinkError, LinkProblem
from tests.session.turn.lane_rig import LaneRig

Script = list[wire.WireEvent | Exception | asyncio.Event]
"""One answer: its events, then perhaps a failure, or a wait that a test ends."""
PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-{}\n+new\n*** End Patch\n"


def said(text: str) -> wire.ItemDone:
    content = [{"type": "output_text", "text": text}]
    return wire.ItemDone({"type": "message", "role": "assistant", "content": content, "id": f"m-{text[:9]}"})


def end(status: wire.FinalStatus = "completed", reason: str | None = None) -> wire.Finished:
    return wire.Finished(status, "r", (), wire.TokenUsage(100, 40, 10, 2), reason)


def call(name: str, number: int = 1, kind: str = "function_call") -> wire.ItemDone:
    given = {"arguments": "{}"} if kind == "function_call" else {"input": "x"}
    return wire.ItemDone(
        {"type": kind, "call_id": f"c{number}", "name": name, "id": f"i{number}", **given}, "i1"
    )


ONE: Script = [wire.TextDelta("One."), said("One."), end()]
LOST = LinkError(LinkProblem.CLOSED, "the link\nwas lost")
TOO_LONG = LinkError(LinkProblem.CONTEXT, "too long")


class Wire:
    """A connection whose answers are written down."""

    first_token_seconds: float | None = 0.5
    times = (0.0, 0.2)

    def __init__(self, answers: list[Script]) -> None:
        self.answers = answers
        self.asked: list[list[str]] = []
        self.calls: list[str] = []

    async def respond(self, items: Sequence[Item]) -> AsyncIterator[wire.WireEvent]:
        self.asked.append([kind(item) for item in items])
        for event in self.answers.pop(0):
            if isinstance(event, Exception):
                raise event
            if isinstance(event, asyncio.Event):
                await event.wait()
            else:
                yield event

    def drop(self) -> None:
        self.calls.append("drop")

    def redirect(self) -> None:
        self.calls.append("redirect")

    async def pause(self, wait: float, why: str) -> None:
        self.calls.append(f"pause: {why}")


def kind(item: Any) -> str:
    return str(item.get("role") or item["type"])


class Prepares:
    """A preparation that adds the prompt alone; a character is a token."""

    counter: Any = None
    instruction_tokens = 1_000

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.problem: Exception | None = None

    def count(self, text: str) -> int:
        return len(text)

    def file_text(self, path: str) -> str | None:
        return f"the text of {path}\n"

    async def prepare(self, prompt: str, memory: TurnMemory, share: float = 1.0) -> Any:
        self.shares.append(share)
        if self.problem is not None:
            raise self.problem

        def commit(memory: TurnMemory) -> None:
            if share < 1:
                memory.start_afresh()
            memory.conversation.extend([user_message(prompt)], 7)

        return SimpleNamespace(
            commit=commit, compacted=None, notes=("a\nnote",), window=SimpleNamespace(unapproved=())
        )


class Tools:
    """Answers every call with its name."""

    def __init__(self) -> None:
        self.rooms: list[int] = []
        self.stopped = False

    async def answer(self, functions: Sequence[Any], room: int, answers: Any) -> None:
        self.rooms.append(room)
        for each in functions:
            answers.texts[each["call_id"]] = f"answer of {each['name']}"

    def stop(self) -> None:
        self.stopped = True

    def decide(self, held: str, *, agreed: bool, rest: bool, scope: Consent) -> bool:
        return held == "c1"


class Rig:
    """A runner with a real lane and memory."""

    def __init__(
        self,
        folder: Path,
        answers: list[Script] | None,
        prompt: str = "go",
        *,
        edit_format: str = "search-replace",
        brief: bool = False,
    ) -> None:
        self.lane = LaneRig(folder, files=("a.py",))
        self.events, self.memory = self.lane.events, TurnMemory()
        self.preparation, self.tools, self.turn = Prepares(), Tools(), Turn("t1")
        self.wire = None if answers is None else Wire(answers)
        model: Any = SimpleNamespace(name="m", budget=50_000, edit_format=edit_format, brief=brief)
        stand_in: Any = self.wire
        self.runner = Runner(
            self.turn,
            prompt,
            session="s",
            connection=stand_in,
            offline="no key",
            preparation=self.preparation,
            memory=self.memory,
            lane=self.lane.lane,
            calls=self.tools,  # type: ignore[arg-type] # What it does is written above.
            chosen=ChosenModel(model, "low", None, fast=False, price=None),
            recorder=SimpleNamespace(publish=self.events.append),
        )

    async def start(self) -> asyncio.Task[None]:
        running = asyncio.create_task(self.runner.run())
        for _ in range(8):
            await self.step()
        return running

    async def step(self) -> None:
        """Let all go on that can without waiting, threads included."""
        await asyncio.sleep(0.001)
        await self.lane.work()

    async def run(self) -> TurnEnded:
        running = await self.start()
        async with asyncio.timeout(20):
            while not running.done():
                await self.step()
        await running
        assert isinstance(self.events[-1], TurnEnded)
        return self.events[-1]

    def all(self, kind: type[Event]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def kept(self) -> list[str]:
        return [kind(item) for item in self.memory.conversation.items]


REFUSED = PATCH.format("not there")
CUT: list[tuple[str, list[Script], tuple[str, str | None], list[str]]] = [
    ("whole", [ONE], ("completed", None), ["user", "assistant"]),
    (
        "at its limit",
        [[wire.TextDelta("On"), end("incomplete", "max_output_tokens")]],
        ("failed", "max_output_tokens"),
        ["user", "assistant"],
    ),
    (
        "incomplete",
        [[wire.TextDelta("On"), end("incomplete", "filter")]],
        ("failed", "incomplete"),
        ["user", "assistant"],
    ),
    ("failed", [[end("failed", "overheated")]], ("failed", "server"), ["user"]),
    ("without an end", [[wire.TextDelta("On")]], ("failed", "closed"), ["user", "assistant"]),
    ("an error", [[wire.ServerError("quota", "spent", 429, None)]], ("failed", "quota"), ["user"]),
    ("an error without a code", [[wire.ServerError("", "spent", 429, None)]], ("failed", "server"), ["user"]),
    ("lost before it began", [[wire.Created("r"), LOST]], ("failed", "closed"), ["user"]),
    (
        "lost midway",
        [[wire.TextDelta("On"), LOST], ONE],
        ("completed", None),
        ["user", "assistant", "developer", "assistant"],
    ),
    ("too long once", [[TOO_LONG], ONE], ("completed", None), ["user", "assistant"]),
    ("too long twice", [[TOO_LONG], [TOO_LONG]], ("failed", "context"), ["user"]),
    ("ours is at fault", [[KeyError("x")]], ("failed", INTERNAL), ["user"]),
]


@pytest.mark.parametrize(("answers", "ended", "kept"), [row[1:] for row in CUT], ids=[row[0] for row in CUT])
async def test_how_a_turn_ends(
    tmp_path: Path,
    answers: list[Script],
    ended: tuple[str, str | None],
    kept: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    rig = Rig(tmp_path, [list(answer) for answer in answers])
    with caplog.at_level(logging.ERROR):
        found = await rig.run()
    assert (found.status, found.code) == ended and rig.kept == kept
    assert bool(caplog.records) == (ended[1] == INTERNAL), "only faults of ours are logged"
    assert (found.message is None) == (ended[0] == "completed") and "\n" not in (found.message or "")
    assert rig.memory.cut_short == (
        "" if ended[0] == "completed" else "Your last answer was cut off before its end."
    )
    assert rig.memory.unsent == [] and len(rig.all(TurnStarted)) == 1 and len(rig.all(TurnEnded)) == 1


async def test_an_answer_that_is_lost_too_often_fails(tmp_path: Path) -> None:
    lost: Script = [wire.TextDelta("On"), LOST]
    rig = Rig(tmp_path, [list(lost) for _ in range(5)])
    ended = await rig.run()
    assert (ended.status, ended.code) == ("failed", "closed") and rig.wire is not None
    assert rig.wire.calls == ["pause: the link\nwas lost"] * 3 and len(rig.wire.asked) == 4
    notices = [event for event in rig.all(Notice) if event.level == "warning"]
    assert [event.text for event in notices] == ["the link was lost. Resuming the answer."] * 3
    assert [each.phase for each in rig.all(PhaseChanged)][:5] == ["waiting", "streaming"] * 2 + ["waiting"]


async def test_a_window_that_was_too_long_is_built_again_smaller(tmp_path: Path) -> None:
    rig = Rig(tmp_path, [[TOO_LONG], list(ONE)])
    await rig.run()
    assert rig.preparation.shares == [1.0, 0.5] and rig.memory.conversation.starts == 1
    assert [event.text for event in rig.all(Notice)] == ["a note"] * 2


async def test_what_streams_is_told_and_counted(tmp_path: Path) -> None:
    answer: Script = [
        wire.Created("r"),
        wire.ReasoningDelta("hm\x1b"),
        wire.TextDelta("One."),
        said("One."),
        end(),
    ]
    rig = Rig(tmp_path, [answer])
    await rig.run()
    assert [event.text for event in rig.all(ReasoningDelta)] == ["hm␛"]
    assert "".join(event.text for event in rig.all(TextDelta)) == "One."
    assert [each.phase for each in rig.all(PhaseChanged)] == ["waiting", "streaming", "settling", "completed"]
    (usage,) = rig.all(Usage)
    assert (usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.estimated) == (
        100,
        40,
        10,
        False,
    )
    assert (usage.first_token_seconds, usage.round_trip_seconds) == (0.5, 0.2)
    (started,) = rig.all(TurnStarted)
    assert (started.input_tokens, started.budget, started.effort) == (1_007, 50_000, "low")
    assert rig.memory.conversation.tokens == 7 + len("One.")


async def test_tokens_that_the_server_does_not_count_are_estimated(tmp_path: Path) -> None:
    rig = Rig(
        tmp_path,
        [[wire.Steered(41), wire.TextDelta("One."), wire.Finished("completed", "r", (), None, None)]],
    )
    await rig.run()
    (usage,) = rig.all(Usage)
    assert (usage.input_tokens, usage.output_tokens, usage.estimated) == (1_007, 10 + len("One."), True)


async def test_calls_are_answered_in_the_room_that_is_left(tmp_path: Path) -> None:
    rig = Rig(tmp_path, [[call("look"), call("list", 2), end()], list(ONE)])
    assert (await rig.run()).status == "completed" and rig.wire is not None
    outputs = ["function_call_output"] * 2
    assert rig.wire.asked == [["user"], ["user", "function_call", "function_call", *outputs]]
    answers = [item.get("output") for item in rig.memory.conversation.items if kind(item) == outputs[0]]
    assert answers == ["answer of look", "answer of list"]
    calls = [item for item in rig.memory.conversation.items if kind(item) == "function_call"]
    assert rig.tools.rooms == [50_000 - 1_007 - 2_000 - sum(len(item_text(item)) for item in calls)]
    assert [each.phase for each in rig.all(PhaseChanged)][:4] == ["waiting", "settling", "calling", "waiting"]


async def test_a_model_that_goes_in_circles_is_ended(tmp_path: Path) -> None:
    rig = Rig(tmp_path, [[call("look", number), end()] for number in range(61)])
    ended = await rig.run()
    assert (ended.status, ended.code) == ("failed", "rounds")
    assert rig.wire is not None and len(rig.wire.asked) == 61


@pytest.mark.parametrize(("refused", "asked"), [(1, 2), (2, 3), (3, 3)])
async def test_refused_hunks_in_text_are_asked_for_again_at_most_twice(
    tmp_path: Path, refused: int, asked: int
) -> None:
    again: Script = [wire.TextDelta(REFUSED), said(REFUSED), end()]
    rig = Rig(tmp_path, [*([list(again) for _ in range(refused)]), list(ONE)])
    assert (await rig.run()).status == "completed"
    assert rig.wire is not None and len(rig.wire.asked) == asked
    assert (rig.kept.count("user"), rig.kept.count("developer")) == (asked, asked - 1), "reported, and asked"
    assert len(rig.memory.unreported) == (refused == 3)


async def test_a_patch_is_reported_in_its_output_and_other_freeform_tools_are_not_known(
    tmp_path: Path,
) -> None:
    done = call("apply_patch", 1, "custom_tool_call")
    patch = PATCH.format("old")
    first: Script = [wire.ToolInputDelta("i1", "c1", "apply_patch", patch, custom=True), done, end()]
    other: Script = [
        wire.ToolInputDelta("i1", "c2", "other", patch, custom=True),
        call("other", 2, "custom_tool_call"),
        end(),
    ]
    none: Script = [call("apply_patch", 3, "custom_tool_call"), end()]
    json: Script = [wire.ToolInputDelta("i9", "c4", "", patch), call("look", 4), end()]
    rig = Rig(tmp_path, [first, other, none, json, list(ONE)])
    assert (await rig.run()).status == "completed" and rig.lane.text("a.py") == "new\n"
    outputs = [str(item.get("output")) for item in rig.memory.conversation.items if "output" in item]
    assert "applied a.py" in outputs[0]
    assert outputs[1:] == [
        "There is no freeform tool called other; there is only apply_patch.",
        "The patch held no edit, or its edits are reported above.",
        "answer of look",
    ]


async def test_after_a_patch_an_answer_without_words_ends_the_turn(tmp_path: Path) -> None:
    patch = wire.ToolInputDelta("i1", "c1", "apply_patch", PATCH.format("old"), custom=True)
    rig = Rig(tmp_path, [[patch, call("apply_patch", 1, "custom_tool_call"), end()], [end()]])
    assert (await rig.run()).status == "completed" and rig.lane.text("a.py") == "new\n"
    assert rig.wire is not None and len(rig.wire.asked) == 2


@pytest.mark.parametrize("redirected", [False, True])
async def test_an_interrupt_keeps_what_came_and_ends_at_once(tmp_path: Path, redirected: bool) -> None:
    rig = Rig(tmp_path, [[wire.TextDelta("One"), asyncio.Event(), *ONE]])
    running = await rig.start()
    rig.runner.interrupt(redirected=redirected)
    rig.runner.interrupt(redirected=not redirected)
    assert rig.turn.over and rig.tools.stopped and rig.wire is not None
    assert rig.wire.calls == ["redirect" if redirected else "drop"]
    assert not rig.runner.answer("c1", Answer(land=True))
    await rig.lane.work()
    async with asyncio.timeout(20):
        await running
    assert rig.events[-1] == TurnEnded("t1", "interrupted") and rig.kept == ["user", "assistant"]
    assert rig.memory.cut_short == "Your last answer was interrupted by the developer before its end."
    assert rig.memory.unsent == [] and [event.estimated for event in rig.all(Usage)] == [True]


async def test_an_interrupt_before_the_request_keeps_the_prompt_for_the_next(tmp_path: Path) -> None:
    rig = Rig(tmp_path, [list(ONE)])
    rig.runner.interrupt()
    assert (await rig.run()).status == "interrupted"
    assert rig.memory.unsent == ["go"] and rig.kept == [] and rig.wire is not None and rig.wire.asked == []
    assert rig.memory.cut_short == "" and not rig.all(TurnStarted) and not rig.all(Usage)


async def test_a_prompt_larger_than_the_window_sends_nothing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, [list(ONE)])
    rig.preparation.problem = BudgetTooSmall(500, 90)
    ended = await rig.run()
    assert (ended.status, ended.code) == ("failed", "budget") and "shorten the request" in (
        ended.message or ""
    )
    assert rig.wire is not None and rig.wire.asked == [] and rig.kept == [] and rig.memory.unsent == []


async def test_what_landed_before_an_answer_failed_is_reported_in_the_next_turn(tmp_path: Path) -> None:
    text = PATCH.format("old")
    rig = Rig(tmp_path, [[wire.TextDelta(text), wire.ServerError("server_error", "fell over", 500, None)]])
    assert (await rig.run()).message == "fell over" and rig.lane.text("a.py") == "new\n"
    assert "h1 applied a.py" in rig.memory.report() and "cut off" in rig.memory.report()


async def test_without_a_connection_the_turn_says_what_is_missing(tmp_path: Path) -> None:
    rig = Rig(tmp_path, None)
    assert await rig.run() == TurnEnded("t1", "failed", "no key", "credentials")
    assert rig.memory.unsent == [] and rig.kept == []


async def test_answers_go_to_hunks_and_then_to_calls(tmp_path: Path) -> None:
    rig = Rig(tmp_path, [[wire.TextDelta("One"), asyncio.Event()]])
    running = await rig.start()
    assert rig.runner.answer("c1", Answer(land=True)) and not rig.runner.answer("c2", Answer(land=True))
    assert not rig.runner.answer("c1", Answer(land=True, new=["x"])), "a call has no lines"
    rig.runner.interrupt()
    await rig.lane.work()
    await running


async def test_a_fault_of_the_lane_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig(tmp_path, [[TurnFailedError("the lane's", INTERNAL)]])
    with caplog.at_level(logging.ERROR):
        ended = await rig.run()
    assert (ended.message, ended.code) == ("the lane's", INTERNAL) and not caplog.records


def words_of(rig: Rig, role: str) -> list[str]:
    """What was said in one role after the prompt."""
    return [item_text(item) for item in rig.memory.conversation.items[1:] if kind(item) == role]


@pytest.mark.parametrize(
    ("by", "asked"), [(RefusedBy.DISK, False), (RefusedBy.USER, False), (RefusedBy.EDIT, True)]
)
def test_what_another_edit_would_not_change_is_not_asked_for_again(by: RefusedBy, asked: bool) -> None:
    refused = Refused("h1", "a.py", RefusalCode.IO, "it says so", by=by)
    assert (Repairs("do it", "whole", False).next([refused], "x", called=False) is not None) == asked


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ('{"name": "edit"}', True),
        ('{ no call\n```json\n{"name": "edit"}\n```', True),
        ('{"other": 1}', False),
        ("<tool_call> edit", True),
        ("Done.", False),
    ],
)
def test_a_call_that_was_written_as_text_is_asked_for_as_an_edit(answer: str, asked: bool) -> None:
    assert (Repairs("fix it", "whole", False).next([], answer, called=False) is not None) == asked


def test_files_of_up_to_8000_characters_are_shown_again() -> None:
    assert quoted({"a": "x" * 8_000, "b": "x" * 8_001, "c": None}).startswith("## File: a\n\n```\nx")
    assert "## File: b" not in quoted({"b": "x" * 8_001, "c": None})


async def test_a_refusal_that_is_repeated_changes_what_is_asked_for(tmp_path: Path) -> None:
    again: Script = [wire.TextDelta(REFUSED), said(REFUSED), end()]
    rig = Rig(tmp_path, [list(again) for _ in range(3)])
    assert (await rig.run()).status == "completed"
    first, second = words_of(rig, "developer")
    assert first == SEND_AGAIN and "all of it, changed" in second and "## File:" in second
    report = words_of(rig, "user")[-1]
    assert "## File: a.py\n\n```\nthe text of a.py\n```" in report
    (told,) = [event.text for event in rig.all(Notice) if event.level == "warning"]
    assert told.startswith("The model's edits were refused 3 times: it was shown why")


@pytest.mark.parametrize(
    ("prompt", "names"),
    [
        ("Rename the method next of Queue to take, in queue.ts and worker.ts.", ("next", "take")),
        ("Rename spread to value_range everywhere: in stats.py, report.py", ("spread", "value_range")),
        ("please rename `count()` to `occurrences()` in all three files", ("count", "occurrences")),
        ("Rename names in till.py to products", ("names", "products")),
        ("Rename it to x.", None),
        ("Rename the class.", None),
        ("Say good morning to names.", None),
    ],
)
def test_a_request_for_a_rename_is_known_by_its_words(prompt: str, names: tuple[str, str] | None) -> None:
    assert renamed(prompt) == names


def test_the_places_that_a_rename_left_are_whole_names() -> None:
    texts = {"a.py": "def next():\n    nextly = 1\n    return self.next\n", "b.py": "take()\n", "c.py": None}
    assert left_behind("next", texts) == {"a.py": ["a.py:1: def next():", "a.py:3: return self.next"]}


async def test_how_much_of_the_request_an_engine_has_read_is_told_in_steps(tmp_path: Path) -> None:
    read: Script = [wire.PromptRead(tokens, 1_000) for tokens in (5, 20, 21, 30, 600, 1_000)]
    rig = Rig(tmp_path, [[*read, *ONE]])
    assert (await rig.run()).status == "completed"
    assert [(each.tokens, each.total) for each in rig.all(PromptRead)] == [
        (tokens, 1_000) for tokens in (20, 600, 1_000)
    ]


@pytest.mark.parametrize(("old", "asked"), [("text", 1), ("gone", 0)])
async def test_a_small_model_is_asked_once_for_the_places_that_a_rename_left(
    tmp_path: Path, old: str, asked: int
) -> None:
    """Qwen2.5-Coder 1.5B renames a function and forgets a caller."""
    landed = "a.py\n```\nx = 2\n```\n"
    script: Script = [wire.TextDelta(landed), said(landed), end()]
    rig = Rig(
        tmp_path, [list(script) for _ in range(2)], f"Rename {old} to words.", edit_format="whole", brief=True
    )
    assert (await rig.run()).status == "completed" and rig.wire is not None
    assert len(rig.wire.asked) == 1 + asked
    told = [text for text in words_of(rig, "developer") if "still have" in text]
    lines = [line for text in told for line in text.splitlines() if line.startswith("a.py:")]
    assert lines == ["a.py:1: the text of a.py"] * asked


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        ("Sure, I can do that.", "It held no edit."),
        ('{"name": "store.py", "arguments": {"path": "store.py"}}', "It was a tool call"),
        ("Which of the two do you mean?", ""),
    ],
)
async def test_an_answer_that_changes_nothing_is_asked_for_once_more(
    tmp_path: Path, answer: str, asked: str
) -> None:
    """The second is what Qwen2.5-Coder 0.5B answered to five of six requests in the long form."""
    script: Script = [wire.TextDelta(answer), said(answer), end()]
    rig = Rig(tmp_path, [list(script) for _ in range(2)], "Add a limit.", edit_format="whole", brief=True)
    assert (await rig.run()).status == "completed" and rig.wire is not None
    assert len(rig.wire.asked) == (2 if asked else 1)
    assert [asked in text for text in words_of(rig, "developer")] == ([True] if asked else [])
    assert ("The answer changes nothing: asking once more." in [e.text for e in rig.all(Notice)]) == bool(
        asked
    )


@pytest.mark.parametrize("answers", [["", "Done."], ["\n", " "]])
async def test_an_empty_answer_is_asked_for_once_more_and_told(tmp_path: Path, answers: list[str]) -> None:
    scripts: list[Script] = [[wire.TextDelta(answer), said(answer), end()] for answer in answers]
    rig = Rig(tmp_path, scripts, "What does it do?")
    assert (await rig.run()).status == "completed" and rig.wire is not None
    assert len(rig.wire.asked) == 2 and "It was empty." in words_of(rig, "developer")[0]
    told = [(event.level, event.text.partition(".")[0]) for event in rig.all(Notice)][1:]
    still = [("warning", "The model answered with nothing, twice")] if not answers[1].strip() else []
    assert told == [("info", "The answer is empty: asking once more"), *still]


@pytest.mark.parametrize("prompt", ["What does it do?", "explain the limit", "Is it right"])
async def test_a_question_needs_no_edit(tmp_path: Path, prompt: str) -> None:
    rig = Rig(tmp_path, [list(ONE)], prompt, edit_format="whole", brief=True)
    assert (await rig.run()).status == "completed" and not words_of(rig, "developer")


async def test_a_whole_file_lands_as_the_hunks_that_differ(tmp_path: Path) -> None:
    answer = "## File: a.py\n\n```python\nnew\n```\n"
    script: Script = [wire.TextDelta(answer), said(answer), end()]
    rig = Rig(tmp_path, [script], "change it", edit_format="whole", brief=True)
    assert (await rig.run()).status == "completed"
    assert (rig.lane.root / "a.py").read_text() == "new\n"
    (landed,) = rig.all(HunkLanded)
    assert (landed.path, landed.start, landed.end, landed.added, landed.removed) == ("a.py", 1, 2, 1, 1)


async def test_an_answer_that_repeats_itself_is_stopped(tmp_path: Path) -> None:
    answer: Script = [*[wire.TextDelta("    the same line\n") for _ in range(200)], end()]
    rig = Rig(tmp_path, [answer], brief=True)
    ended = await rig.run()
    assert (ended.status, ended.code) == ("failed", "loop") and "'the same line'" in (ended.message or "")
    assert rig.wire is not None and rig.wire.calls == ["drop"]
    assert "".join(event.text for event in rig.all(TextDelta)).count("\n") < 60
