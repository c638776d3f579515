"""Killing and yanking in the composer: keys, after."""

from __future__ import annotations

import pytest

from tests.tui.app.panes.test_composer import composer


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        (["ctrl+w", "ctrl+y"], "one two three"),
        (["ctrl+w", "ctrl+w", "ctrl+y", "ctrl+y"], "one two threetwo three"),
        (["ctrl+u", "ctrl+y", "ctrl+y"], "one two threeone two three"),
        (["ctrl+a", "ctrl+k", "x", "ctrl+y"], "xone two three"),
        (["ctrl+a", "alt+d", "alt+d", "ctrl+e", "ctrl+y"], " threeone two"),
        (["ctrl+w", "left", "ctrl+w", "ctrl+y", "alt+y"], "one three "),
        (["ctrl+w", "left", "ctrl+w", "ctrl+y", "alt+y", "alt+y"], "one two "),
        (["ctrl+y"], "one two three"),
        (["alt+y"], "one two three"),
        (["ctrl+w", "ctrl+y", "ctrl+underscore"], "one two "),
        (["ctrl+j", "x", "ctrl+a", "ctrl+u", "ctrl+y"], "one two three\nx"),
    ],
)
async def test_keys(keys: list[str], left: str) -> None:
    async with composer() as (_, found, pilot):
        await pilot.press(*"one two three")
        found.history.checkpoint()
        await pilot.press(*keys)
        assert found.text == left


async def test_a_backslash_before_enter_makes_a_line_break() -> None:
    async with composer() as (app, found, pilot):
        await pilot.press(*"one", "\\", "enter", *"two")
        assert found.text == "one\ntwo" and app.sent == []
        await pilot.press("enter")
        assert app.sent == [("one\ntwo", False)]
