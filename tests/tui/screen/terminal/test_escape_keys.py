"""Esc and the start of a sequence are told apart, however the bytes are split or joined."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS

from tui.screen.terminal.driver import key_parser
from tui.screen.terminal.escape_keys import (
    ANSWER_DELAY,
    PASTE_BEGINS,
    PASTE_ENDS,
    PASTE_PAUSE,
    SPLIT_SEQUENCE_DELAY,
    EscapeKeys,
)
from tui.screen.terminal.sequences import ESC, ESCAPE_KEY

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


@pytest.mark.parametrize("text", ["Oh no", "[ok] go", "]done", "P0 bug", "]1 of", "_Go", "Please", "1. go"])
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
    """``part`` as it is handed on: in a paste, escape characters can be seen; an answer is no key."""
    if part.startswith("\x1b]"):
        return ""
    if not part.startswith(PASTE_BEGINS):
        return part
    pasted = part.removeprefix(PASTE_BEGINS).removesuffix(PASTE_ENDS)
    return f"{PASTE_BEGINS}{pasted.replace(ESC, '␛')}{PASTE_ENDS}"


ANSWERS = re.compile(r"\x1b\](?:\d+;|11)|\x1b\[[\d;]|\x1b\[\[?[\d;]*~|\x1bP[012][+$]")
"""What is no key, and may be dropped."""


@given(st.text(st.sampled_from("\x1b[]OP~\a\\;0129ud Ax\x7f\r"), max_size=30), st.booleans())
def test_no_key_is_lost_or_made_up(text: str, running: bool) -> None:
    assume(not ANSWERS.search(text))
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


REPLIES = (
    "\x1b[?62;22c", "\x1b[>41;354;0c", "\x1b[12;40R", "\x1b[1;1R", "\x1b[0n", "\x1b[3n",
    "\x1b[?4;1$x", "\x1b[2;1$y",
    "\x1b[8;24;80t", "\x1b[4;600;800t", "\x1b[>4;2m", "\x1b[?1u", "\x1b[2;1;1;112;112;1;0x",
    "\x1bP>|foot(1.16)\x1b\\", "\x1bP1+r544e=787465726d\x1b\\", "\x1bP0$r\x1b\\", "\x1bP!|7E565445\x1b\\",
    "\x1b_Gi=1;OK\x1b\\", "\x1b^a private message\x1b\\",
    "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b]10;rgb:ffff/ffff/ffff\a", "\x1b]4;1;rgb:cd/00/00\x1b\\",
    "\x1b]52;c;aGVsbG8gd29ybGQhIQ==\x1b\\",
    "\x1bP1!~0000\x1b\\", "\x1bP2$u9/17/25\x1b\\", "\x1b]lA title\x1b\\", "\x1b]LAn icon\a",
    "\x1b[M !!", f"\x1b[{'1;' * 300}m", "\x9b?62;4c", "\x9d11;rgb:0/0/0\x9c", "\x90>|foot\x9c",
)  # fmt: skip


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("reply", REPLIES)
def test_an_answer_of_the_terminal_is_no_key_wherever_it_is_cut(reply: str, running: bool) -> None:
    for cut in range(len(reply) + 1):
        assert typed(reply[:cut], reply[cut:], running=running) == "", cut
        assert typed(f"a{reply[:cut]}", f"{reply[cut:]}b", running=running) == "ab", cut


SLOW = [
    each
    for each in REPLIES
    if len(each) < 64 and not each.startswith(("\x1b^", "\x1b]l", "\x1b]L", "\x1b[M"))
]
"""Answers that are known as such wherever they are cut for longer than a key takes."""


@pytest.mark.parametrize("reply", SLOW)
def test_an_answer_whose_rest_comes_late_is_no_key(reply: str) -> None:
    reply = reply.translate({0x90: "\x1bP", 0x9B: "\x1b[", 0x9D: "\x1b]"})
    shortest = {"[": 4, "]": reply.find(";") + 1}.get(reply[1], 5)
    for cut in range(shortest, len(reply) - 1):
        keys = EscapeKeys(DELAY, lambda: True)
        out = keys.feed(reply[:cut], 1.0) + keys.tick(1.0 + SPLIT_SEQUENCE_DELAY)
        out += keys.feed(reply[cut:], 2.0) + keys.tick(2.0 + ANSWER_DELAY)
        out += keys.feed("hello", 9.0)
        assert out == "hello", cut


@pytest.mark.parametrize("running", [True, False])
@pytest.mark.parametrize("reply", [*SLOW, "\x1b[<35;10;20M", "\x1b[<35;10;20M\x1b[<35;10;21M"])
def test_the_rest_of_an_answer_whose_first_characters_came_alone_is_no_key(reply: str, running: bool) -> None:
    reply = reply.translate({0x90: "\x1bP", 0x9B: "\x1b[", 0x9D: "\x1b]"})
    for cut in range(1, min(4, len(reply) - 1)):
        keys = EscapeKeys(DELAY, lambda: running)
        begun = keys.feed(reply[:cut], 1.0) + keys.tick(1.0 + DELAY) + keys.tick(1.0 + SPLIT_SEQUENCE_DELAY)
        out = keys.feed(reply[cut:], 2.0) + keys.tick(2.0 + ANSWER_DELAY)
        given = [reply[:cut].replace(ESC, ESCAPE_KEY, 1), reply[:cut], ""]
        assert begun in given and (not out or (out in reply and out[0] == ESC)), cut
        assert keys.feed("hello", 9.0) == "hello"


def test_the_middle_of_a_long_answer_may_come_late() -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    out = keys.feed("\x1b]52;c;" + "QUJD" * 1000, 1.0) + keys.feed("QUJD" * 1000, 2.0)
    out += keys.feed("QUJDQQ==\x1b\\", 3.0) + keys.feed("hello", 9.0)
    assert out == "hello"


@pytest.mark.parametrize("begun", ["\x1bP>|foo", "\x1b]52;c;aGVs", "\x1b_Gi=1", "\x1b[?62", "\x1b[12;4"])
def test_what_is_typed_after_an_answer_without_an_end_is_typed(begun: str) -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    out = keys.feed(begun, 1.0) + keys.tick(1.0 + SPLIT_SEQUENCE_DELAY)
    for at, key in enumerate(("h", "i", "\r", "\x11")):
        out += keys.feed(key, 2.0 + at / 10)
    assert out == "hi\r\x11"


KEYS = [
    ("\x1b[97:65;2;65u", "\x1b[97;2;65u"),
    ("\x1b[97:65;2u", "\x1b[97;2;65u"),
    ("\x1b[97u", "\x1b[97;1;97u"),
    ("\x1b[0;;20320:22909u", "你好"),
    ("\x9b97;5u", "\x1b[97;5u"),
    ("\x1b[97;1:2u", "\x1b[97;1;97u"),
    ("\x1b[97;1:3u", ""),
    ("\x1b[1;1:3D", ""),
    ("\x1b[1;5:1D", "\x1b[1;5D"),
    ("\x1b[3;1:3~", ""),
    ("\x1b[1114112u", ""),
    ("\x1b[55296u", ""),
    ("\x1b[99999999999999u", ""),
    ("\x1b[97;;1114112u", "\x1b[97;1;97u"),
    ("\x1b[97;1;27u", "\x1b[97;1;97u"),
    ("\x1b[1081::113;5u", "\x1b[113;5u"),
    ("\x1b[1081:1049:113;2;1049u", "\x1b[1081;2;1049u"),
    ("\x1b[1089::99;5u", "\x1b[99;5u"),
    ("\x1b[99;133u", "\x1b[99;5u"),
    ("\x1b[27;129u", ESCAPE_KEY),
    ("\x1b[27;1:1u", ESCAPE_KEY),
    ("\x1b[27;1:3u", ""),
    ("\x1b[13;2u", "\x1b[13;2u"),
    ("\x1b[13u", "\x1b[13u"),
    ("\x1b[27;6;122~", "\x1b[122;6u"),
    ("\x1b[27;5~", ""),
    ("\x1b[57399;1;48u", "\x1b[57399;1;48u"),
    ("\x1b[57441;2u", "\x1b[57441;2u"),
    ("\x1b[1;2R", "\x1b[1;2R"),
    ("\x1b[5;200~", "\x1b[5;8~"),
    ("\x1b[<0;1;2M", "\x1b[<0;1;2M"),
    ("\x1b[<0;999999;2M", ""),
    ("\x1b[M\x20\x41\x41", ""),
    ("\x1b[48;24;80;480;800t", "\x1b[48;24;80;480;800t"),
    ("\x1b[48;24;999999;480;800t", ""),
    ("\x1b[?2026;2$y", "\x1b[?2026;2$y"),
]
"""What the terminal sends for a key, and what Textual is given."""


@pytest.mark.parametrize(("sent", "given"), KEYS)
def test_a_key_is_given_as_textual_reads_it(sent: str, given: str) -> None:
    assert typed(sent) == given
    assert typed(f"a{sent}b") == f"a{given}b"


@given(
    st.text(st.sampled_from("\x1b[]P_^O\\\a:;<>?=$0123456789uRc~ABMt nNxé\r\x7f\U0010ffff"), max_size=40),
    st.data(),
)
def test_no_bytes_of_a_terminal_end_the_parser(text: str, data: st.DataObject) -> None:
    keys = EscapeKeys(DELAY, lambda: True, known=ANSI_SEQUENCES_KEYS)
    cut = data.draw(st.integers(0, len(text)))
    out = keys.feed(text[:cut], 0.0) + keys.feed(text[cut:], 0.01) + keys.tick(1.0)
    events = list(key_parser().feed(out))
    assert all(event is not None for event in events)
    assert keys.feed("z", 60.0).endswith("z"), "it hears what comes later"


def test_a_paste_whose_end_does_not_come_ends_after_a_pause() -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    assert keys.feed(f"{PASTE_BEGINS}half a paste", 1.0) == f"{PASTE_BEGINS}half a paste"
    assert keys.tick(1.0 + PASTE_PAUSE) == PASTE_ENDS
    for key in ("h", "ello", "\x11", "\x1b[A", "\r"):
        assert keys.feed(key, 3.0) == key


def test_a_paste_that_pauses_goes_on_as_a_paste() -> None:
    keys = EscapeKeys(DELAY, lambda: True)
    out = keys.feed(f"{PASTE_BEGINS}one\r", 1.0) + keys.tick(1.0 + PASTE_PAUSE)
    out += keys.feed("two\rthree", 3.0) + keys.feed(f" four{PASTE_ENDS}five", 3.1)
    first, second = f"{PASTE_BEGINS}one\r{PASTE_ENDS}", f"{PASTE_BEGINS}two\rthree four{PASTE_ENDS}"
    assert out == f"{first}{second}five"


@pytest.mark.parametrize("running", [True, False])
def test_an_end_of_no_paste_is_nothing(running: bool) -> None:
    assert typed(f"a{PASTE_ENDS}b", running=running) == "ab"


def alt(*reads: tuple[float, str], harmless: str = "e") -> list[str]:
    """What comes out at each read, and at last when nothing follows."""
    keys = EscapeKeys(DELAY, lambda: True, lambda: frozenset(harmless))
    out = []
    for at, read in reads:
        if keys.due is not None and keys.due <= at:
            out.append(keys.tick(keys.due))
        out.append(keys.feed(read, at))
    return [*filter(None, [*out, keys.tick(99.0)])]


@pytest.mark.parametrize(
    ("reads", "out"),
    [
        ([(1.0, "\x1be")], ["\x1be"]),
        ([(1.0, "\x1b"), (1.01, "e")], ["\x1be"]),
        ([(1.0, "\x1b"), (1.03, "e")], [ESCAPE_KEY, "e"]),
        ([(1.0, "\x1bedit")], [f"{ESCAPE_KEY}edit"]),
        ([(1.0, "\x1be"), (1.01, "dit")], [f"{ESCAPE_KEY}edit"]),
        ([(1.0, "\x1be"), (1.03, "dit")], ["\x1be", "dit"]),
        ([(1.0, "x\x1be")], ["x", f"{ESCAPE_KEY}e"]),
        ([(1.0, "x"), (1.01, "\x1be")], ["x", f"{ESCAPE_KEY}e"]),
        ([(1.0, "x"), (1.03, "\x1be")], ["x", "\x1be"]),
        ([(1.0, "\x1bs")], [f"{ESCAPE_KEY}s"]),
        ([(1.0, "\x1be\x1be")], [f"{ESCAPE_KEY}e", f"{ESCAPE_KEY}e"]),
    ],
)
def test_alt_and_a_letter_alone_is_a_key_where_it_does_no_harm(
    reads: list[tuple[float, str]], out: list[str]
) -> None:
    assert "".join(alt(*reads)) == "".join(out)


def test_where_the_terminal_tells_alt_apart_nothing_is_guessed() -> None:
    keys = EscapeKeys(DELAY, lambda: True, lambda: frozenset("e"))
    keys.feed("\x1b[?29u", 1.0)
    assert keys.feed("\x1be", 2.0) == f"{ESCAPE_KEY}e"
    assert keys.feed("\x1b[101;3u", 3.0) == "\x1b[101;3u"
