"""Indentation and comments, as (before, key, after)."""

from __future__ import annotations

import pytest
from textual import events

from tests.tui.app.panes.test_editor import editor


@pytest.mark.parametrize(
    ("before", "keys", "after"),
    [
        ("if x:", ["end", "enter", "y"], "if x:\n    y"),
        ("    a = 1", ["end", "enter", "b"], "    a = 1\n    b"),
        ("    call(", ["end", "enter", "b"], "    call(\n        b"),
        ("\tif x:\n\t\ty", ["end", "enter", "z"], "\tif x:\n\t\tz\n\t\ty"),
        ("  ab", ["right", "enter"], " \n  ab"),
        ("a\n\nb", ["ctrl+shift+end", "tab"], "    a\n\n    b"),
        ("    a\n  b\nc", ["ctrl+shift+end", "shift+tab"], "a\nb\nc"),
        ("        a", ["end", "shift+tab", "b"], "    ab"),
        ("a", ["right", "tab", "b"], "a   b"),
        ("    a\n\n        b", ["ctrl+shift+end", "ctrl+underscore"], "    # a\n\n    #     b"),
        ("  # a\n  #b\n", ["shift+down", "shift+end", "ctrl+underscore"], "  a\n  b\n"),
        ("a = 1", ["ctrl+underscore", "ctrl+underscore"], "a = 1"),
        ("a = 1\nb = 2\n", ["shift+down", "ctrl+underscore"], "# a = 1\nb = 2\n"),
    ],
)
async def test_keys_that_indent_and_comment(before: str, keys: list[str], after: str) -> None:
    async with editor(before) as (pane, pilot):
        await pilot.press(*keys)
        assert pane.buffer.text == after
        while (step := pane.buffer.history.last) is not None:
            assert step.typed
            pane.buffer.take_back()
        assert pane.buffer.text == before


async def test_what_is_pasted_is_not_indented_again() -> None:
    async with editor("    a:") as (pane, pilot):
        await pilot.press("end")
        pilot.app.post_message(events.Paste("\r\n    b\r    c"))
        await pilot.pause()
        assert pane.buffer.text == "    a:\n    b\n    c"
