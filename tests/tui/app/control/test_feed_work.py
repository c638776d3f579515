"""What the panes hold after the events of checks, races, commands, calls, the window and the connection."""

from __future__ import annotations

from session.base import events as said
from tests.tui.app.control.feeding import (
    FILES,
    PROMPT,
    STARTED,
    Row,
    app,
    check,
    fed,
)

TABLE = [
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
        ["turn begins", "waiting: Run `ls -l`?"],
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
    Row(
        "model",
        [said.ModelChosen("other", "high", 5000, True), said.TurnStarted("s", "t1", "m", "low", 100)],
        [],
        {"model": "other", "effort": "high", "used": 100, "window": 5000, "tier": "fast"},
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
    Row("prompt_read", [said.PromptRead("t1", 450, 1000)], [], {"reading": "the model reads: 45 %"}, []),
    Row("prompt_whole", [said.PromptRead("t1", 450, 1000), said.PromptRead("t1", 1000, 1000)], [], {}, []),
    Row("reading_done", [said.ReadingProgress(1000, 2000), said.ReadingProgress(2000, 2000)], [], {}, []),
]


async def test_what_the_panes_hold_after_events_beside_the_answer() -> None:
    await check(TABLE)


async def test_a_call_takes_the_time_in_which_nothing_streams_out_of_the_speed() -> None:
    async with app():
        it = await fed(dict(FILES))
        await it.take([PROMPT, STARTED, said.TextDelta("t1", "x" * 400)])
        assert it.feed.tick()
        await it.take([said.ToolCalled("t1", "c1", "read", "read a.py")])
        assert not it.feed.tick()
