"""Which way a copied text can take, and the escape sequences that carry it.

Source of the format: "Operating System Commands", 52, in XTerm Control Sequences. tmux and GNU screen pass
a sequence on to the terminal around them when it is wrapped (tmux(1), ``allow-passthrough``; screen(1),
"DCS").
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from enum import StrEnum

MOST_BYTES = 74_994
"""The longest text that OSC 52 carries: its base64 form takes 100,000 bytes, where xterm stops reading."""
_SCREEN_PIECE = 760
"""Bytes of one wrapped piece that GNU screen passes on."""
_WITHOUT_CLIPBOARD = frozenset({"", "dumb", "linux", "unknown", "vt100", "vt102", "vt220"})
"""The values of TERM whose terminals have no clipboard. On the Linux console OSC 52 may be drawn as text."""


class Route(StrEnum):
    """Where a copied text goes."""

    TMUX = "tmux"
    TERMINAL = "terminal"
    FILE = "file"


def route_of(environ: Mapping[str, str], size: int) -> Route:
    """The way that a text of ``size`` bytes takes in this terminal."""
    if environ.get("TMUX"):
        return Route.TMUX
    if environ.get("TERM", "") in _WITHOUT_CLIPBOARD or size > MOST_BYTES:
        return Route.FILE
    return Route.TERMINAL


def clipboard_sequence(text: str, environ: Mapping[str, str]) -> str:
    """What sets the terminal's clipboard to ``text``, also from within a multiplexer on another machine."""
    data = b64encode(text.encode("utf-8", errors="replace")).decode("ascii")
    plain = f"\x1b]52;c;{data}\x07"
    if environ.get("STY"):
        pieces = [plain[at : at + _SCREEN_PIECE] for at in range(0, len(plain), _SCREEN_PIECE)]
        return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
    if environ.get("TERM", "").startswith(("tmux", "screen")):
        # Over ssh from inside tmux: it takes the plain form, or passes the wrapped one on, as it is set up.
        return plain + through_tmux(plain)
    return plain


def through_tmux(sequence: str) -> str:
    """``sequence`` as tmux passes it on to the terminal around it."""
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"
