"""The programs that spark starts for the user: never one that lies in the project."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from context.disk.programs import find_program

__all__ = ["command_outside", "find_program"]


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
