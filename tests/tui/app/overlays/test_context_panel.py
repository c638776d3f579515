"""The context panel: what it shows, its keys, and that it keeps up without holding anything up."""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from session.base.events import ReadingProgress
from session.turn.window_report import LeftOutFile, ReportedPiece, WindowReport
from tests.tui.stage import GREETER, Stage, stage
from tui.app.overlays.context_panel import ContextScreen
from tui.app.overlays.context_rows import KINDS, MOST_IN_A_GROUP, bar, groups, head, list_rows
from tui.app.overlays.file_picker import FilePicker
from tui.front.words.figures import thousands
from tui.front.words.window_lines import left_out_lines, window_lines

FILES = {
    "greeter.py": GREETER,
    "src/shapes.py": "def circle():\n    return 'round'\n",
    "src/tastes.py": "def sweet():\n    return 'sugar'\n",
    "AGENTS.md": "Be brief.\n",
    "[red]odd.md": "# Odd\n",
    "x.bin": "\x00\x01",
}


async def panel(it: Stage, draft: str = "", key: str = "ctrl+t") -> ContextScreen:
    """Open the panel and wait for its window."""
    await it.session._reading.ready.wait()
    it.app.composer.put(draft)
    await it.pilot.press(key)
    await it.until(lambda: isinstance(it.app.screen, ContextScreen), "the panel")
    screen = it.app.screen
    assert isinstance(screen, ContextScreen)
    await it.until(lambda: screen._entries, "the window")
    await it.pilot.pause()
    return screen


async def choose(it: Stage, screen: ContextScreen, name: str) -> None:
    """Go to an entry by the keys."""
    await it.pilot.press("home")
    for _ in range(len(screen._entries)):
        entry = screen._entry
        if entry is not None and entry.name == name:
            await it.pilot.pause()
            return
        await it.pilot.press("down")
    raise AssertionError(f"{name} is not in the list:\n{it.screen}")


def entry(screen: ContextScreen, name: str) -> tuple[str, str, str]:
    found = next(each for each in screen._entries if each.name == name)
    return found.group, found.pinned, found.removed


@pytest.mark.parametrize("theme", ["dark", "ansi16"])
async def test_the_panel_shows_the_window_at_every_size(tmp_path: Path, theme: str) -> None:
    async with stage(tmp_path, files=FILES, theme=theme) as it:
        for size in ((80, 24), (160, 48), (40, 10)):
            await it.pilot.resize_terminal(*size)
            screen = await panel(it, "explain @greeter.py")
            lines = it.screen.split("\n")
            assert len(lines) == size[1] and all(len(line) <= size[0] for line in lines), size
            budget = it.session.models.budget_tokens
            assert f" of {budget:,} tokens" in lines[0] or f"/{thousands(budget)}" in lines[0], size
            assert "to be sent now" in lines[0] and "█" in lines[1], size
            assert "how to answer and how to write" in it.screen, size
            await choose(it, screen, "greeter.py")
            assert "named in the request; whole" in it.screen and "❯" in it.screen, size
            await it.pilot.press("end")
            await it.until(
                lambda: "x.bin" in it.screen and "a binary file" in it.screen, f"the list's end at {size}"
            )
            await it.pilot.press("escape")
            await it.until(lambda: not isinstance(it.app.screen, ContextScreen), f"its end at {size}")
            assert it.app.composer.draft == "explain @greeter.py", size


async def test_pinning_and_taking_out_by_keys_reaches_the_next_request(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        screen = await panel(it, "talk about @src/shapes.py")
        await choose(it, screen, "src/shapes.py")
        await it.pilot.press("x")
        await it.until(lambda: entry(screen, "src/shapes.py")[2], "the removal")
        await it.until(lambda: "removed by you" in it.screen and "✗" in it.screen, "the removal is shown")
        await it.pilot.press("a")
        await it.until(lambda: isinstance(it.app.screen, FilePicker), "the picker")
        assert "Pin a file" in it.screen
        await it.pilot.press(*"tastes", "enter")
        await it.until(lambda: any(each.name == "src/tastes.py" and each.text for each in screen._entries))
        assert entry(screen, "src/tastes.py")[1] == "src/tastes.py"
        await it.pilot.press("escape")
        assert it.session.context.pinned == ("src/tastes.py",)
        assert "pinned src/tastes.py" in it.chat and "took out src/shapes.py" in it.chat
        it.app.composer.put("")
        await it.ask("just talk about @src/shapes.py")
        await it.done()
        assert it.partner is not None
        sent = str([each.body["input"] for each in it.partner.requests if each.generate])
        assert "return 'sugar'" in sent and "'round'" not in sent and "def circle" not in sent
        assert "src/shapes.py is named in the prompt and was not shown" in " ".join(it.chat.split())


def held(screen: ContextScreen, field: int, *, done: bool = True) -> bool:
    return bool(entry(screen, "greeter.py")[field]) is done


async def test_the_keys_undo_what_they_did(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        screen = await panel(it, "talk about @greeter.py")
        await choose(it, screen, "greeter.py")
        for key, field in (("p", 1), ("x", 2)):
            await it.pilot.press(key)
            await it.until(partial(held, screen, field), f"what {key} does")
            assert screen._entry is not None and screen._entry.name == "greeter.py"
            await it.pilot.press(key)
            await it.until(partial(held, screen, field, done=False), f"its undoing {key}")
        await choose(it, screen, "project map")
        await it.pilot.press("p")
        await it.pilot.pause()
        assert "only files can be pinned or taken out" in it.screen
        await choose(it, screen, "x.bin")
        await it.pilot.press("p")
        await it.pilot.pause()
        assert "x.bin cannot be shown: a binary file" in it.screen


async def test_a_name_is_found_by_its_letters(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        screen = await panel(it, "about @greeter.py and @src/shapes.py")
        await it.pilot.press("slash", *"shps")
        await it.until(lambda: [each.name for each in screen._entries] == ["src/shapes.py"], "the match")
        # The letters are keys of the panel as well, but not while they are typed.
        assert it.session.context.pinned == () == it.session.context.removed
        await it.pilot.press("enter", "p")
        await it.until(lambda: it.session.context.pinned, "the pin")
        await it.pilot.press("escape")
        await it.until(lambda: len(screen._entries) > 3, "all of it again")
        assert isinstance(it.app.screen, ContextScreen)
        await it.pilot.press("escape")
        await it.until(lambda: not isinstance(it.app.screen, ContextScreen), "its end")


async def test_enter_opens_a_file_and_space_reads_what_is_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, size=(80, 24)) as it:
        screen = await panel(it, "about @src/shapes.py")
        await choose(it, screen, "src/shapes.py")
        await it.pilot.press("space")
        await it.until(lambda: "## File: src/shapes.py" in it.screen, "the text")
        await it.until(lambda: "❯" not in it.screen, "the text alone")
        await it.pilot.press("escape")
        await it.until(lambda: "❯" in it.screen, "the list")
        assert isinstance(it.app.screen, ContextScreen)
        await it.pilot.press("enter")
        await it.until(lambda: it.app.shown_file.path == "src/shapes.py", "the file in the editor")
        assert not isinstance(it.app.screen, ContextScreen)


async def test_now_and_last_are_two_windows(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await it.ask("just talk about @greeter.py")
        await it.done()
        screen = await panel(it)
        assert entry(screen, "greeter.py")[0] == "files" and "sent before" in it.screen
        await it.pilot.press("tab")
        await it.until(lambda: "last sent" in it.screen and "requests" in it.screen, "the last window")
        await choose(it, screen, "greeter.py")
        assert "named in the request; whole" in it.screen and "sent before" not in it.screen


async def test_before_the_first_request_nothing_was_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await panel(it)
        await it.pilot.press("tab")
        await it.until(lambda: "nothing has been sent" in it.screen, "the word that nothing was")


async def test_a_file_that_changes_is_taken_in_while_the_panel_is_open(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        screen = await panel(it, "about @greeter.py")
        (it.root / "greeter.py").write_text(GREETER + "\n\ndef brand_new() -> None: ...\n")
        await it.until(
            lambda: any(each.name == "greeter.py" and "brand_new" in each.text for each in screen._entries),
            "the new text",
        )


async def test_the_command_opens_the_panel_and_pins_complete(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await it.session._reading.ready.wait()
        it.app.composer.put("/pin tast")
        await it.pilot.press("tab")
        assert it.app.composer.draft == "/pin src/tastes.py"
        await it.pilot.press("enter")
        await it.until(lambda: it.session.context.pinned == ("src/tastes.py",), "the pin")
        it.app.composer.put("/pin nowhere.py")
        await it.pilot.press("enter")
        await it.until(lambda: "nowhere.py names nothing" in it.screen, "the refusal")
        assert it.app.composer.draft == "/pin nowhere.py"
        it.app.composer.put("/context")
        await it.pilot.press("enter")
        await it.until(lambda: isinstance(it.app.screen, ContextScreen), "the panel")
        await it.until(lambda: "src/tastes.py" in it.screen and "◆" in it.screen, "the pin in it")


async def test_pins_are_there_again_after_a_resume(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        await it.session._reading.ready.wait()
        await it.session.context.pin("src/tastes.py")
        await it.session.context.remove("src/shapes.py")
        await it.ask("just talk")
        await it.done()
        name = it.session.name
    async with stage(tmp_path, resume=name) as it:
        assert "pinned src/tastes.py" in it.chat
        screen = await panel(it)
        assert entry(screen, "src/tastes.py")[1] == "src/tastes.py"
        assert entry(screen, "src/shapes.py")[2] == "src/shapes.py"


async def test_stopping_works_with_the_panel_open(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES, rate=20.0) as it:
        await it.ask("just talk")
        await panel(it)
        await it.pilot.press("escape")
        await it.until(lambda: not it.session.running, "the stop")


async def test_names_that_would_steer_the_terminal_are_shown_harmless(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "bad\x1b[31mname.py").write_text("x = 1\n")
    (root / "esc.py").write_text("x = '\x1b[2J'\n")
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=root, check=True, env={**os.environ, "HOME": str(tmp_path)})
    async with stage(tmp_path, files=FILES) as it:
        screen = await panel(it, "about @esc.py and @[red]odd.md")
        await it.until(lambda: "its name holds control characters" in it.screen, "the odd name")
        assert "[red]odd.md" in it.screen and "\x1b" not in it.screen
        await choose(it, screen, "esc.py")
        await it.pilot.press("space")
        await it.until(lambda: "[2J" in it.screen, "its text")
        assert "\x1b" not in it.screen


async def test_the_status_line_tells_a_long_reading_and_then_forgets_it(tmp_path: Path) -> None:
    async with stage(tmp_path, files=FILES) as it:
        it.session._recorder.publish(ReadingProgress(known=3_200, total=78_311))
        await it.until(lambda: "reading 3,200/78,311" in it.screen, "the figures")
        it.session._recorder.publish(ReadingProgress(known=78_311, total=78_311))
        await it.until(lambda: "reading" not in it.screen, "their end")


def test_a_window_can_be_told_in_lines() -> None:
    told = window_lines(
        window(left_out=(LeftOutFile("b\x1b.py", 5, "no room"),), complete=False, known=1, total=2)
    )
    assert told.splitlines() == [
        "6,240 of 10,000 tokens",
        "instructions 900 · map 5,000 · mentioned 40",
        "built from what is known so far: 1 of 2 files",
        "     900  instructions",
        "          how; sent before",
        "   5,000  map",
        "          the project; sent before",
        "      40  mentioned            a.py",
        "          named",
        "     300  answers, reports and tools",
        "left out",
        "       5  b\u241b.py: no room",
    ]


def test_much_that_was_left_out_for_one_reason_is_told_by_some_of_it() -> None:
    many = [LeftOutFile(f"m{at}.py", 0, "no room for its definitions") for at in range(900)]
    told = left_out_lines([*many, LeftOutFile("a.bin", 1_234, "a binary file")])
    assert told[:2] == ["   1,234  a.bin: a binary file", "       –  m0.py: no room for its definitions"]
    assert told[-1] == "          and 888 more: no room for its definitions"
    assert len(told) == 14


def test_what_is_left_out_for_like_reasons_is_one_group() -> None:
    large = [
        LeftOutFile(f"m{at}.bin", 0, f"too large ({at}.0 MB; files over 1 MB are not read)")
        for at in range(30)
    ]
    told = left_out_lines(large)
    assert told[0] == "       –  m0.bin: too large (0.0 MB; files over 1 MB are not read)"
    assert told[-1] == "          and 18 more: too large"
    group = groups(window(left_out=tuple(large)))[-1]
    assert (group.title, len(group.entries)) == ("left out: too large", 30)
    assert LeftOutFile("b.py", 0, "often changed together with a (copy).py").reason.endswith("a (copy).py")


# What is drawn, as data.


def window(**changes: object) -> WindowReport:
    parts = (
        ReportedPiece("instructions", "", 900, "how", "text", earlier=True),
        ReportedPiece("map", "", 5_000, "the project", "text", earlier=True),
        ReportedPiece("mentioned", "a.py", 40, "named", "text", earlier=False),
    )
    values: dict[str, object] = {"budget": 10_000, "tokens": 6_240, "parts": parts, "talk": 300}
    return WindowReport(**{**values, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("width", [8, 38, 78, 158])
def test_the_bar_is_as_wide_as_it_should_be_and_shows_every_kind(width: int) -> None:
    spans = bar(window(), width)
    text = "".join(piece for piece, _ in spans)
    assert len(text) == width
    for kind in ("instructions", "map", "mentioned", "talk"):
        assert KINDS[kind][1] in text
    assert text.count(KINDS["map"][1]) == max(map(len, (piece for piece, _ in spans[:-1])))


def test_a_project_still_being_read_is_said_in_the_head() -> None:
    rows = head(window(complete=False, known=3_200, total=78_311), "to be sent now", 80, 24)
    assert "built from what is known so far: 3,200 of 78,311 files" in rows[1].text


def test_what_was_left_out_stands_by_reason_the_rare_ones_first_and_cut() -> None:
    left = (
        *(LeftOutFile(f"src/m{at}.py", 10, "no room for its definitions") for at in range(900)),
        LeftOutFile("b.py", 2_000, "pinned, but there is no room for its text"),
    )
    found = groups(window(left_out=left, pins={"b.py": "b.py"}), ("b.py", "gone.py"))
    titles = [group.title for group in found]
    assert titles[-3:] == [
        "pinned, not there",
        "left out: pinned, but there is no room for its text",
        "left out: no room for its definitions",
    ]
    assert len(found[-1].entries) == MOST_IN_A_GROUP and found[-1].more == 700
    rows, places = list_rows(found, 0, 80, 10_000, ansi=False)
    assert len(places) == sum(len(group.entries) for group in found)
    assert "700 more" in rows[-1].text and all(len(row.text) <= 80 for row in rows)
    (only,) = groups(window(left_out=left), (), "m777")
    assert [each.name for each in only.entries] == ["src/m777.py"]


ASKING = """
[[scenario]]
match = ["look"]
[[scenario.step]]
call = [{ tool = "run", arguments = { command = "touch ran" } }]
[[scenario.step]]
say = "So much for that.\\n"
"""


@pytest.mark.parametrize("key", ["q", "ctrl+t"])
async def test_the_panel_says_that_a_turn_waits_and_is_left_without_stopping_it(
    tmp_path: Path, key: str
) -> None:
    async with stage(tmp_path, script=ASKING, size=(100, 30)) as it:
        screen = await panel(it)
        assert "Esc closes" in it.screen
        it.session.submit("look")
        await it.until(lambda: "the turn needs your OK: q goes back to answer" in it.screen, "the word")
        assert "q closes  Esc stops" in it.screen
        await it.pilot.press("shift+tab", "ctrl+p")
        assert it.app.screen is screen and it.app.feed.held.oldest
        await it.pilot.press(key)
        await it.until(lambda: it.app.screen is not screen, "the panes")
        assert it.session.running
        await it.pilot.press("ctrl+p")
        await it.until(lambda: "Ctrl+P leaves, Esc stops" in it.screen, "the files")
        await it.pilot.press("ctrl+p")
        await it.until(lambda: not isinstance(it.app.screen, FilePicker), "the panes again")
        await it.answer("y")
        await it.done()
        assert (it.root / "ran").exists() and "So much for that." in it.chat
