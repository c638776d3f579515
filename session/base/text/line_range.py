"""Lines of a file behind its path, as in ``a.py:3`` and ``a.py:3-5``."""

from __future__ import annotations


def line_range(start: int, end: int) -> str:
    """``start`` is the first line, from 1, and ``end`` is one past the last; empty where ``end`` is 0."""
    last = f"-{end - 1}" if end - 1 > start else ""
    return f":{start}{last}" if end else ""
