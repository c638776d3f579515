"""Esc and the start of a sequence are told apart, however the bytes are split or joined."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.screen.terminal.escape_keys import (
    ANSWER_DELAY,
    ESC,
    ESCAPE_KEY,
    PASTE_BEGINS,
    PASTE_ENDS,
    SPLIT_SEQUENCE_DELAY,
    EscapeKeys,
)

DELAY = 0.025
SEQUENCES = (
    "\x1b[A", "\x1bOP", "\x1b[1;3D", "\x1b[13;3u", "\x1b[<0;10;20M", "\x1b[27u", "\x1b[I",
    "\x1b\r", "\x1b\x7f",
    "\x1b]10;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b]10;rgb:0000/0000/0000\a", "\x1b[?2026;2$y",
    "\x1b[200~a\x1bdon't\x1b[201~",
)  # fmt: skip


def typed(*reads: str, running: bool = True) -> str:
    """What comes out where the reads come at once behind each other, and nothing follows."""
    keys = EscapeKeys(DELAY, lambda: running)
    return "".join(keys.feed(read, 0.0) for read in reads) + keys.tick(SPLIT_SEQUENCE_DELAY)


@pytest.mark.parametrize("letter", ["d", "o", "s", "x", "q", "D", "P", "_", "^", "\\", "é", "7", " "])
def test_escape_and_a_letter_are_two_keys_while_a_turn_runs(letter: str) -> None:
    assert typed(f"\x1b{letter}on't") == f"{ESCAPE_KEY}{letter}on't"
    assert typed("\x1b", f"{letter}on't") == f"{ESCAPE_KEY}{letter}on't"


@pytest.mark.parametrize("text", ["Oh no", "[ok] go", "]done"])
def test_a_sentence_that_begins_like_a_sequence_is_a_sentence_while_a_turn_runs(text: str) -> None:
    out = typed(f"\x1b{text}")
    assert out.replace("\x1b[o", f"{ESCAPE_KEY}[o") == f"{ESCAPE_KEY}{text}"


def test_escape_and_a_letter_stay_alt_while_nothing_runs() -> None:
    assert typed("\x1bd", running=False) == "\x1bd"


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("key", ["\x0e", "\x10", "\x13", "\x06", "\x1a"])
def test_escape_and_a_control_key_are_two_keys(key: str, running: bool) -> None:
    assert typed(f"\x1b{key}x", running=running) == f"{ESCAPE_KEY}{key}x"
    assert typed("\x1b", f"{key}x", running=running) == f"{ESCAPE_KEY}{key}x"


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("key", ["\r", "\x7f", "\b", "\t"])
def test_alt_enter_and_its_like_stay_one_key(key: str, running: bool) -> None:
    assert typed(f"\x1b{key}", running=running) == f"\x1b{key}"


def test_a_lone_escape_is_a_key_once_its_time_is_over() -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    assert keys.feed("\x1b", 1.0) == ""
    assert keys.due == pytest.approx(1.0 + DELAY)
    assert keys.tick(1.0 + DELAY / 2) == ""
    assert keys.tick(1.0 + DELAY) == ESCAPE_KEY
    assert keys.due is None and keys.tick(9.0) == ""


def test_a_key_is_undecided_until_it_is_known() -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    assert not keys.undecided
    for read, undecided in (("\x1b", True), ("[", True), ("A", False), ("a\x1b", True), ("d", False)):
        keys.feed(read, 1.0)
        assert keys.undecided is undecided, read
    keys.feed("\x1b", 1.0)
    keys.tick(1.0 + DELAY)
    assert not keys.undecided
    for read in ("\x1b[200~", "a\x1b", "[201~", "\x1b]11;rgb"):
        keys.feed(read, 2.0)
        assert keys.undecided is False, read


@pytest.mark.parametrize(("flags", "certain"), [(25, True), (1, True), (0, False), (8, False)])
def test_where_the_terminal_tells_esc_apart_a_lone_esc_begins_a_sequence(flags: int, certain: bool) -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    assert keys.feed(f"\x1b[?{flags}u", 1.0) == "", "the answer is no key"
    assert keys.feed("\x1b", 1.0) == ""
    assert keys.undecided is not certain
    assert keys.tick(1.0 + DELAY) == ("" if certain else ESCAPE_KEY)
    if certain:
        assert keys.feed("[A", 1.0 + 3 * DELAY) == "\x1b[A"
        assert keys.feed(ESCAPE_KEY, 2.0) == ESCAPE_KEY


@pytest.mark.parametrize(
    ("rest", "after", "out"),
    [
        ("[C", 0.06, "\x1b[C"),
        ("[1;5D", 0.06, "\x1b[1;5D"),
        ("OP", 0.06, "\x1bOP"),
        ("[C", SPLIT_SEQUENCE_DELAY, "[C"),
        ("[ok] go", 0.06, "[ok] go"),
        ("Oh", 0.06, "Oh"),
        ("[", 0.06, "["),
    ],
)
def test_a_key_whose_rest_comes_late_types_nothing(rest: str, after: float, out: str) -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    keys.feed("\x1b", 1.0)
    assert keys.tick(1.0 + DELAY) == ESCAPE_KEY
    assert keys.feed(rest, 1.0 + DELAY + after) == out
    assert keys.feed("[C", 1.0 + DELAY + after) == "[C", "it comes once"


def test_escape_twice_is_two_keys() -> None:
    assert typed("\x1b\x1b") == ESCAPE_KEY * 2


def test_pasted_text_is_never_taken_for_keys() -> None:
    """Textual takes an escape sequence in a paste for keys, which act before the paste comes."""
    pasted = f"{PASTE_BEGINS}a\x1bdon't \x1b[A \x1b[201x \x1b{PASTE_ENDS}"
    shown = f"{PASTE_BEGINS}a␛don't ␛[A ␛[201x ␛{PASTE_ENDS}"
    assert typed(pasted) == shown
    assert typed(pasted + "\x1bdon't") == f"{shown}{ESCAPE_KEY}don't"


@given(
    st.lists(st.sampled_from([*SEQUENCES, "a", "é", "\r", "\x1bd", "\x1b "]), max_size=8),
    st.data(),
    st.booleans(),
)
def test_reads_may_be_split_anywhere(parts: list[str], data: st.DataObject, running: bool) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    reads = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = typed(text, running=running)
    assert typed(*reads, running=running) == whole
    if running:
        assert whole == "".join(
            ESCAPE_KEY + part[1:] if part in ("\x1bd", "\x1b ") else as_read(part) for part in parts
        )
    else:
        assert whole == "".join(map(as_read, parts))


def as_read(part: str) -> str:
    """``part`` as it is handed on: in a paste, escape characters can be seen."""
    if not part.startswith(PASTE_BEGINS):
        return part
    pasted = part.removeprefix(PASTE_BEGINS).removesuffix(PASTE_ENDS)
    return f"{PASTE_BEGINS}{pasted.replace(ESC, '␛')}{PASTE_ENDS}"


@given(st.text(st.sampled_from("\x1b[]OP~\a\\;0129ud Ax\x7f\r"), max_size=30), st.booleans())
def test_no_key_is_lost_or_made_up(text: str, running: bool) -> None:
    out = typed(text, running=running)
    assert out.replace(ESCAPE_KEY, "\x1b") == text.replace(ESCAPE_KEY, "\x1b")


@pytest.mark.parametrize("end", ["\x1b\\", "\a"])
@given(cut=st.integers(1, 26))
def test_the_terminals_background_is_no_key(end: str, cut: int) -> None:
    answer = f"\x1b]11;rgb:1e1e/1e1e/1e1e{end}"
    keys = EscapeKeys(DELAY, lambda: True)
    out = keys.feed(f"a{answer[:cut]}", 1.0)
    if cut > 5:
        out += keys.tick(1.0 + SPLIT_SEQUENCE_DELAY)  # over a slow line the rest takes its time
    out += keys.feed(f"{answer[cut:]}b", 1.6 if cut > 5 else 1.01)
    assert out == "ab" and keys.background == answer


def test_an_answer_that_never_ends_is_dropped() -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    assert keys.feed("\x1b]11;rgb:1e", 1.0) == ""
    assert keys.tick(1.0 + ANSWER_DELAY) == "" and keys.due is None
    assert keys.feed("hello", 9.0) == "hello"
