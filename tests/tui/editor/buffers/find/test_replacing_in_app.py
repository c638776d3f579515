"""Finding and replacing in the app: the keys of the bar."""

from __future__ import annotations

from pathlib import Path

from tests.tui.stage import stage


async def test_ctrl_z_in_the_bar_takes_the_replacement_back(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        await it.app.shown_file.open("greeter.py")
        before = it.app.editor.text
        await it.pilot.press("f2", "ctrl+f", *"Hello", "tab", *"Good day", "f14")
        await it.until(lambda: "Good day" in it.app.editor.text, "the replacement")
        await it.pilot.press("ctrl+z")
        await it.until(lambda: it.app.editor.text == before, "the text as it was")
        assert "replaced 1" not in it.screen, "what was taken back is not told any more"
        assert it.app.panes.find.display and it.app.panes.find.has_focus_within
        await it.pilot.press("escape")
        await it.until(lambda: it.app.editor.has_focus, "the editor")
