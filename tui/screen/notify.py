"""Tells a user who looks elsewhere that a turn has ended or waits for them.

The sequences are OSC 9 (iTerm2, WezTerm, Windows Terminal, Ghostty, kitty), OSC 777 (rxvt, VTE, foot) and the
bell, which every terminal has. tmux passes sequences on inside its own wrapper where ``allow-passthrough`` is
on, and the bell always.
"""

from __future__ import annotations

from collections.abc import Mapping

LONGEST = 120
"""Characters of a message that are sent."""
_OSC9 = frozenset({"iTerm.app", "WezTerm", "ghostty", "WarpTerminal"})
"""Values of ``TERM_PROGRAM``."""


def way_of(environ: Mapping[str, str]) -> str:
    """How this terminal is told, where the setting is ``auto``: a terminal that is not known gets a bell."""
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if program in _OSC9 or "WT_SESSION" in environ or "kitty" in term or "ghostty" in term:
        return "osc9"
    if "VTE_VERSION" in environ or term.startswith(("foot", "rxvt-unicode")):
        return "osc777"
    return "bell"


def notification(way: str, title: str, message: str, environ: Mapping[str, str]) -> str:
    """The sequence that tells ``message``; empty where nothing is to be told. Both texts are cut to printable
    characters, so that a folder's name cannot end the sequence either."""
    way = way_of(environ) if way == "auto" else way
    title, text = _printable(title), _printable(message)
    match way:
        case "osc9":
            sequence = f"\x1b]9;{title}: {text}\a"
        case "osc777":
            sequence = f"\x1b]777;notify;{title.replace(';', ',')};{text.replace(';', ',')}\a"
        case "bell":
            return "\a"
        case _:
            return ""
    if "TMUX" in environ:
        # The bell marks the window in tmux, also where it passes nothing on.
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\" + "\a"
    return sequence


def window_title(title: str) -> str:
    """The sequence that names the terminal's window (OSC 2), and in screen and tmux the pane."""
    return f"\x1b]2;{_printable(title)}\a"


def _printable(text: str) -> str:
    return "".join(character for character in text if character.isprintable())[:LONGEST]


SAVE_TITLE = "\x1b[22;2t"
RESTORE_TITLE = "\x1b[23;2t"
"""Save the window's title before it is changed, and restore it (xterm's ctlseqs, "Window manipulation")."""
