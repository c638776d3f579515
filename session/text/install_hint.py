"""Packages that only some want: how to add one to this very installation of spark."""

from __future__ import annotations

import shlex
import sys


def install_command(package: str) -> str:
    """What to run so that ``package`` can be imported here."""
    return f"{shlex.quote(sys.executable)} -m pip install {package}"
