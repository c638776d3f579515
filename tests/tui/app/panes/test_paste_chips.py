"""A chip stays a chip whatever is done to it: before, keys, after."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual import events
from textual.widgets.text_area import Selection

from tests.thorough import share
from tests.tui.app.panes.test_composer import composer
from tui.chat.composer.cut_and_paste import Chips

BIG = "x\n" * 100


@pytest.mark.parametrize(
    ("keys", "left"),
    [
        ([], f"ab{BIG}cd"),
        (["left", "left", "left", "!"], f"ab!{BIG}cd"),
        (["left", "left", "left", "right", "!"], f"ab{BIG}!cd"),
        (["left", "left", "backspace"], "abcd"),
        (["left", "left", "left", "delete"], "abcd"),
        (["left", "left", "ctrl+w"], "abcd"),
        (["left", "left", "left", "alt+d"], "abcd"),
        (["left", "left", "ctrl+left", "!"], f"ab!{BIG}cd"),
        (["home", "right", "right", "ctrl+right", "!"], f"ab{BIG}!cd"),
        (["home", "right", "right", "shift+right", "!"], "ab!cd"),
        (["left", "left", "shift+left", "!"], "ab!cd"),
        (["left", "left", "backspace", "ctrl+underscore"], f"ab{BIG}cd"),
        (["left", "left", "backspace", "!", "ctrl+underscore", "ctrl+underscore"], f"ab{BIG}cd"),
        (["ctrl+u"], ""),
        (["ctrl+j", "n", "up", "up", "down", "down"], f"ab{BIG}cd\nn"),
    ],
)
async def test_keys_around_a_chip(keys: list[str], left: str) -> None:
    async with composer() as (_, found, pilot):
        await pilot.press("a", "b")
        found.post_message(events.Paste(BIG))
        await pilot.pause()
        await pilot.press("c", "d", *keys)
        assert found.draft == left


async def test_a_click_into_a_chip_puts_the_cursor_beside_it() -> None:
    async with composer() as (_, found, pilot):
        found.post_message(events.Paste(BIG))
        await pilot.pause()
        await pilot.click(found, offset=(12, 1))
        await pilot.press("!")
        assert found.draft in (f"!{BIG}", f"{BIG}!")


async def test_a_chip_comes_back_as_a_chip_from_the_history() -> None:
    async with composer() as (app, found, pilot):
        await pilot.press("s", "e", "e", "space")
        found.post_message(events.Paste(BIG))
        await pilot.pause()
        shown = found.text
        await pilot.press("enter", "up")
        assert found.text == shown and found.draft == f"see {BIG}"
        await pilot.press("enter")
        assert [text for text, _ in app.sent] == [f"see {BIG}"] * 2


async def test_a_chip_that_is_cut_is_put_back_as_a_chip() -> None:
    async with composer() as (_, found, pilot):
        found.post_message(events.Paste(BIG))
        await pilot.pause()
        shown = found.text
        await pilot.press("shift+left")
        assert found.selected_text == BIG
        await pilot.press("ctrl+x")
        assert found.text == ""
        await pilot.press("ctrl+v")
        assert found.text == shown and found.draft == BIG


async def test_the_last_line_can_be_cut_whole() -> None:
    async with composer("one") as (app, found, pilot):
        found.action_cut()
        await pilot.pause()
        assert app._exception is None and found.text == ""


async def test_what_looks_like_a_chip_and_is_none_stays_text() -> None:
    async with composer() as (app, found, pilot):
        found.post_message(events.Paste(BIG))
        found.post_message(events.Paste("⟦paste 1 · 3⟧"))
        await pilot.pause()
        await pilot.press("backspace", "enter")
        assert app.sent[0][0] == f"{BIG}⟦paste 1 · 3"


@given(st.lists(st.sampled_from(["left", "right", "insert", "erase", "select", "undo", "redo"]), max_size=25))
@settings(max_examples=share(30, 12), deadline=None)
async def test_no_edit_leaves_a_part_of_a_chip(steps: list[str]) -> None:
    async with composer() as (_, found, pilot):
        found.post_message(events.Paste(BIG))
        await pilot.pause()
        label = found.text
        found.insert("é ", (0, 0))
        for step in steps:
            match step:
                case "left":
                    found.action_cursor_left()
                case "right":
                    found.action_cursor_right()
                case "insert":
                    found.replace("y", *found.selection, maintain_selection_offset=False)
                case "erase":
                    found.action_delete_left()
                case "select":
                    found.selection = Selection((0, 1), (0, min(9, len(found.text))))
                case "undo":
                    found.undo()
                case _:
                    found.redo()
            assert found.text.count("⟦") == found.text.count("⟧") == found.text.count(label)
            assert found.draft == found.text.replace(label, BIG)


def test_the_same_paste_has_one_chip() -> None:
    chips = Chips()
    assert chips.chip(BIG) == chips.chip(BIG) != chips.chip(BIG + "y")
    assert chips.short(f"a {BIG} b") == f"a {chips.chip(BIG)} b"
