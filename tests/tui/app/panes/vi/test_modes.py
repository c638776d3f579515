"""Vi keys: before, keys, after; ``|`` stands before the character under the cursor."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tui.app.panes.test_composer import Host
from tests.tui.stage import stage
from tui.chat.composer.composer import Composer
from tui.chat.composer.vi_hands import ViKeys


def typed(before: str, keys: str) -> tuple[str, ViKeys]:
    """The text with its cursor after ``keys`` in normal mode, and the state."""
    vi = ViKeys("normal")
    cursor = before.index("|")
    text = before.replace("|", "", 1)
    for key in keys:
        if vi.mode == "insert":
            text, cursor = text[:cursor] + key + text[cursor:], cursor + 1
            continue
        done = vi.press(key, text, cursor)
        text, cursor = done.text, done.cursor
    return f"{text[:cursor]}|{text[cursor:]}", vi


@pytest.mark.parametrize(
    ("before", "keys", "after"),
    [
        ("|one two", "w", "one |two"),
        ("|one two", "ww", "one tw|o"),
        ("one tw|o", "b", "one |two"),
        ("one |two", "b", "|one two"),
        ("|one two", "e", "on|e two"),
        ("one tw|o", "0", "|one two"),
        ("  |one", "0", "|  one"),
        ("  on|e", "^", "  |one"),
        ("|one two", "$", "one tw|o"),
        ("|one, two", "W", "one, |two"),
        ("|one\ntwo", "j", "one\n|two"),
        ("one\ntw|o", "k", "on|e\ntwo"),
        ("one\ntw|o", "gg", "|one\ntwo"),
        ("|one\ntwo", "G", "one\n|two"),
        ("|a(b)c", "f)", "a(b|)c"),
        ("|a(b)c", "t)", "a(|b)c"),
        ("a(b)|c", "F(", "a|(b)c"),
        ("a(b)|c", "T(", "a(|b)c"),
        ("|one two three", "2w", "one two |three"),
        ("|one two", "x", "|ne two"),
        ("one tw|o", "x", "one t|w"),
        ("|one two", "3x", "| two"),
        ("o|ne", "X", "|ne"),
        ("|one two", "dw", "|two"),
        ("|one two three", "d2w", "|three"),
        ("|one two three", "2dw", "|three"),
        ("one |two", "dw", "one| "),
        ("one |two\nthree", "dw", "one| \nthree"),
        ("one |two", "d0", "|two"),
        ("one |two", "db", "|two"),
        ("one| two", "D", "on|e"),
        ("one| two", "d$", "on|e"),
        ("|one two", "cwtwo", "two| two"),
        ("|one two", "ceno", "no| two"),
        ("one |two", "ccnew", "new|"),
        ("one| two", "Cx", "onex|"),
        ("one\n|two\nthree", "dd", "one\n|three"),
        ("one\n|two", "dd", "|one"),
        ("|one", "dd", "|"),
        ("|one\ntwo\nthree", "2dd", "|three"),
        ("|one\ntwo\nthree", "dj", "|three"),
        ("one\n|two", "dgg", "|"),
        ("|one\ntwo", "ddp", "two\n|one"),
        ("one\n|two", "ddP", "|two\none"),
        ("|one\ntwo", "yyp", "one\n|one\ntwo"),
        ("|one two", "ywP", "one| one two"),
        ("|one two", "dwp", "tone| wo"),
        ("|ab", "xp", "b|a"),
        ("|one(two)", "df(", "|two)"),
        ("|one(two)", "ct(x", "x|(two)"),
        ("|one", "ix", "x|one"),
        ("|one", "ax", "ox|ne"),
        ("  o|ne", "Ix", "  x|one"),
        ("|one", "Ax", "onex|"),
        ("|one\ntwo", "ox", "one\nx|\ntwo"),
        ("one\n|two", "Ox", "one\nx|\ntwo"),
        ("|one", "rx", "|xne"),
        ("|one", "3rx", "xx|x"),
        ("|one", "4rx", "|one"),
        ("|one", "~", "O|ne"),
        ("|one\n  two", "J", "one| two"),
        ("|one two", "sx", "x|ne two"),
        ("one |two", "Sx", "x|"),
        ("|", "dwxddbwe$0", "|"),
        ("|one", "dq", "|one"),
        ("|one", "zx", "|ne"),
    ],
)
def test_keys(before: str, keys: str, after: str) -> None:
    assert typed(before, keys)[0] == after


@pytest.mark.parametrize(("key", "action"), [("u", "undo"), ("ctrl+r", "redo"), ("enter", "send")])
def test_keys_of_the_composer(key: str, action: str) -> None:
    vi = ViKeys("normal")
    assert vi.press(key, "text", 0).action == action


@pytest.mark.parametrize(
    ("before", "key", "action"), [("|one\ntwo", "k", "earlier"), ("one\n|two", "j", "later")]
)
def test_the_history_is_behind_the_first_and_the_last_line(before: str, key: str, action: str) -> None:
    vi = ViKeys("normal")
    assert vi.press(key, before.replace("|", ""), before.index("|")).action == action


KEYS = st.sampled_from([*"hjklwWbBeE0^$gGfFtTdcyxXDCsSYpPrJ~iaIAoO123 u.(", "escape", "left", "f5", "ctrl+r"])


@given(st.text("ab .(\né字", max_size=20), st.lists(KEYS, max_size=30))
def test_no_keys_lead_out_of_the_text(text: str, keys: list[str]) -> None:
    vi = ViKeys("normal")
    cursor = 0
    for key in keys:
        if key == "escape" or vi.mode == "insert":
            cursor = vi.escape(text, cursor)
            continue
        done = vi.press(key, text, cursor)
        text, cursor = done.text, done.cursor
        assert 0 <= cursor <= len(text)


async def test_escape_leads_to_normal_mode_in_the_composer_and_enter_sends_from_there() -> None:
    app = Host("")
    async with app.run_test(size=(60, 12)) as pilot:
        found = app.query_one(Composer)
        found.use_vi_keys()
        found.focus()
        await pilot.press(*"fix teh bug")
        found.leave_insert_mode()
        await pilot.pause()
        assert found.mode == "NORMAL"
        await pilot.press(*"bbcwthe")
        found.leave_insert_mode()
        await pilot.press("0", "x", "u", "enter")
        assert app.sent == [("fix the bug", False)]
        await pilot.press("k")
        assert found.text == "k", "a new draft begins in insert mode"


async def test_esc_shows_the_mode_in_the_title_and_stops_a_turn(tmp_path: Path) -> None:
    async with stage(tmp_path, rate=40) as it:
        it.app.composer.use_vi_keys()
        await it.pilot.press(*"one", "escape")
        await it.until(lambda: "NORMAL" in it.screen, "the mode")
        await it.pilot.press("c")
        await it.until(lambda: "NORMAL c" in it.screen, "the command begun")
        await it.pilot.press("c", *"just talk", "enter")
        await it.until(lambda: it.session.running, "the turn")
        assert "NORMAL" not in it.screen
        await it.pilot.press("escape")
        await it.done()
        assert "Stopped" in it.chat
