"""Before and after a file is open: the welcome, the chat alone, the editor beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.stage import Stage, stage


def shown(it: Stage) -> set[str | None]:
    """The panes that have a part of the room."""
    return {each.id for each in (it.app.editor, it.app.chat) if each.display}


async def test_the_chat_is_alone_until_a_hunk_opens_a_file_and_after_the_last_one_is_closed(
    tmp_path: Path,
) -> None:
    async with stage(tmp_path) as it:
        assert shown(it) == {"chat"} and "Say what should change" in it.screen
        await it.ask("just talk")
        await it.done()
        assert shown(it) == {"chat"} and it.app.chat.size.width >= 119
        assert "Say what should change" not in it.screen
        await it.ask("make it polite")
        await it.done()
        assert shown(it) == {"editor", "chat"} and it.app.chat.size.width < 60
        await it.pilot.press("f2", "ctrl+f4")
        await it.until(lambda: shown(it) == {"chat"}, "the chat alone")
        assert it.app.chat.size.width >= 119 and it.app.composer.has_focus


@pytest.mark.parametrize("zoomed", ["editor", "composer"])
async def test_a_file_that_comes_after_a_pane_was_shown_alone_is_seen(tmp_path: Path, zoomed: str) -> None:
    async with stage(tmp_path) as it:
        await it.ask("make it polite")
        await it.done()
        await it.pilot.press("f2" if zoomed == "editor" else "f4", "f5")
        await it.until(lambda: len(shown(it)) == 1, "one pane")
        await it.pilot.press("f5", "f2", "f5", "ctrl+f4")
        await it.until(lambda: shown(it) == {"chat"}, "the chat")
        assert await it.app.shown_file.open("greeter.py")
        await it.until(lambda: shown(it) == {"editor", "chat"}, "both")


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (30, 8)])
async def test_all_of_the_welcome_can_be_read(tmp_path: Path, size: tuple[int, int]) -> None:
    async with stage(tmp_path, size=size) as it:
        seen = it.screen
        for _ in range(12):
            await it.pilot.press("pagedown")
            await it.pilot.pause()
            seen += it.screen
        words = " ".join(seen.split())
        for told in ("spark", "Say what should change", "undo the last", "all keys"):
            assert told in words, it.screen
        assert "more: PgDn" not in it.screen
        await it.pilot.press(*["pageup"] * 12)
        await it.pilot.pause()
        assert "spark" in it.screen


async def test_the_welcome_takes_the_keys_of_the_chat(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.pilot.press("f6")
        await it.until(lambda: it.app.chat.has_focus, "the chat")
        await it.pilot.press("slash", "a", "b")
        await it.until(lambda: "/ab" in it.screen.splitlines()[-4], "what is searched for")
        await it.pilot.press("escape", "v", "y", "left_square_bracket", "end", "home")
        await it.pilot.pause()
        assert "Say what should change" in it.screen and "/ab" not in it.screen
        await it.pilot.click("#chat", offset=(5, 5))
        await it.pilot.press("f3")
        await it.ask("just talk")
        await it.done()
        assert "Say what should change" not in it.screen and "The end of the talk." in it.screen


async def test_keys_for_panes_that_are_not_there_say_so(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        for key, told in (
            ("f2", "no file is open"),
            ("f5", "opens one beside the chat"),
        ):
            await it.pilot.press(key)
            await it.until(lambda told=told: told in it.screen, told)  # type: ignore[misc]
            assert it.app.composer.has_focus
        await it.pilot.press("f6")
        await it.until(lambda: it.app.chat.has_focus, "the chat, though nothing was said")
        assert shown(it) == {"chat"}
        await it.pilot.press("f6", "x")
        assert it.app.composer.text == "x"


async def test_a_file_that_vanishes_leaves_the_chat_and_a_line(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        assert await it.app.shown_file.open("greeter.py")
        (it.root / "greeter.py").unlink()
        it.app.controls.disk.changed(("greeter.py",))
        await it.until(lambda: not it.app.editor.path, "the end of the file")
        await it.until(lambda: "greeter.py" in it.screen, "the reason")
