"""What comes before all else where the app is opened."""

from __future__ import annotations

import gc
import sys

from tui.typeahead import hold_keys

SWITCH_SECONDS = 0.001
"""How long a thread may keep the interpreter while others wait. A key passes through four threads, and with
Python's 5 ms would wait as long at each for whatever is loaded or read beside it."""


def begin() -> None:
    """Have the terminal keep keys, and the collector rest until the app is up: what a start makes stays, and
    looking through it for garbage took a sixth of the time to the first frame."""
    hold_keys()
    gc.disable()
    sys.setswitchinterval(SWITCH_SECONDS)
