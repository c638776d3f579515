"""Telling this process by SIGHUP that its terminal is gone, where a call on it shows that first.

Whatever waits for the signal then acts in one way, whoever noticed.
"""

from __future__ import annotations

import os
import signal


def hang_up() -> None:
    """Send SIGHUP to this process. Without a handler for it, this ends the process."""
    os.kill(os.getpid(), signal.SIGHUP)
