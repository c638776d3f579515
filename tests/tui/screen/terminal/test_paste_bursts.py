"""Pastes without brackets are told from typing by the gaps between reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.pty_spark import Launch, stage
from tui.screen.terminal.escape_keys import PASTE_BEGINS, PASTE_ENDS
from tui.screen.terminal.paste_bursts import LATE_REST, NEXT_READ, PasteBursts

CODE = "def greet(name):\r\treturn 'Hello ' + name\r\rprint(greet('you'))\r"


def played(*reads: tuple[float, str]) -> str:
    """What comes out of ``reads``: each with the seconds since the one before."""
    bursts, now, out = PasteBursts(), 100.0, ""
    for gap, data in reads:
        if bursts.due is not None and bursts.due < now + gap:
            out += bursts.tick(bursts.due)
        now += gap
        out += bursts.feed(data, now)
    return out + bursts.tick(now + 1)


def pasted(text: str) -> str:
    return f"{PASTE_BEGINS}{text}{PASTE_ENDS}"


def test_a_paste_in_one_read_is_one_paste() -> None:
    assert played((1, CODE)) == pasted(CODE)


def test_a_paste_at_machine_speed_never_submits() -> None:
    out = played(*[(0.001, character) for character in CODE])
    keys = out.partition(PASTE_BEGINS)[0]
    assert "\r" not in keys and "\t" not in keys
    assert out.replace(PASTE_BEGINS, "").replace(PASTE_ENDS, "") == CODE


@given(st.lists(st.integers(2, 30), min_size=1, max_size=20))
def test_a_paste_in_several_reads_never_submits(sizes: list[int]) -> None:
    text, reads, at = CODE * 4, [], 0
    for size in sizes:
        reads.append((0.03, text[at : at + size]))
        at += size
    reads.append((0.03, text[at:]))
    out = played(*reads)

    assert out.replace(PASTE_BEGINS, "").replace(PASTE_ENDS, "") == text
    outside = "".join(part.partition(PASTE_ENDS)[2] or part for part in out.split(PASTE_BEGINS))
    assert "\r" not in outside.replace(text, "") or out.startswith(PASTE_BEGINS)


def test_a_long_line_with_a_break_at_its_end_is_a_paste() -> None:
    line = "word " * 30 + "\r"
    assert played((1, line)) == pasted(line)


@pytest.mark.parametrize("gap", [0.02, 0.06, 0.12])
@pytest.mark.parametrize("text", ["fix it\r", "/help\r", "@gre\t\r", "n\r", "\r\r"])
def test_a_typist_sends(gap: float, text: str) -> None:
    assert played(*[(gap, character) for character in text]) == text


@pytest.mark.parametrize("text", ["make it polite\r", "fix the test in the parser\r", "@gre\t", "y\rn\r"])
def test_a_line_that_a_slow_network_joined_is_typing(text: str) -> None:
    assert played((1, text)) == text
    assert played((1, text[:-1]), (0.005, text[-1])) == text
    assert played((1, text[:-1]), (0.3, text[-1])) == text


@pytest.mark.parametrize("text", ["\r", "\r and", "go\r"])
def test_a_key_that_is_held_down_behind_a_joined_enter_is_typing(text: str) -> None:
    held = [(0.02, "x")] * 200
    assert played((1, text), *held) == text + "x" * 200


def test_an_enter_behind_other_typing_waits_no_longer_than_the_next_read_may_take() -> None:
    bursts = PasteBursts()
    assert bursts.feed("go", 1.0) == "go"
    assert bursts.feed("\r", 1.2) == "\r", "at once: it came alone"
    assert bursts.feed("go\r", 2.0) == ""
    assert bursts.due == pytest.approx(2.0 + NEXT_READ)
    assert bursts.tick(2.0 + NEXT_READ) == "go\r"


def test_the_last_line_break_of_a_paste_belongs_to_it_and_a_later_one_sends() -> None:
    assert played((1, CODE), (NEXT_READ + LATE_REST / 2, "\r")) == pasted(CODE) + pasted("\r")
    assert played((1, CODE), (NEXT_READ + LATE_REST * 2, "\r")) == pasted(CODE) + "\r"


@given(st.lists(st.integers(1, 9), max_size=20))
def test_a_bracketed_paste_and_other_keys_pass_untouched(sizes: list[int]) -> None:
    data = f"{PASTE_BEGINS}{CODE}\x1b\x1b[20{PASTE_ENDS}\x1b[A\x01\x1b[13;3u"
    reads, at = [], len(PASTE_BEGINS)  # sequences come whole from the part before
    reads.append((0.001, data[:at]))
    for size in sizes:
        end = min(at + size, data.index("\x1b[A"))
        reads.append((0.001, data[at:end]))
        at = end
    reads.append((0.001, data[at:]))
    assert played(*reads) == data


def test_a_key_ends_a_burst() -> None:
    assert played((1, f"{CODE}\x1b[27u")) == f"{pasted(CODE)}\x1b[27u"
    assert played((1, "polite\r\x1b[27u")) == "polite\r\x1b[27u"


@pytest.mark.parametrize("split", [1, 4096])
def test_code_that_is_pasted_without_brackets_stands_in_the_composer(split: int, launch: Launch) -> None:
    with stage("500", launch=launch) as at, at.spark() as pane:
        pane.until("ready")
        for start in range(0, len(CODE), split):
            pane.write(CODE[start : start + split].encode())
        pane.until("print(greet")
        pane.read(0.5)
        assert "Redirect" not in pane.text and "Unknown command" not in pane.text
        pane.type("\x11")


def test_a_line_and_enter_in_one_write_is_sent(launch: Launch) -> None:
    with stage("500", launch=launch) as at, at.spark() as pane:
        pane.until("ready")
        pane.write(b"polite, please\r")
        pane.until("Redirect")
        pane.type("\x11")
