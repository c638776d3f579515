from __future__ import annotations

import re
from base64 import b64decode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.screen.clipboard import MOST_BYTES, Route, clipboard_sequence, route_of, through_tmux

TERMS = ("xterm-256color", "tmux-256color", "screen-256color", "xterm-kitty")
PLAIN = re.compile(r"\x1b]52;c;([A-Za-z0-9+/=]*)\x07")


@pytest.mark.parametrize(
    ("environ", "size", "route"),
    [
        ({"TERM": "xterm-256color"}, 10, Route.TERMINAL),
        ({"TERM": "xterm-256color"}, MOST_BYTES, Route.TERMINAL),
        ({"TERM": "xterm-256color"}, MOST_BYTES + 1, Route.FILE),
        ({"TERM": "linux"}, 10, Route.FILE),
        ({}, 10, Route.FILE),
        ({"TERM": "tmux-256color", "TMUX": "/tmp/tmux-0/default,1,0"}, MOST_BYTES + 1, Route.TMUX),
    ],
)
def test_the_way_depends_on_the_terminal_and_the_size(
    environ: dict[str, str], size: int, route: Route
) -> None:
    assert route_of(environ, size) is route


@given(st.text(), st.sampled_from(TERMS))
def test_the_sequence_carries_the_text(text: str, term: str) -> None:
    sequence = clipboard_sequence(text, {"TERM": term})
    found = PLAIN.match(sequence)
    assert found is not None
    carried = b64decode(found[1]).decode("utf-8")
    assert carried == text.encode("utf-8", "replace").decode("utf-8")


@given(st.text(max_size=3000))
def test_screen_passes_on_pieces_that_make_the_whole(text: str) -> None:
    sequence = clipboard_sequence(text, {"TERM": "screen", "STY": "1.pts"})
    pieces = re.findall(r"\x1bP(.*?)\x1b\\", sequence, re.DOTALL)
    assert "".join(pieces) == clipboard_sequence(text, {"TERM": "xterm"})
    assert all(len(piece) <= 760 for piece in pieces)


def test_tmux_gets_every_escape_doubled() -> None:
    assert through_tmux("\x1b]52;c;YQ==\x07") == "\x1bPtmux;\x1b\x1b]52;c;YQ==\x07\x1b\\"


def test_the_longest_text_fits_what_xterm_reads() -> None:
    found = PLAIN.match(clipboard_sequence("x" * MOST_BYTES, {"TERM": "xterm"}))
    assert found is not None and len(found[1]) <= 100_000
