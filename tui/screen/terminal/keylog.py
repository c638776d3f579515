"""Prints the bytes that the terminal sends, beside the keys they are read as."""

from __future__ import annotations

import os
import selectors
import sys
import termios
import tty

from textual import events

from tui.front.keys.keymap import keymap
from tui.front.printing import say
from tui.screen.terminal.driver import key_parser
from tui.screen.terminal.escape_keys import rewritten

QUIET = 0.05
"""After this many seconds without a byte, the bytes read are one key."""


def log_keys() -> None:
    """Print each key until Ctrl+C, and restore the terminal."""
    actions = {key: entry.help for scope in reversed(keymap()) for entry in scope.keys for key in entry.keys}
    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setraw(descriptor)
        # Not before: a key that is pressed at once would be the terminal's, and be dropped.
        say("Press keys; Ctrl+C ends.", end="\r\n")
        while (data := _read_key(descriptor)) != b"\x03":
            names = _names(data.decode("utf-8", "replace"))
            told = "; ".join(f"{name} ({actions[name]})" if name in actions else name for name in names)
            say(f"{data!r:<24} {told or 'nothing that spark knows'}", end="\r\n")
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


def _read_key(descriptor: int) -> bytes:
    data = os.read(descriptor, 64)
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while selector.select(QUIET):
            more = os.read(descriptor, 64)
            if not more:
                break
            data += more
    return data or b"\x03"


def _names(text: str) -> list[str]:
    parser = key_parser()
    found = [*parser.feed(rewritten(text)), *parser.feed("")]
    return [event.key for event in found if isinstance(event, events.Key)]
