"""The command that installs an optional package into the running installation of spark."""

from __future__ import annotations

import shlex
import sys


def install_command(package: str) -> str:
    """The command after which ``package`` can be imported here."""
    return f"{shlex.quote(sys.executable)} -m pip install {package}"
