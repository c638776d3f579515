"""The programs that spark starts for the user: never one that lies in the project."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from context.disk.programs import find_program

__all__ = ["command_outside", "find_program", "open_page"]


def command_outside(
    command: Sequence[str], root: Path, environ: Mapping[str, str] | None = None
) -> list[str]:
    """``command`` with the full path of its program if it is named without a folder: never one that lies in
    the project ``root``. Raises FileNotFoundError where there is no other."""
    if os.sep in command[0]:
        return [*command]
    program = find_program(command[0], root, environ)
    if program is None:
        raise FileNotFoundError(
            errno.ENOENT, f"{os.strerror(errno.ENOENT)} outside of the project", command[0]
        )
    return [program, *command[1:]]


def open_page(address: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Open the browser at ``address``, where this machine has a screen; whether that was done. It outlives
    spark."""
    import subprocess  # not before the first frame

    here = sys.platform == "darwin" or environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")
    if not here or environ.get("SSH_CONNECTION"):
        return False
    program = "open" if sys.platform == "darwin" else "xdg-open"
    try:
        subprocess.Popen(
            command_outside([program, address], Path.cwd()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return False
    return True
