"""Start-up tuning: hold keys, pause the garbage collector."""

from __future__ import annotations

import gc
import sys

from tui.terminal.typeahead import hold_keys

SWITCH_SECONDS = 0.001
"""Python's thread switch interval, in seconds. A key passes through four threads, and would wait at each for
Python's usual 5 ms while modules are imported."""


def begin() -> None:
    """Tune the process for opening the app: the terminal holds keys, and imports run quickly."""
    hold_keys()
    load()
    sys.setswitchinterval(SWITCH_SECONDS)


def load() -> None:
    """Pause garbage collection until :func:`loaded`: what is made at start-up stays, and collecting took a
    sixth of the time to the first frame."""
    gc.disable()


def loaded() -> None:
    """Resume garbage collection for objects made from now on."""
    gc.freeze()
    gc.enable()
