"""Start-up tuning: hold and show keys, pause the garbage collector."""

from __future__ import annotations

import gc
import signal
import sys

from tui.front.freed_memory import keep_little_freed_memory
from tui.screen.terminal import early_screen
from tui.screen.terminal.typeahead import hold_keys

SWITCH_SECONDS = 0.001
"""Python's thread switch interval, in seconds. A key passes through four threads, and would wait at each for
Python's usual 5 ms while modules are imported."""

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""The signals that end spark while it starts."""

_is_loading = False
"""Whether garbage is not collected yet. It may be off for a moment later on too, while a window is built."""


def begin() -> None:
    """Tune the process for opening the app: keys are held and shown, and imports run quickly."""
    load()
    sys.setswitchinterval(SWITCH_SECONDS)
    # An end of spark must find the terminal either as it was or ready to be given back. The thread that reads
    # keys keeps these blocked: they are for this thread.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        hold_keys()
        keep_little_freed_memory()  # before the thread of the early screen
        early_screen.show()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def load() -> None:
    """Pause garbage collection until :func:`loaded`: what is made at start-up stays, and collecting took a
    sixth of the time to the first frame."""
    global _is_loading
    _is_loading = True
    gc.disable()


def loaded() -> None:
    """Resume garbage collection for objects made from now on. Later calls do nothing: what the session before
    left behind is to be collected."""
    global _is_loading
    if _is_loading:
        _is_loading = False
        gc.freeze()
        gc.enable()
