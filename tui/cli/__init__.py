"""The command line: the commands, their options, and what all of them share.

This runs before anything else of spark is imported.
"""
# ruff: noqa: PTH100, PTH120
# Nothing is imported before the path is in order, pathlib included.

from __future__ import annotations

import os
import sys


def _own_packages_first() -> None:
    """Have spark import its own packages and what it needs, whatever ``PYTHONPATH`` says: that is for the
    project's programs, and spark may use the project. Only a checkout of spark stays where it is."""
    given = {os.path.abspath(each) for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each}
    own = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    if given - {own}:
        sys.path.sort(key=lambda entry: entry in given - {own})


_own_packages_first()
