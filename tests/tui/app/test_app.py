"""The main ways through the screen, on the real session and the real partner: before, keys, after."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.tui.stage import GREETER, stage

POLITE_GREETING = '    title = "dear"\n    return f"Hello, {title} {name}"\n'


async def test_a_prompt_is_answered_and_its_hunks_land_in_the_editor_and_on_disk(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        text = (it.root / "greeter.py").read_text()
        assert POLITE_GREETING in text and "Good-bye" in text
        assert it.app.shown_file.path == "greeter.py"
        assert it.app.editor.buffer.text == text
        assert [mark.hunk for mark in it.app.shown_file.marks.of("greeter.py")] == ["h1", "h2"]
        assert "✓ h1" in it.chat and "✓ h2" in it.chat and "Both are polite now." in it.chat
        assert "greeter.py" in it.screen and "Good-bye" in it.screen
        assert it.app.status.status.used > 0


async def test_the_first_hunk_is_on_disk_and_marked_before_the_answer_ends(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=60) as it:
        await it.ask("make it polite")
        await it.until(lambda: it.app.shown_file.marks.of("greeter.py"), "the first hunk")
        assert it.session.running
        assert POLITE_GREETING in (it.root / "greeter.py").read_text()
        assert POLITE_GREETING in it.app.editor.buffer.text
        it.key("escape", "\x1b")
        await it.done()


async def test_escape_stops_the_turn_and_nothing_more_of_it_is_painted(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=60) as it:
        await it.ask("make it polite")
        await it.until(lambda: it.app.shown_file.marks.of("greeter.py"), "the first hunk")
        await it.until(lambda: "Then" in it.chat, "the text after it")
        it.key("escape", "\x1b")
        await it.until(lambda: not it.session.running, "the stop")
        said = it.chat
        await asyncio.sleep(0.3)
        await it.done()
        assert it.chat.startswith(said.rstrip()[:-1])
        assert "Stopped. 1 landed hunk stays." in it.chat and "Both are polite" not in it.chat
        text = (it.root / "greeter.py").read_text()
        assert POLITE_GREETING in text and '"Bye "' in text
        assert it.app.editor.flight is None


async def test_enter_while_it_answers_redirects_and_the_new_turn_follows(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=60) as it:
        await it.ask("make it polite")
        await it.until(lambda: "First" in it.chat, "the answer")
        it.app.composer.insert("just talk")
        it.key("enter", "\r")
        await it.until(lambda: "redirect" in it.chat, "the redirect")
        await it.until(lambda: "The end of the talk" in it.chat, "the new answer")
        await it.done()
        assert it.chat.index("Stopped. No files changed.") < it.chat.index("redirect"), "above the new one"


async def test_enter_right_behind_the_text_sends_all_of_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        for char in "just talk":
            it.key("space" if char == " " else char, char)
        it.key("enter", "\r")
        await it.until(lambda: "The end of the talk" in it.chat, "the answer")
        assert "just talk" in it.chat
        await it.done()


async def test_a_queued_prompt_waits_for_the_running_turn(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=200) as it:
        await it.ask("make it polite")
        it.app.composer.insert("just talk")
        it.key("tab", "\t")
        await it.until(lambda: it.app.status.status.waiting == 1, "the queue")
        await it.until(lambda: "The end of the talk" in it.chat, "the second answer")
        await it.done()
        assert it.chat.index("Both are polite") < it.chat.index("Manners")
        assert it.app.status.status.waiting == 0


async def test_a_redirect_leaves_the_count_of_queued_prompts_as_it_is(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=50) as it:
        await it.ask("make it polite")
        it.app.composer.insert("just talk")
        it.key("tab", "\t")
        await it.until(lambda: it.app.status.status.waiting == 1, "the queue")
        await it.ask("just talk, and stop that")
        await it.until(lambda: it.chat.count("just talk, and stop that") > 0, "the redirect")
        assert it.app.status.status.waiting == 1
        await it.until(lambda: it.app.status.status.waiting == 0, "the queued prompt's turn")
        await it.done()


async def test_stopping_gives_back_what_was_queued(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=50) as it:
        await it.ask("make it polite")
        it.app.composer.insert("just talk")
        it.key("tab", "\t")
        await it.until(lambda: it.app.status.status.waiting == 1, "the queue")
        it.app.composer.insert("and more")
        await it.pilot.press("escape")
        await it.done()
        assert it.app.composer.draft == "just talk\n\nand more"
        assert it.app.status.status.waiting == 0 and "Queued messages are back in the prompt" in it.screen
        assert not it.session.running and "Manners" not in it.chat


async def test_a_long_path_leaves_room_for_where_the_cursor_is(tmp_path: Path) -> None:
    path = "a-folder-with-a-long-name/another-folder/an-even-longer-file-name.py"
    async with stage(tmp_path, files={path: "one = 1\n"}, size=(60, 20)) as it:
        await it.session._reading.ready.wait()
        assert await it.app.shown_file.open(path)
        await it.until(lambda: "longer-file-name.py  1:1" in it.screen, "the name's end and the place")


async def test_undo_takes_back_the_hunk_at_the_cursor_alone_and_redo_lands_it_again(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f2")
        it.app.editor.move_cursor((6, 0))
        await it.pilot.press("f9")
        await it.until(lambda: "↶ h1" in it.chat, "the undo")
        text = (it.root / "greeter.py").read_text()
        assert '"Hello " + name' in text and "Good-bye" in text
        assert it.app.editor.buffer.text == text
        assert [mark.hunk for mark in it.app.shown_file.marks.of("greeter.py")] == ["h2"]
        await it.pilot.press("f10")
        await it.until(lambda: "✓ h1" in it.chat, "the redo")
        assert POLITE_GREETING in (it.root / "greeter.py").read_text()
        assert it.app.editor.buffer.text == (it.root / "greeter.py").read_text()


async def test_undo_takes_back_the_hunk_that_the_keys_went_to(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        it.app.editor.move_cursor((0, 0))
        it.app.composer.focus()
        await it.pilot.press("f8")
        await it.pilot.press("f9")
        await it.until(lambda: "↶ h1" in it.chat, "the undo")
        assert [mark.hunk for mark in it.app.shown_file.marks.of("greeter.py")] == ["h2"]


async def test_a_resumed_session_marks_its_hunks_in_the_editor(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        before = it.app.shown_file.marks.of("greeter.py")
        name = it.session.name
    async with stage(tmp_path, resume=name) as it:
        await it.until(lambda: it.app.shown_file.marks.of("greeter.py") == before, "the marks")
        await it.pilot.press("f8")
        await it.until(lambda: it.app.editor.cursor_location[0] == before[0].start, "the first hunk")


async def test_hunk_keys_walk_through_the_landed_hunks(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        marks = it.app.shown_file.marks.of("greeter.py")
        it.app.editor.move_cursor((0, 0))
        await it.pilot.press("f8")
        assert it.app.editor.cursor_location[0] == marks[0].start
        await it.pilot.press("f8")
        assert it.app.editor.cursor_location[0] == marks[1].start
        await it.pilot.press("f8")
        assert it.app.editor.cursor_location[0] == marks[0].start
        await it.pilot.press("f7")
        assert it.app.editor.cursor_location[0] == marks[1].start


async def test_a_hunk_landing_in_a_dirty_file_is_merged_and_the_typing_stays(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=200) as it:
        assert await it.app.shown_file.open("greeter.py")
        await it.pilot.press("f2")
        await it.pilot.press("M", "i", "n", "e")
        await it.ask("make it polite")
        await it.done()
        assert it.app.editor.buffer.text.startswith('Mine"""Says hello."""')
        assert POLITE_GREETING in it.app.editor.buffer.text
        assert it.app.shown_file.dirty
        assert "Mine" not in (it.root / "greeter.py").read_text()
        await it.pilot.press("ctrl+s")
        saved = (it.root / "greeter.py").read_text()
        assert saved.startswith("Mine") and POLITE_GREETING in saved


async def test_where_the_user_typed_the_same_lines_the_users_text_stands(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=200) as it:
        assert await it.app.shown_file.open("greeter.py")
        it.app.actions.focus_pane("editor")
        it.app.editor.replace('    return "MINE"', (5, 0), (5, 27))
        await it.pilot.press("right")
        await it.ask("make it polite")
        await it.done()
        assert '"MINE"' in it.app.editor.buffer.text
        assert "Good-bye" in it.app.editor.buffer.text


async def test_a_change_on_disk_comes_into_the_editor(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        await asyncio.sleep(0.3)
        (it.root / "greeter.py").write_text(GREETER.replace("hello", "good day"))
        await it.until(lambda: "good day" in it.app.editor.buffer.text, "the change")
        assert not it.app.shown_file.dirty


async def test_no_key_and_no_server_says_what_to_do_and_keeps_what_is_typed(tmp_path: Path) -> None:
    async with stage(tmp_path, server=False, size=(160, 24)) as it:
        assert "OPENAI_API_KEY" in it.screen and "spark demo" in it.screen
        await it.ask_in_vain("make it polite")
        assert "The turn failed" in it.chat
        await it.until(lambda: it.app.composer.draft == "make it polite", "the prompt given back")
        await it.pilot.press(" ", "n", "o", "w")
        assert it.app.composer.draft == "make it polite now"


async def test_an_empty_folder_welcomes(tmp_path: Path) -> None:
    async with stage(tmp_path, files={}) as it:
        assert "Say what should change" in it.screen and "all keys" in it.screen
        await it.pilot.press("ctrl+p")
        await it.until(lambda: "no files in this folder" in it.screen, "the picker's word")


async def test_a_binary_file_is_explained_in_the_pane(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        (it.root / "blob.bin").write_bytes(b"\x00\x01\x02" * 50)
        assert not await it.app.shown_file.open("blob.bin")
        await it.pilot.pause()
        assert "blob.bin" in it.screen and "binary" in it.screen


async def test_the_picker_opens_a_file_by_a_few_of_its_letters(tmp_path: Path) -> None:
    files = {"src/alpha.py": "a = 1\n", "src/beta_gamma.py": "b = 2\n", "docs/readme.md": "# r\n"}
    async with stage(tmp_path, files=files) as it:
        await it.until(lambda: len(it.session.files.list()) == 3, "the file list")
        await it.pilot.press("ctrl+p", "b", "g", "enter")
        assert it.app.shown_file.path == "src/beta_gamma.py"
        assert it.app.editor.has_focus


async def test_escape_closes_what_lies_over_the_panes(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        for key, title in (("f1", "Keys"), ("ctrl+p", "Open a file")):
            await it.pilot.press(key)
            assert title in it.screen
            await it.pilot.press("f1", "escape")
            assert title not in it.screen


async def test_hunks_land_while_the_help_is_open(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=200) as it:
        await it.ask("make it polite")
        it.key("f1")
        await it.done()
        assert it.app.shown_file.path == "greeter.py" and "Keys" in it.screen
        await it.pilot.press("escape")
        assert "Good-bye" in it.screen


@pytest.mark.parametrize("size", [(160, 48), (100, 30), (80, 24), (40, 10)])
async def test_every_size_shows_the_answer_and_the_composer(tmp_path: Path, size: tuple[int, int]) -> None:
    async with stage(tmp_path, size=size) as it:
        await it.ask("just talk")
        await it.done()
        assert "The end of the talk." in it.screen
        assert "ready" in it.screen
        await it.pilot.press("h", "e", "y")
        assert "hey" in it.screen


async def test_a_tiny_terminal_says_so_and_loses_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path, files={"AGENTS.md": "Be brief.\n"}) as it:
        await it.until(lambda: "AGENTS.md" in it.screen, "the question about it")
        await it.pilot.press("k", "e", "p", "t")
        await it.pilot.resize_terminal(15, 4)
        await it.pilot.pause()
        assert "too small" in it.screen
        assert not any(it.app.screen.scrollbars_enabled), "the bars would cover a part of it"
        await it.pilot.resize_terminal(80, 24)
        await it.pilot.pause()
        assert it.app.composer.draft == "kept" and "kept" in it.screen


async def test_ctrl_c_sets_the_draft_aside_and_twice_quits_with_it_kept(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("o", "n", "e", "ctrl+c")
        assert it.app.composer.draft == ""
        await it.pilot.press("up")
        assert it.app.composer.draft == "one"
        it.key("ctrl+c")
        it.key("ctrl+c")
        await it.until(lambda: it.app.return_code == 0, "the end")
    async with stage(tmp_path) as it:
        await it.pilot.press("up")
        assert it.app.composer.draft == "one"


async def test_quitting_keeps_the_draft_for_the_next_time(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("l", "a", "t", "e", "r")
        it.key("ctrl+q")
        await it.until(lambda: it.app.return_code == 0, "the end")
    async with stage(tmp_path) as it:
        assert it.app.composer.draft == "later"


async def test_the_prompt_of_the_command_line_is_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, prompt="just talk") as it:
        await it.until(lambda: "The end of the talk." in it.chat, "the answer")
        await it.done()


async def test_a_resumed_session_shows_what_was_said_and_what_became_of_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f9")
        await it.until(lambda: "↶ h2" in it.chat, "the undo")
        name, said = it.session.name, " ".join(it.chat.split())
    async with stage(tmp_path, resume=name) as it:
        await it.until(lambda: " ".join(it.chat.split()).startswith(said), "what was said")
        assert it.app.status.status.phase == ""
        await it.ask("just talk")
        await it.done()
        assert "The end of the talk." in it.chat


async def test_the_theme_changes_at_once_and_everywhere(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        before = it.app.chat.render_line(0)
        await it.pilot.press("alt+t")
        assert it.app.chat.palette.theme.name == "light"
        assert it.app.chat.render_line(0) != before
        assert it.app.chat.render_line(0).text == before.text


async def test_no_color_draws_with_attributes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        strips = it.app.screen._compositor.render_strips()
        drawn = [
            segment.style
            for strip in strips
            for segment in strip.apply_filter(it.app._filters[-1], it.app.styles.background)
            if segment.style is not None
        ]
        assert drawn
        assert all(style.color is None or style.color.is_default for style in drawn)


async def test_a_session_whose_process_was_killed_says_so_below_its_last_prompt(tmp_path: Path) -> None:
    """Before anything was answered: the end then stood above the prompt, as that of a turn before it."""
    async with stage(tmp_path) as it:
        await it.ask("just talk")
        await it.done()
        name = it.session.name
        journal = it.session.folders.sessions / f"{name}.jsonl"
    before, found, _ = journal.read_text().partition('{"type":"text.delta"')
    assert found
    journal.write_text(before)
    async with stage(tmp_path, resume=name) as it:
        await it.until(lambda: "ended in the middle of this turn" in it.chat, "the end")
        assert it.chat.index("just talk") < it.chat.index("ended in the middle of this turn")
