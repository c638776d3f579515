"""What the terminal can do beyond writing text in place, as far as the environment says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Abilities:
    """Sequences that save bytes, and that not every terminal has."""

    erase: bool = False
    """ECH and EL, in the background's colour."""
    scroll: bool = False
    """DECSTBM, and IL and DL between its margins."""
    repeat: bool = False
    """REP: the last character again."""


_REPEATING = ("xterm-kitty", "foot", "alacritty", "wezterm", "xterm-ghostty", "contour")
"""Beginnings of TERM whose terminals have REP in every version."""
_KNOWN = ("xterm", "tmux", "rxvt", "linux", "konsole", "vte", "gnome", "st-", "iterm", *_REPEATING)
"""Beginnings of TERM whose entries in terminfo have ``ech``, ``bce``, ``csr``, ``il`` and ``dl``, and tmux,
which has them all."""


def abilities(environ: Mapping[str, str]) -> Abilities:
    """What the terminal of this environment is known to do. ``screen`` may be GNU screen, which erases
    without colour, unless tmux says that it is tmux."""
    term = environ.get("TERM", "")
    if environ.get("TERM_PROGRAM") == "tmux" and term.startswith(("tmux", "screen")):
        return Abilities(
            erase=True, scroll=True, repeat=_number(environ.get("TERM_PROGRAM_VERSION", "")) >= 3
        )
    repeats = term.startswith(_REPEATING) or (
        term.startswith("xterm")
        and ("XTERM_VERSION" in environ or _number(environ.get("VTE_VERSION", "")) >= 5000)
    )
    known = term.startswith(_KNOWN)
    return Abilities(erase=known, scroll=known, repeat=repeats)


def _number(text: str) -> int:
    found = re.match(r"\d{1,6}", text)
    return int(found[0]) if found else 0
