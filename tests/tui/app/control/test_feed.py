"""What the panes hold after events: the table of the feed, and what stops, replays and answers change."""

from __future__ import annotations

from session.base import events as said
from tests.tui.app.control.feeding import (
    FILES,
    HELD,
    PROMPT,
    STARTED,
    USAGE,
    Row,
    app,
    check,
    ended,
    fed,
    landed,
    opened,
)

TABLE = [
    Row("prompt", [PROMPT], ["▌ do it"], {"phase": "preparing"}, ["turn begins"]),
    Row(
        "redirect",
        [PROMPT, said.PromptSubmitted("t2", "other", "redirect", waiting=2)],
        ["▌ do it", "▌ redirect", "▌ other"],
        {"phase": "preparing", "waiting": 2},
        ["turn begins", "turn begins"],
    ),
    Row(
        "queued",
        [PROMPT, said.PromptQueued("b", 3), said.PromptQueued("c", 1, "hunk")],
        ["▌ do it"],
        {"phase": "preparing", "waiting": 3},
        ["turn begins"],
    ),
    Row(
        "unqueued",
        [PROMPT, said.PromptQueued("b", 3), said.PromptsUnqueued(("b",), 2)],
        ["▌ do it"],
        {"phase": "preparing", "waiting": 2},
        ["turn begins"],
    ),
    Row("started", [PROMPT, STARTED], ["▌ do it"], {"phase": "preparing", "used": 100}, ["turn begins"]),
    Row(
        "auto",
        [PROMPT, said.TurnStarted("s", "t1", "m", "low", 100, effort_why="short")],
        ["▌ do it"],
        {"phase": "preparing", "used": 100, "picked": "auto: low (short)"},
        ["turn begins"],
    ),
    Row(
        "text",
        [PROMPT, STARTED, said.TextDelta("t1", "hello you\n\n")],
        ["▌ do it", "hello you"],
        {"phase": "preparing", "used": 102, "estimated": True, "speed": "live"},
        ["turn begins"],
    ),
    Row(
        "reasoning",
        [PROMPT, STARTED, said.ReasoningDelta("t1", "thinking hard\n")],
        ["▌ do it", "▸ thinking · 1 line", "thinking hard"],
        {"phase": "preparing", "used": 103, "estimated": True, "speed": "live"},
        ["turn begins"],
    ),
    Row(
        "text_counts",
        [PROMPT, STARTED, said.TextDelta("t1", "x" * 40)],
        ["▌ do it", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"],
        {"phase": "preparing", "used": 110, "estimated": True, "speed": "live"},
        ["turn begins"],
    ),
    Row(
        "usage",
        [PROMPT, STARTED, USAGE],
        ["▌ do it"],
        {
            "phase": "preparing",
            "used": 140,
            "usage": ("100 in (50% cached) · 40 out · $0.02", "100 in · 40 out · $0.02", "$0.02"),
        },
        ["turn begins"],
    ),
    Row(
        "usage_other",
        [PROMPT, STARTED, said.Usage("t0", 100, 50, 40, 10)],
        ["▌ do it"],
        {"phase": "preparing", "used": 100, "usage": ("100 in (50% cached) · 40 out", "100 in · 40 out", "")},
        ["turn begins"],
    ),
    Row(
        "completed",
        [PROMPT, STARTED, USAGE, landed(), ended()],
        ["▌ do it", "✓ h1  a.py 2  +1 −1", "+ two", "▸ 40 out · $0.02 · 20 tok/s"],
        {
            "used": 140,
            "speed": 20.0,
            "usage": ("100 in (50% cached) · 40 out · $0.02", "100 in · 40 out · $0.02", "$0.02"),
        },
        ["turn begins", "landed turn", "turn ends"],
        shown="a.py",
    ),
    Row(
        "completed_nothing",
        [PROMPT, STARTED, ended()],
        ["▌ do it"],
        {"used": 100},
        ["turn begins", "turn ends"],
    ),
    Row(
        "interrupted",
        [PROMPT, STARTED, ended("interrupted")],
        ["▌ do it", "· Stopped. No files changed."],
        {"used": 100},
        ["turn begins", "turn ends"],
    ),
    Row(
        "interrupted_landed",
        [PROMPT, STARTED, landed(), landed("h2"), ended("interrupted")],
        [
            "▌ do it",
            "✓ h1  a.py 2  +1 −1",
            "+ two",
            "✓ h2  a.py 2  +1 −1",
            "+ two",
            "· Stopped. 2 landed hunks stay.",
        ],
        {"used": 100},
        ["turn begins", "turn ends"],
        shown="a.py",
    ),
    Row(
        "interrupted_called",
        [PROMPT, STARTED, said.ToolCalled("t1", "c1", "read", "read a.py"), ended("interrupted")],
        ["▌ do it", "… read a.py", "· Stopped."],
        {"used": 100},
        ["turn begins", "turn ends"],
    ),
    Row(
        "failed",
        [PROMPT, STARTED, ended("failed", "no such model")],
        ["▌ do it", "✗ The turn failed: no such model"],
        {"used": 100, "message": "no such model", "level": "error"},
        ["turn begins", "turn ends", "unanswered: do it"],
    ),
    Row(
        "failed_plain",
        [PROMPT, STARTED, ended("failed")],
        ["▌ do it", "✗ The turn failed."],
        {"used": 100, "message": "The turn failed.", "level": "error"},
        ["turn begins", "turn ends", "unanswered: do it"],
    ),
    Row(
        "failed_after_answer",
        [PROMPT, STARTED, said.TextDelta("t1", "hm"), ended("failed", "lost")],
        ["▌ do it", "hm", "✗ The turn failed: lost"],
        {"used": 100, "estimated": True, "message": "lost", "level": "error"},
        ["turn begins", "turn ends"],
    ),
    Row(
        "failed_slash",
        [said.PromptSubmitted("t1", "do 5 times", "prompt", typed="/attempts 5 do"), ended("failed")],
        ["▌ do 5 times", "✗ The turn failed."],
        {"message": "The turn failed.", "level": "error"},
        ["turn begins", "turn ends", "unanswered: /attempts 5 do"],
    ),
    Row(
        "failed_typed",
        [said.PromptSubmitted("t1", "long", "prompt", typed="short"), ended("failed")],
        ["▌ long", "✗ The turn failed."],
        {"message": "The turn failed.", "level": "error"},
        ["turn begins", "turn ends", "unanswered: long"],
    ),
    Row(
        "failed_behind",
        [PROMPT, STARTED, said.PromptSubmitted("t2", "other", "redirect"), ended("failed", "lost")],
        ["▌ do it", "✗ The turn failed: lost", "▌ redirect", "▌ other"],
        {"phase": "preparing", "used": 100, "message": "lost", "level": "error"},
        ["turn begins", "turn begins"],
    ),
    Row(
        "redirected",
        [
            PROMPT,
            STARTED,
            said.TextDelta("t1", "hm\n"),
            said.PromptSubmitted("t2", "other", "redirect"),
            USAGE,
            ended("interrupted"),
            said.TextDelta("t2", "new\n"),
        ],
        [
            "▌ do it",
            "hm",
            "· Stopped. No files changed.",
            "▸ 40 out · $0.02 · 20 tok/s",
            "▌ redirect",
            "▌ other",
            "new",
        ],
        {
            "phase": "preparing",
            "used": 101,
            "estimated": True,
            "speed": "live",
            "usage": ("100 in (50% cached) · 40 out · $0.02", "100 in · 40 out · $0.02", "$0.02"),
        },
        ["turn begins", "turn begins"],
    ),
    Row(
        "warned_stays",
        [PROMPT, STARTED, said.Notice("warning", "careful"), ended()],
        ["▌ do it", "! careful"],
        {"used": 100, "message": "careful", "level": "warning"},
        ["turn begins", "turn ends"],
    ),
    Row(
        "info_goes",
        [PROMPT, STARTED, said.HunkUndone("h9", "a.py", 2, 3), ended()],
        ["▌ do it", "↶ h9  a.py undone"],
        {"used": 100},
        ["turn begins", "turn ends"],
        shown="a.py",
    ),
    Row(
        "phase",
        [PROMPT, said.PhaseChanged("t1", "streaming")],
        ["▌ do it"],
        {"phase": "streaming"},
        ["turn begins"],
    ),
    Row(
        "phase_end",
        [PROMPT, said.PhaseChanged("t1", "streaming"), said.PhaseChanged("t1", "completed")],
        ["▌ do it"],
        {"phase": "streaming"},
        ["turn begins"],
    ),
    Row(
        "phase_settling",
        [PROMPT, said.PhaseChanged("t1", "settling")],
        ["▌ do it"],
        {"phase": "settling"},
        ["turn begins"],
    ),
]


async def test_what_the_panes_hold_after_events_of_a_turn() -> None:
    await check(TABLE)


async def test_of_a_stopped_turn_nothing_more_is_shown_but_what_landed() -> None:
    async with app():
        it = await fed(dict(FILES))
        await it.take([PROMPT, STARTED, opened(), said.TextDelta("t1", "hm\n")])
        it.feed.stop()
        await it.take(
            [
                said.TextDelta("t1", "late\n"),
                said.ReasoningDelta("t1", "late\n"),
                opened("h2"),
                said.HunkTyped("t1", "h2", "+", "late"),
                said.HunkAimed("t1", "h1", "a.py", 1, 2),
                said.PhaseChanged("t1", "streaming"),
                said.ToolOutput("t1", "c1", "late\n"),
                landed("h3"),
                ended("interrupted"),
                said.TextDelta("", "of no turn\n"),
            ]
        )
        assert it.said == [
            "▌ do it",
            "… h1  a.py",
            "✓ h3  a.py 2  +1 −1",
            "+ two",
            "· Stopped. 1 landed hunk stays.",
            "of no turn",
        ], "what was received and not painted before the stop is dropped too"
        assert it.file.editor.flight is None and it.state.get("phase") is None
        await it.take([said.PromptSubmitted("t2", "go on"), said.TextDelta("t2", "sure\n")])
        assert it.said[-2:] == ["▌ go on", "sure"]


async def test_without_a_turn_a_stop_stops_none() -> None:
    async with app():
        it = await fed(dict(FILES))
        it.feed.stop()
        await it.take([PROMPT, said.TextDelta("t1", "answer\n")])
        assert it.said == ["▌ do it", "answer"]


async def test_a_replay_shows_the_conversation_and_no_turn_that_runs() -> None:
    async with app():
        it = await fed(dict(FILES))
        past = [PROMPT, STARTED, opened(), HELD, said.TextDelta("t1", "hello\n"), landed(), USAGE]
        it.feed.replay([*past, said.PromptQueued("later", 2)])
        await it.file.order.settled()
        assert it.said == ["▌ do it", "✓ h1  a.py 2  +1 −1", "+ two", "hello"]
        assert it.held.question is None and it.file.path == "" and "waiting" not in it.state
        assert "phase" not in it.state and not it.feed.tick()
        await it.take([ended("failed", "gone")])
        assert "unanswered" not in "".join(it.called), "the answer had begun"


async def test_each_sign_of_an_answer_keeps_the_prompt_from_being_given_back() -> None:
    begun: list[said.Event] = [
        said.TextDelta("t1", "x"),
        said.ReasoningDelta("t1", "x"),
        opened(),
        landed(),
        said.ToolCalled("t1", "c1", "read", "read a.py"),
        said.AttemptStarted("t1", 1, "m", "low"),
    ]
    async with app():
        for event in begun:
            it = await fed(dict(FILES))
            await it.take([PROMPT, event, ended("failed")])
            assert it.called[-1] != "unanswered: do it", event


async def test_everything_is_heard_and_the_list_of_messages_hears_it_too() -> None:
    async with app():
        it = await fed(dict(FILES))
        heard: list[said.Event] = []
        listed: list[said.Event] = []
        it.feed.on_heard, it.feed.on_queue = heard.append, listed.append
        events: list[said.Event] = [PROMPT, said.PromptQueued("b", 1), ended()]
        await it.take(events)
        assert heard == listed == events
        it.feed.replay(events)
        assert heard == events and listed == events * 2


async def test_the_figures_of_a_turn_tell_of_its_own_start() -> None:
    async with app():
        it = await fed(dict(FILES))
        it.chat.fold(unfolded=True)
        auto = said.TurnStarted("s", "t1", "m", "low", 100, effort_why="short")
        await it.take([PROMPT, auto, USAGE, ended()])
        assert any("auto: low (short)" in row for row in it.said)
        other = said.TurnStarted("s", "t0", "m", "low", 100, effort_why="short")
        it = await fed(dict(FILES))
        it.chat.fold(unfolded=True)
        await it.take([PROMPT, other, USAGE, ended()])
        assert not any("auto" in row for row in it.said)
