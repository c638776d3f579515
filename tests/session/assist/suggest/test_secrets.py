"""No part of a secret is sent for a suggestion, wherever the cursor is and the text around it is cut."""

from __future__ import annotations

from pathlib import Path

import pytest

from session.assist.suggest.suggestion import place_at
from session.assist.suggest.window import (
    RecentEdits,
    Surroundings,
    for_fim,
    for_insertion,
    for_rewrite,
    holds_secret,
    region_at,
)
from tests.secret_texts import KEY, pieces, private_key
from tests.tui.app.typing.suggest.test_ghosts import shown, typing


def sent(lines: list[str], row: int, column: int) -> str:
    """All that a suggestion at a place may send."""
    place = place_at("a.py", lines, row, column)
    if place.masked is None:
        return ""
    around = Surroundings()
    region = region_at(place)
    parts = [for_insertion(place, around), *for_fim(place)]
    return "\n".join(parts if holds_secret(place, region) else [*parts, for_rewrite(place, region, around)])


def test_a_key_is_not_sent_in_two_halves() -> None:
    line = f'key = "{KEY}"  # not for others'
    for row in (0, 1, 2):
        lines = ["import os", line, "def f():"]
        for column in range(len(lines[row]) + 1):
            assert not pieces(sent(lines, row, column), KEY), (row, column)


@pytest.mark.parametrize("count", [20, 80, 150])
def test_a_private_key_that_is_cut_is_not_sent(count: int) -> None:
    key = private_key(count)
    lines = ["first", *["x = 1"] * 3, 'KEY = """', *key, '"""', *["y = 2"] * 70]
    for row in range(len(lines)):
        assert not pieces(sent(lines, row, len(lines[row])), key[1]), row
    assert "y = 2" in sent(lines, len(lines) - 1, 0)


def test_a_secret_that_is_being_typed_is_not_sent() -> None:
    lines = ["import os", 'password = "hunter2hunter2hunter2']
    assert sent(lines, 1, len(lines[1])) == ""


def test_a_key_behind_the_end_of_a_long_line_is_not_cut_open() -> None:
    line = "x" * 480 + f' "{KEY}"'
    assert not pieces(sent([line, "y = 1", ""], 2, 0), KEY)


def test_edits_of_other_files_are_sent_where_those_may_be_sent() -> None:
    recent = RecentEdits()
    for path, old, new in (
        (".env", "A=1", "A=hunter2"),
        ("a.py", "a = 1", "a = 2"),
        ("b.py", 'k = ""', f'k = "{KEY}"'),
        ("c.pem.txt", private_key(9)[1], private_key(9)[2]),
        ("d.py", "", ""),
    ):
        recent.edited(path, 0, [old], [new])
    text = recent.text({"a.py", "b.py", "c.pem.txt", "d.py"})
    assert "+a = 2" in text and "API key masked" in text
    assert not pieces(text, KEY) and not pieces(text, private_key(9)[1]) and "hunter2" not in text


async def test_what_was_typed_into_a_file_of_secrets_is_in_no_later_request(tmp_path: Path) -> None:
    async with typing(tmp_path) as at:
        assert at.partner is not None
        (at.root / ".env").write_text("PASSWORD=\n")
        await at.app.shown_file.open(".env")
        at.app.editor.focus()
        at.app.editor.move_cursor((0, len("PASSWORD=")))
        await at.pilot.press(*"hunter2", "ctrl+s")
        await at.until(lambda: "hunter2" in (at.root / ".env").read_text(), "the file to be saved")
        await at.app.shown_file.open("shapes.py")
        at.app.editor.move_cursor((8, 0))
        await at.pilot.press(*"# x", "ctrl+end", *"def a")
        await at.until(lambda: shown(at), "the suggestion")
        texts = [str(request.body) for request in at.partner.requests]
        assert any("Before the cursor" in text for text in texts)
        assert not any("hunter2" in text for text in texts)
