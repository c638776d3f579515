from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.text.unseen import has_unseen
from session.base.text.sanitize import clean, clean_line, json_line

BIDI = [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
TEXT = (
    st.text(st.sampled_from("aé1👩\u200d\u200c\u200b\ufe0f\r\n\t\x1b\x9b\u202e\u2028\U000e0041"), max_size=8)
    | ANY_TEXT
)


@pytest.mark.parametrize("code", [code for code in range(0x20) if code not in (0x09, 0x0A, 0x0D)])
def test_each_c0_control_becomes_its_picture(code: int) -> None:
    assert clean(f"a{chr(code)}b") == f"a{chr(0x2400 + code)}b"


@pytest.mark.parametrize("code", [0x7F, *range(0x80, 0xA0)])
def test_delete_and_the_c1_controls_become_visible(code: int) -> None:
    assert clean(f"a{chr(code)}b") == "a\u2421b"


@pytest.mark.parametrize("code", [*BIDI, 0xD800, 0xDBFF, 0xDC00, 0xDC80, 0xDFFF])
def test_marks_that_reorder_text_and_lone_surrogates_become_visible(code: int) -> None:
    assert clean(f"a{chr(code)}b") == "a\ufffdb"


def test_tab_and_newline_stay_and_carriage_return_goes() -> None:
    assert clean("a\tb\r\nc\rd\n") == "a\tb\ncd\n"


@pytest.mark.parametrize(
    "text",
    [
        "plain",
        "",
        "Grüße, 世界 🎉 👩‍👩‍👧 ❤️‍🔥 1️⃣",
        "می‌خواهم",
        "no\u00a0break",
        "a = 1  # 100 %",
        "[bold]markup[/bold]",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    "attack",
    [
        "\x1b[2J\x1b[H",
        "\x1b]52;c;aGk=\x07",
        "\x9b31m",
        "\x1b]8;;http://a.example\x1b\\link\x1b]8;;\x1b\\",
        "ok\rrm -rf /",
        "\x1bP1$r\x1b\\",
    ],
)
def test_escape_sequences_cannot_act(attack: str) -> None:
    cleaned = clean(attack)
    assert not any(unicodedata.category(character) == "Cc" for character in cleaned)


@pytest.mark.parametrize(
    "hidden",
    [
        "\u200b",
        "a\u200d",
        "\u2060",
        "\ufeff",
        "\U000e0041",
        "\u00ad",
        "\u2028",
        "\u2029",
        "\u3164",
        "e\ufe0f",
    ],
)
def test_characters_without_width_tags_and_separators_become_visible(hidden: str) -> None:
    assert clean(f"x{hidden}y") == f"x{hidden[:-1]}\ufffdy"


@given(TEXT)
def test_json_loses_nothing_and_holds_nothing_unseen(text: str) -> None:
    line = json_line({"text": text, text: 1})
    assert json.loads(line) == {"text": text, text: 1}
    assert line.isprintable() or not has_unseen(line)
    assert "\n" not in line and "\x7f" not in line


@given(ANY_TEXT)
def test_no_control_character_but_tab_and_newline_comes_through(text: str) -> None:
    for character in clean(text):
        assert character in "\t\n" or unicodedata.category(character) not in ("Cc", "Cs")
        assert ord(character) not in BIDI


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing_more_and_the_result_can_be_encoded(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    once.encode("utf-8")


@given(st.lists(TEXT, max_size=6))
def test_pieces_clean_to_the_same_as_the_whole(pieces: list[str]) -> None:
    cleaned, before = "", ""
    for piece in pieces:
        cleaned += clean(piece, before)
        before += piece
    assert cleaned == clean("".join(pieces))


@given(st.lists(TEXT, max_size=6))
def test_the_end_of_the_piece_before_is_enough(pieces: list[str]) -> None:
    cleaned, before = "", ""
    for piece in pieces:
        cleaned += clean(piece, before)
        before = piece[-1:] or before
    assert cleaned == clean("".join(pieces))


@given(ANY_TEXT)
def test_a_clean_line_is_one_line(text: str) -> None:
    line = clean_line(text)
    assert len(line.splitlines()) <= 1
    assert "\t" not in line
    assert line == line.strip()


def test_a_clean_line_joins_what_stood_on_several() -> None:
    assert clean_line("  one\n\ttwo\r\nthree\u2028four ") == "one two three four"
