"""Undo in the composer where the text had to be scrolled."""

from __future__ import annotations

import pytest
from textual import events

from tests.tui.app.panes.test_composer import composer


@pytest.mark.parametrize("lines", [2, 9, 11])
async def test_undoing_what_had_a_scrollbar_leaves_what_was_before(lines: int) -> None:
    text = "line\n" * lines
    async with composer() as (app, found, pilot):
        found.styles.max_height = 4
        await pilot.press("a")
        found.post_message(events.Paste(text))
        await pilot.pause()
        assert found.text == f"a{text}"
        await pilot.press("ctrl+underscore")
        assert app._exception is None and found.text == "a"
        assert found.cursor_location == (0, 1)
        found.action_redo()
        await pilot.pause()
        assert app._exception is None and found.text == f"a{text}"
