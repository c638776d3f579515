"""Signals to whole process groups. Those that still run when spark ends are killed."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal

RUNNING: set[int] = set()
"""The groups that must not outlive spark, by the id of their first process."""


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to all processes of a group; does nothing where none is left."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


@atexit.register
def _end_all() -> None:
    for group in RUNNING:
        signal_group(group, signal.SIGKILL)
