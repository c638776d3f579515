"""How much of what has no end is tried: a little in every run, and all of it with ``TESTS_IN_FULL=1``."""

from __future__ import annotations

import os

IN_FULL = os.environ.get("TESTS_IN_FULL") == "1"


def share(full: int, usual: int) -> int:
    """The number of examples, orders or places to try: ``full`` with ``TESTS_IN_FULL=1``."""
    return full if IN_FULL else usual
