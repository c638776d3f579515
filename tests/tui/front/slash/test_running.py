"""Keys and commands beside prompts: held hunks, whole turns, ``/commands`` and ``@`` completion."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from edits.hunk import Action, Format, Hunk, HunkLine, LineKind
from session.base.tasks import BackgroundTasks
from session.setup.served_models import ServedModels
from tests.tui.app.test_held_hunks import MANIFEST
from tests.tui.stage import GREETER, stage
from tui.app.overlays.pick_screen import PickScreen


async def test_a_whole_turn_is_undone_once_the_user_agrees(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("alt+d", "shift+f9")
        assert "Undo every hunk of the last turn?" in it.screen and "h2  greeter.py" in it.screen
        await it.answer("n")
        assert "↶" not in it.chat
        for leave in ("tab", "escape"):
            await it.pilot.press("shift+f9", leave)
            await it.until(lambda: it.app.panes.held.question is None, "the question given up")
            assert it.app.composer.has_focus
        await it.pilot.press("shift+f9")
        await it.answer("y")
        await it.until(lambda: "↶ h1" in it.chat and "↶ h2" in it.chat, "both undone")
        await it.until(lambda: "Undone in greeter.py: h1, h2" in it.chat, "all that was undone")
        assert (it.root / "greeter.py").read_text() == GREETER


async def test_no_hunk_is_undone_that_the_user_was_not_asked_about(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("shift+f9")
        assert "h2  greeter.py" in it.screen
        edit = Hunk("new.py", Action.ADD, Format.V4A, (HunkLine(LineKind.NEW, "1"),))
        await it.session.hunks.land(edit, "t2")
        await it.until(lambda: "h3" in it.session.hunks.undoable.last_turn, "another turn's hunk")
        await it.answer("y")
        await it.until(lambda: "↶ h1" in it.chat and "↶ h2" in it.chat, "both undone")
        assert (it.root / "new.py").exists()


async def test_tab_names_the_hunks_that_can_be_undone_and_landed_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        it.app.composer.focus()
        await it.pilot.press(*"/undo ", "tab")
        assert it.app.composer.draft == "/undo h2", "the last one first"
        await it.pilot.press("tab", "enter")
        await it.until(lambda: "↶ h1" in it.chat, "the first hunk undone")
        await it.pilot.press(*"/redo ", "tab")
        assert it.app.composer.draft == "/redo h1"
        await it.pilot.press("tab")
        assert it.app.composer.draft == "/redo h1"
        await it.pilot.press("enter")
        await it.until(lambda: "✓ h1" in it.chat, "the redo")
        await it.pilot.press(*"/redo ", "tab")
        assert it.app.composer.draft == "/redo " and it.app.composer.has_focus


async def test_commands_in_place_of_a_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        composer = it.app.composer

        async def command(text: str, told: str) -> None:
            composer.focus()
            composer.put(text)
            it.key("enter", "\r")
            await it.until(lambda: told in it.screen, told)

        await command("/lock greeter.py", "greeter.py is locked")
        await command("/lock", "locked: greeter.py")
        await command("/unlock all", "no longer locked")
        await command("/effort low", "· low")
        assert it.session.models.effort == "low"
        await command("/model claude-opus-5-5", "served by anthropic")
        assert composer.draft == "/model claude-opus-5-5", "what cannot be obeyed is given back"
        await command("/nonsense", "Unknown command")
        assert not it.session.running


async def test_tab_behind_an_at_completes_a_path_and_goes_round_the_matches(tmp_path: Path) -> None:
    files = {"greeter.py": GREETER, "web/greeting.js": "let a;\n", "notes.md": "# Notes\n"}
    async with stage(tmp_path, files=files) as it:
        await it.until(lambda: len(it.session.files.list()) == 3, "the list of files")
        it.app.composer.focus()
        await it.pilot.press(*"explain @gre", "tab")
        first = it.app.composer.draft
        assert first == "explain @greeter.py"
        await it.until(lambda: "1 of 3" in it.screen, "how many there are")
        seen = {first}
        for _ in range(2):
            await it.pilot.press("tab")
            seen.add(it.app.composer.draft)
        assert seen == {"explain @greeter.py", "explain @web/greeting.js", "explain @greet"}
        await it.pilot.press("tab")
        assert it.app.composer.draft == first
        await it.pilot.press(*" @zzz", "tab")
        assert it.app.composer.draft == f"{first} @zzz"
        await it.pilot.press(" ", "tab")
        assert it.app.composer.has_focus, "what is typed on would go into a source file"


async def test_a_command_is_explained_completed_and_corrected_as_it_is_typed(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press(*"/un")
        await it.until(lambda: "Command  /undo /undo-turn /unlock /unpin" in it.screen, "the names")
        await it.pilot.press("tab", "tab")
        assert it.app.composer.draft == "/undo-turn"
        await it.until(lambda: "/undo-turn: undo all hunks" in it.screen, "what it does")
        await it.pilot.press("ctrl+u", *"no command")
        await it.until(lambda: "Ask  Enter sends" in it.screen, "the keys")
        await it.pilot.press("ctrl+u", *"/udno", "enter")
        await it.until(
            lambda: "Unknown command /udno. Did you mean /undo? /help lists all." in it.screen, "help"
        )
        await it.until(lambda: it.app.composer.draft == "/udno", "the command, to be corrected")
        await it.pilot.press(*"other words")
        assert it.app.composer.draft == "other words"


@pytest.mark.parametrize("typed", ["/", "/help"])
async def test_the_help_is_a_command_and_nothing_is_sent(tmp_path: Path, typed: str) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press(*typed, "enter")
        await it.until(lambda: isinstance(it.app.screen, PickScreen), "the help")
        assert not it.session.running and not it.chat


async def test_a_command_of_the_model_is_answered_and_the_app_left_by_typing(tmp_path: Path) -> None:
    async with stage(tmp_path, script=MANIFEST, files={"requirements.txt": "click\n"}) as it:
        await it.ask("add it")
        await it.until(lambda: "? h1" in it.chat, "the held hunk")
        await it.pilot.press(*"/land", "enter")
        await it.done()
        assert "✓ h1" in it.chat
        await it.pilot.press(*"/exit", "enter")
        await it.until(lambda: it.app.return_code == 0 and not it.app.is_running, "the end")


async def test_tab_behind_a_command_goes_round_what_can_follow_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        composer = it.app.composer

        async def tabbed(text: str, *values: str) -> None:
            composer.focus()
            composer.put(text)
            seen = []
            for _ in values:
                await it.pilot.press("tab")
                seen.append(composer.draft)
            command = text.split(" ")[0]
            assert seen == [f"{command} {value}" for value in values]

        await tabbed("/effort ", "none", "low", "medium", "high", "xhigh", "max", "auto", "none")
        await tabbed("/effort h", "high", "xhigh")
        await tabbed("/fast ", "on", "off")
        await tabbed("/land ", "all")
        await tabbed("/unlock ", "all")
        await tabbed("/forget ", "all")
        await it.session.locks.lock("greeter.py")
        await it.session.locks.lock("greeter.py:4-6")
        await tabbed("/unlock ", "greeter.py", "greeter.py:4-6", "all")
        await it.session.context.pin("greeter.py")
        it.session.compaction.remember("a line to keep")
        await tabbed("/unpin ", "greeter.py", "all")
        await tabbed("/forget ", "1", "all")
        composer.put("/model ")
        await it.until(lambda: "spark-practice" in it.session.models.served.names(), "the server's list")
        await tabbed("/model TEXT", "spark-practice-text")
        await tabbed("/model ", "spark-practice", "spark-practice-text", "spark-practice")
        await tabbed("/effort zzz", "zzz")
        await it.until(lambda: "nothing matches" in it.screen, "that there is none")
        composer.put("/queue some")
        await it.pilot.press("tab")
        assert composer.draft == "/queue some", "what follows /queue is no closed set"


@pytest.mark.parametrize(("columns", "in_chat"), [(80, True), (160, False)])
async def test_what_the_status_line_cannot_hold_is_said_in_the_chat(
    tmp_path: Path, columns: int, in_chat: bool
) -> None:
    async with stage(tmp_path, size=(columns, 24)) as it:
        it.app.composer.focus()
        await it.pilot.press(*"/effort hihg", "enter")
        await it.until(lambda: it.app.status.status.level == "error", "the refusal")
        await it.pilot.pause()
        assert ("(did you mean high?); it has none, low, medium, high, xhigh" in it.screen) is not in_chat
        assert ("did you mean high?" in " ".join(it.chat.split())) is in_chat


async def test_a_command_that_takes_its_time_is_said_to_be_done_meanwhile(tmp_path: Path) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await answer.wait()
        writer.close()

    answer = asyncio.Event()
    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server, stage(tmp_path) as it:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        endpoint = it.session.models.served._opening.endpoint
        assert endpoint is not None
        opening = replace(it.session.models.served._opening, endpoint=replace(endpoint, base_url=url))
        it.session.models.served = ServedModels(opening, BackgroundTasks(print))
        it.app.composer.focus()
        await it.pilot.press(*"/model slow-one", "enter")
        await it.until(lambda: "/model is running" in it.screen, "the word that it runs")
        answer.set()
        await it.until(lambda: it.session.models.model == "slow-one", "the choice")
        await it.until(lambda: "/model is running" not in it.screen, "its end")
        await it.until(lambda: "whether the server has it" in " ".join(it.chat.split()), "the answer")
