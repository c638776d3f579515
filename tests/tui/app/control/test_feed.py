"""What the panes hold after events: the table of the feed, and what stops, replays and answers change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from session.base import events as said
from tests.tui.app.control.feeding import app, fed
from tui.front.port import SessionPort
from tui.front.words.held_items import Verdict

FILES = {"a.py": "one\ntwo\nthree\n", "b.py": "b\n"}
PROMPT = said.PromptSubmitted("t1", "do it")
STARTED = said.TurnStarted("s", "t1", "m", "low", 100)
USAGE = said.Usage("t1", 100, 50, 40, 10, model="m", tokens_per_second=20.0, cost=0.02)
HELD = said.HunkHeld("t1", "h1", "a.py", "overwrites", "a.py exists")


def opened(hunk: str = "h1", path: str = "a.py", action: str = "update") -> said.HunkOpened:
    return said.HunkOpened("t1", hunk, path, action)


def landed(
    hunk: str = "h1",
    status: str = "applied",
    start: int = 2,
    end: int = 3,
    action: str = "update",
    moved_to: str | None = None,
) -> said.HunkLanded:
    return said.HunkLanded("t1", hunk, "a.py", status, 1, start, end, action, moved_to, 1, 1, "+two")


def ended(status: str = "completed", message: str | None = None) -> said.TurnEnded:
    return said.TurnEnded("t1", status, message)


@dataclass(frozen=True)
class Row:
    """Events, and after them: the chat, what of the status line is not as at the start, what was called, the
    hunk that is drawn in the editor, and the file that is shown there."""

    name: str
    events: Sequence[said.Event]
    said: list[str]
    state: dict[str, object]
    called: list[str] = field(default_factory=list)
    drawn: str = ""
    shown: str = ""


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
        "typed_counts",
        [PROMPT, STARTED, opened(), said.HunkTyped("t1", "h1", "+", "x" * 40)],
        ["▌ do it", "… h1  a.py"],
        {"phase": "preparing", "used": 110, "estimated": True, "speed": "live"},
        ["turn begins"],
        drawn="h1",
        shown="a.py",
    ),
    Row(
        "opened",
        [
            PROMPT,
            STARTED,
            opened(),
        ],
        ["▌ do it", "… h1  a.py"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        drawn="h1",
        shown="a.py",
    ),
    Row(
        "landed",
        [PROMPT, STARTED, opened(), landed()],
        ["▌ do it", "✓ h1  a.py 2  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_one_line",
        [PROMPT, STARTED, opened(), landed(start=2, end=2)],
        ["▌ do it", "✓ h1  a.py 2  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_lines",
        [PROMPT, STARTED, opened(), landed(start=2, end=5)],
        ["▌ do it", "✓ h1  a.py 2–4  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_new",
        [PROMPT, STARTED, opened(action="add"), landed(action="add", start=1, end=4)],
        ["▌ do it", "✓ h1  a.py new file  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_moved",
        [PROMPT, STARTED, opened(), landed(moved_to="b.py", action="move")],
        ["▌ do it", "✓ h1  a.py → b.py  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="b.py",
    ),
    Row(
        "landed_already",
        [PROMPT, STARTED, opened(), landed(status="already_applied")],
        ["▌ do it", "✓ h1  a.py 2 · was there already  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "landed_fuzzy",
        [PROMPT, STARTED, opened(), landed(status="applied_fuzzy")],
        ["▌ do it", "✓ h1  a.py 2 · placed by likeness  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "refused",
        [PROMPT, STARTED, opened(), said.HunkRefused("t1", "h1", "a.py", "no_match", "no match: not there")],
        ["▌ do it", "✗ h1  a.py no match: not there"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
    ),
    Row(
        "declined",
        [
            PROMPT,
            STARTED,
            opened(),
            said.HunkRefused("t1", "h1", "a.py", "declined", "the developer declined it: no"),
        ],
        ["▌ do it", "− h1  a.py declined: no"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
    ),
    Row(
        "refused_command",
        [said.HunkRefused("", "h1", "a.py", "no_match", "changed since")],
        [],
        {"message": "h1 a.py: changed since", "level": "error"},
        [],
    ),
    Row(
        "dropped",
        [PROMPT, STARTED, opened(), said.HunkDropped("t1", "h1", "a.py")],
        ["▌ do it", "− h1  a.py not finished; nothing of it was written"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
    ),
    Row(
        "dropped_whole",
        [PROMPT, STARTED, opened(), said.TextDelta("t1", "then"), said.HunkDropped("t1", "h1", "a.py")],
        ["▌ do it", "− h1  a.py stopped before its turn; nothing of it was written", "then"],
        {"phase": "preparing", "used": 101, "estimated": True, "speed": "live"},
        ["turn begins"],
    ),
    Row(
        "dropped_held",
        [PROMPT, STARTED, opened(), HELD, said.HunkDropped("t1", "h1", "a.py")],
        ["▌ do it", "− h1  a.py stopped before your OK; nothing of it was written"],
        {"phase": "preparing", "used": 100},
        ["turn begins", "waiting: h1 needs your OK: a.py: exists", "waiting: "],
    ),
    Row(
        "undone",
        [PROMPT, STARTED, opened(), landed(), said.HunkUndone("h1", "a.py", 2, 3)],
        ["▌ do it", "↶ h1  a.py undone  +1 −1"],
        {"phase": "preparing", "used": 100, "message": "h1 undone: a.py"},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "redone",
        [
            PROMPT,
            STARTED,
            opened(),
            landed(),
            said.HunkUndone("h1", "a.py", 2, 3),
            said.HunkRedone("h1", "a.py", 2, 5),
        ],
        ["▌ do it", "✓ h1  a.py 2–4 · redone  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100, "message": "h1 redone: a.py"},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "undone_unknown",
        [said.HunkUndone("h9", "a.py", 2, 3)],
        ["↶ h9  a.py undone"],
        {"message": "h9 undone: a.py"},
        [],
        shown="a.py",
    ),
    Row(
        "checked",
        [PROMPT, STARTED, opened(), landed(), said.HunkChecked("h1", "a.py", "mypy", "red", 3, "bad type")],
        ["▌ do it", "✓ h1  a.py 2  +1 −1  ✗ mypy: line 3: bad type", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
        shown="a.py",
    ),
    Row(
        "race_won",
        [said.RaceEnded("t1", 1, 1, 3, 1, 900, 2.0)],
        ["· attempt 1 of 3 won · 1 green · 900 tokens · 2.0 s"],
        {},
        [],
    ),
    Row(
        "race_lost",
        [said.RaceEnded("t1", None, 2, 3, 0, 900, 2.0)],
        ["! no attempt won · 0 green · 900 tokens · 2.0 s"],
        {},
        [],
    ),
    Row("check_started", [said.CheckStarted("mypy")], [], {"message": "mypy runs …"}, []),
    Row(
        "check_green",
        [said.CheckStarted("mypy"), said.CheckEnded("mypy", "green", 1.0)],
        ["· mypy passed · 1.0 s"],
        {},
        [],
    ),
    Row(
        "check_red",
        [
            said.CheckStarted("mypy"),
            said.Notice("warning", "else"),
            said.CheckEnded("mypy", "red", 1.0, ("a.py:1 x",)),
        ],
        ["! else", "✗ mypy failed · 1.0 s", "a.py:1 x"],
        {"message": "else", "level": "warning"},
        [],
    ),
    Row(
        "command",
        [said.CommandStarted("c1", "ls")],
        ["… ! ls"],
        {"message": "your command runs; Esc ends it"},
        [],
    ),
    Row(
        "command_out",
        [said.CommandStarted("c1", "ls"), said.CommandOutput("c1", "one\ntwo\n")],
        ["… ! ls", "one", "two"],
        {"message": "your command runs; Esc ends it"},
        [],
    ),
    Row(
        "command_end",
        [
            said.CommandStarted("c1", "ls"),
            said.CommandOutput("c1", "one\n"),
            said.CommandEnded("c1", "ls", "failed", "exit 1", "one"),
        ],
        ["✗ ! ls · exit 1 · Shift+F10 sends it to the model", "one"],
        {},
        [],
    ),
    Row(
        "command_other",
        [
            said.CommandStarted("c1", "ls"),
            said.Notice("warning", "else"),
            said.CommandEnded("c1", "ls", "ok", "exit 0", "one"),
        ],
        ["→ ! ls · exit 0", "one", "! else"],
        {"message": "else", "level": "warning"},
        [],
    ),
    Row(
        "watch_red",
        [said.WatchTold("ls", "exit 1", red=("a",), left=1)],
        ["✗ watch ls · exit 1 · 1 wrong", "newly red: a"],
        {},
        [],
    ),
    Row(
        "watch_green",
        [said.WatchTold("ls", "exit 0", green=("a",))],
        ["· watch ls · exit 0 · all well", "newly green: a"],
        {},
        [],
    ),
    Row(
        "call",
        [PROMPT, STARTED, said.ToolCalled("t1", "c1", "read", "read a.py")],
        ["▌ do it", "… read a.py"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
    ),
    Row(
        "call_end",
        [
            PROMPT,
            STARTED,
            said.ToolCalled("t1", "c1", "run", "$ ls"),
            said.ToolOutput("t1", "c1", "out\n"),
            said.ToolEnded("t1", "c1", "run", "ok", "$ ls · exit 0", "out"),
        ],
        ["▌ do it", "→ $ ls · exit 0", "out"],
        {"phase": "preparing", "used": 100},
        ["turn begins"],
    ),
    Row(
        "call_held",
        [
            PROMPT,
            STARTED,
            said.ToolCalled("t1", "c1", "run", "$ ls"),
            said.ToolHeld("t1", "c1", "run", "ls -l"),
        ],
        ["▌ do it", "? ls -l"],
        {"phase": "preparing", "asked": True, "used": 100},
        ["turn begins", "waiting: run needs your OK"],
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
        "held",
        [PROMPT, STARTED, opened(), HELD],
        ["▌ do it", "? h1  a.py exists"],
        {"phase": "preparing", "asked": True, "used": 100},
        ["turn begins", "waiting: h1 needs your OK: a.py: exists"],
        drawn="h1",
        shown="a.py",
    ),
    Row(
        "held_two",
        [
            PROMPT,
            STARTED,
            opened(),
            said.HunkHeld("t1", "h1", "a.py", "secret", "a.py has a key"),
            opened("h2", "b.py"),
            said.HunkHeld("t1", "h2", "b.py", "secret", "b.py has a key"),
        ],
        ["▌ do it", "? h1  a.py has a key", "? h2  b.py has a key"],
        {"phase": "preparing", "asked": True, "used": 100},
        [
            "turn begins",
            "waiting: h1 needs your OK: a.py: has a key",
            "waiting: h1 needs your OK (1 of 2): a.py: has a key",
        ],
        drawn="h1",
        shown="a.py",
    ),
    Row(
        "held_landed",
        [PROMPT, STARTED, opened(), HELD, landed()],
        ["▌ do it", "✓ h1  a.py replaced 2  +1 −1", "+ two"],
        {"phase": "preparing", "used": 100},
        ["turn begins", "waiting: h1 needs your OK: a.py: exists", "waiting: "],
        shown="a.py",
    ),
    Row(
        "model",
        [said.ModelChosen("other", "high", 5000, True), said.TurnStarted("s", "t1", "m", "low", 100)],
        [],
        {"model": "other", "effort": "high", "used": 100, "window": 5000, "fast": True},
        [],
    ),
    Row(
        "connection",
        [said.ConnectionChanged("failed", "no route")],
        [],
        {"link": "failed", "message": "no route", "level": "error"},
        [],
    ),
    Row(
        "connection_waiting",
        [said.ConnectionChanged("waiting", "try again", 9.0)],
        [],
        {"link": "waiting", "countdown": 9, "message": "try again", "level": "warning"},
        [],
    ),
    Row(
        "connection_back",
        [said.ConnectionChanged("waiting", "try again", 9.0), said.ConnectionChanged("ready")],
        [],
        {"link": "ready"},
        [],
    ),
    Row(
        "connection_quiet",
        [said.Notice("warning", "careful"), said.ConnectionChanged("ready")],
        ["! careful"],
        {"link": "ready", "message": "careful", "level": "warning"},
        [],
    ),
    Row(
        "connection_off",
        [said.ConnectionChanged("offline", "gone")],
        [],
        {"link": "offline", "message": "gone", "level": "warning"},
        [],
    ),
    Row(
        "connection_info",
        [said.ConnectionChanged("ready", "here")],
        [],
        {"link": "ready", "message": "here"},
        [],
    ),
    Row("reading", [said.ReadingProgress(1000, 2000)], [], {"reading": "reading 1,000/2,000"}, []),
    Row("reading_done", [said.ReadingProgress(1000, 2000), said.ReadingProgress(2000, 2000)], [], {}, []),
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
    Row(
        "broken",
        [said.FileBroken("t1", "a.py", "line 3: odd", ("h1", "h2"))],
        ["✗ a.py: line 3: odd, since h1 and h2"],
        {},
        ["broken: a.py"],
    ),
    Row("notice", [said.Notice("info", "by the way")], ["· by the way"], {}, []),
    Row("notice_error", [said.Notice("error", "bad")], ["✗ bad"], {"message": "bad", "level": "error"}, []),
    Row(
        "compacted",
        [said.DialogueCompacted("t3", 2, 900, 100, "rules", ("x",), ("y",), "text")],
        ["▸ compacted 2 turns · 900 → 100 tokens · by rules"],
        {},
        [],
    ),
    Row(
        "ledger",
        [said.LedgerProposed("t3", "g", (), (), (), 1, 10, 20)],
        [
            "· the model wrote the ledger for the next compaction, 1 of its lines not",
            "believed (10 + 20 tokens)",
        ],
        {},
        [],
    ),
    Row("remembered", [said.LineRemembered(1, "no tabs")], ["· remembered 1: no tabs"], {}, []),
    Row("forgotten", [said.LineForgotten(1, "no tabs")], ["· forgotten 1: no tabs"], {}, []),
    Row(
        "pinned",
        [said.ContextPinned("a.py")],
        ["· pinned a.py: it is in every window as long as it fits"],
        {},
        [],
    ),
    Row("files", [said.FilesChanged(("a.py",))], [], {}, []),
]


async def test_what_the_panes_hold_after_events() -> None:
    async with app():
        for row in TABLE:
            it = await fed(dict(FILES))
            await it.take(row.events)
            flight = it.file.editor.flight
            drawn = flight.hunk if flight is not None else ""
            assert (it.said, it.state, it.called, drawn, it.file.path) == (
                row.said,
                row.state,
                row.called,
                row.drawn,
                row.shown,
            ), row.name


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


async def test_a_file_that_changed_on_disk_is_read_again() -> None:
    async with app():
        texts = dict(FILES)
        it = await fed(texts)
        assert await it.file.open("a.py")
        texts["a.py"] = "changed\n"
        await it.take([said.FilesChanged(("a.py",))])
        assert it.file.editor.buffer.text == "changed\n"
        texts["a.py"] = "undone\n"
        await it.take([said.HunkUndone("h1", "a.py", 1, 2)])
        assert it.file.editor.buffer.text == "undone\n"
        texts["a.py"] = "redone\n"
        await it.take([said.HunkRedone("h1", "a.py", 1, 2)])
        assert it.file.editor.buffer.text == "redone\n"


async def test_where_a_held_hunk_would_land_is_noted_in_the_gutter() -> None:
    async with app():
        it = await fed(dict(FILES))
        await it.take([PROMPT, opened(), said.HunkAimed("t1", "h1", "a.py", 2, 3), HELD])
        assert it.file.editor.notes.of("a.py", "hunks h1") == {1: "held"}


async def test_a_refusal_of_a_command_tells_of_unsaved_text() -> None:
    async with app():
        it = await fed(dict(FILES))
        assert await it.file.open("a.py")
        refused = said.HunkRefused("", "h1", "a.py", "no_match", "changed since")
        await it.take([refused])
        assert it.status.status.message == "h1 a.py: changed since"
        it.file.editor.buffer.put("mine\n")
        await it.take([refused])
        hint = "a.py has unsaved text: save it and try again"
        assert it.status.status.message == f"h1 a.py: changed since; {hint}"


class Answering:
    """What of a session the feed's answers need: it takes those about what it holds."""

    def __init__(self, *holds: str) -> None:
        self.holds = list(holds)
        self.given: list[tuple[str, bool, bool]] = []

    def answer(self, held: str, *, land: bool, rest: bool = False) -> bool:
        self.given.append((held, land, rest))
        if held not in self.holds:
            return False
        self.holds.remove(held)
        return True


async def test_answers_go_to_the_oldest_or_to_the_one_that_is_named() -> None:
    both: list[said.Event] = [
        PROMPT,
        opened(),
        HELD,
        said.ToolCalled("t1", "c1", "run", "$ ls"),
        said.ToolHeld("t1", "c1", "run", "ls"),
    ]
    agreed = "→ h1  a.py lands once the hunks before it in its file have ended"
    table: list[tuple[Verdict, str, list[tuple[str, bool, bool]], list[str], str]] = [
        ("apply", "", [("h1", True, False)], [agreed, "? ls"], "run needs your OK"),
        ("reject", "", [("h1", False, False)], ["? h1  a.py exists", "? ls"], "run needs your OK"),
        (
            "apply",
            "c1",
            [("c1", True, False)],
            ["? h1  a.py exists", "… ls"],
            "h1 needs your OK: a.py: exists",
        ),
        ("apply all", "", [("h1", True, True), ("c1", True, True)], [agreed, "… ls"], ""),
        ("apply", "h9", [], ["? h1  a.py exists", "? ls"], "h1 needs your OK (1 of 2): a.py: exists"),
    ]
    async with app():
        for verdict, name, given, shown, asked in table:
            it = await fed(dict(FILES))
            await it.take(both)
            session = Answering("h1", "c1")
            done = it.feed.answer(cast("SessionPort", session), verdict, name)
            assert (done, session.given) == (bool(given), given), (verdict, name)
            question = it.held.question
            assert (it.said[1:], question.title if question else "") == (shown, asked), (verdict, name)


async def test_a_hunk_that_was_agreed_to_is_asked_about_no_more() -> None:
    async with app():
        it = await fed(dict(FILES))
        await it.take([PROMPT, opened(), HELD])
        it.feed.agreed("h1")
        it.feed.agreed("h9")
        await it.take([])
        book = it.feed.book.named("h1")
        assert book is not None and book.state == "agreed" and len(it.feed.held) == 0
        assert it.said[1:] == ["→ h1  a.py lands once the hunks before it in its file have ended"]


async def test_of_several_held_hunks_the_oldest_is_drawn() -> None:
    async with app():
        it = await fed(dict(FILES))
        second = said.HunkHeld("t1", "h2", "b.py", "secret", "b.py has a key")
        await it.take([PROMPT, opened(), HELD, opened("h2", "b.py"), second])
        assert it.file.path == "a.py" and it.file.editor.flight is not None
        await it.take([landed()])
        assert it.file.path == "b.py" and it.file.editor.flight is not None
        assert it.file.editor.flight.hunk == "h2"


async def test_a_call_takes_the_time_in_which_nothing_streams_out_of_the_speed() -> None:
    async with app():
        it = await fed(dict(FILES))
        await it.take([PROMPT, STARTED, said.TextDelta("t1", "x" * 400)])
        assert it.feed.tick()
        await it.take([said.ToolCalled("t1", "c1", "read", "read a.py")])
        assert not it.feed.tick()


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
