"""What ``spark keys`` prints of the bytes that a terminal sends."""

from __future__ import annotations

import os
import sys
import termios
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tui.front.keys.keymap import scope
from tui.screen.terminal import keylog


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The other end of a terminal on standard input."""
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "r", closefd=True) as standard_input:
        monkeypatch.setattr(sys, "stdin", standard_input)
        yield ours
    with suppress(OSError):
        os.close(ours)


def test_each_key_is_told_as_bytes_with_its_names_and_what_it_does(
    terminal: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = [b"z", b"\x1bOP", b"\x1b[1;5C", "é".encode(), b"zw", b"\x1b[I", b"z" * 200, b"\x03"]
    told: list[tuple[str, str]] = []

    def say(text: str, end: str = "\n") -> None:
        os.write(terminal, sent[len(told)])
        told.append((text, end))

    monkeypatch.setattr(keylog, "say", say)
    helps = {key: entry.help for entry in scope("app").keys for key in entry.keys}
    helps["ctrl+right"] = next(each.help for each in scope("editor").keys if "ctrl+right" in each.keys)
    before = termios.tcgetattr(sys.stdin.fileno())
    keylog.log_keys()
    assert termios.tcgetattr(sys.stdin.fileno()) == before, "the terminal is as it was"
    assert told == [
        ("Press keys; Ctrl+C ends.", "\r\n"),
        ("b'z'                     z", "\r\n"),
        (f"b'\\x1bOP'                f1 ({helps['f1']})", "\r\n"),
        (f"b'\\x1b[1;5C'             ctrl+right ({helps['ctrl+right']})", "\r\n"),
        ("b'\\xc3\\xa9'              é", "\r\n"),
        ("b'zw'                    z; w", "\r\n"),
        ("b'\\x1b[I'                nothing that spark knows", "\r\n"),
        (f"{b'z' * 200!r} {'; '.join('z' * 200)}", "\r\n"),
    ]


def test_a_terminal_that_hangs_up_ends_it(terminal: int, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    def hang_up(text: str, end: str = "\n") -> None:
        told.append(text)
        os.close(terminal)

    monkeypatch.setattr(keylog, "say", hang_up)
    with suppress(termios.error):
        keylog.log_keys()
    assert told == ["Press keys; Ctrl+C ends."]
