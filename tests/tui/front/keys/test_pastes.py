"""Where a paste goes that nothing with the focus takes, under Pilot."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual import events

from tests.tui.stage import stage


async def test_a_paste_on_the_chat_and_the_keys_behind_it_stand_in_the_prompt(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.app.pane_control.focus("chat")
        it.app.post_message(events.Paste("q\rx"))
        it.key("b", "b")
        await it.until(lambda: it.app.composer.draft == "q\nxb", "the paste and the key")


@pytest.mark.parametrize("key", ["ctrl+t", "shift+f8"])
async def test_a_paste_on_a_list_whose_letters_act_stands_in_the_prompt(tmp_path: Path, key: str) -> None:
    async with stage(tmp_path) as it:
        it.key(key)
        await it.until(lambda: it.app.overlays.covered, "the list")
        it.app.post_message(events.Paste("q\rx"))
        await it.until(lambda: it.app.composer.draft == "q\nx", "the paste")
        assert it.app.overlays.covered


async def test_a_paste_into_the_filter_of_a_list_stays_there(tmp_path: Path) -> None:
    async with stage(tmp_path) as it:
        it.key("ctrl+t")
        await it.until(lambda: it.app.overlays.covered, "the list")
        it.key("slash", "/")
        it.app.post_message(events.Paste("greeter"))
        await it.until(lambda: "greeter" in it.screen, "the filter")
        assert it.app.composer.draft == ""
