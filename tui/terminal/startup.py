"""What comes before all else where a session is opened."""

from __future__ import annotations

import gc
import sys

from tui.terminal.typeahead import hold_keys

SWITCH_SECONDS = 0.001
"""How long a thread may keep the interpreter while others wait. A key passes through four threads, and with
Python's 5 ms would wait as long at each for whatever is loaded or read beside it."""


def begin() -> None:
    """The app is to be opened: have the terminal keep keys, and loading go on quickly."""
    hold_keys()
    load()
    sys.setswitchinterval(SWITCH_SECONDS)


def load() -> None:
    """Have the collector rest until :func:`loaded`: what a start makes stays, and looking through it for
    garbage took a sixth of the time to the first frame."""
    gc.disable()


def loaded() -> None:
    """Have the collector work again, on what is made from here on."""
    gc.freeze()
    gc.enable()
