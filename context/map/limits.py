"""Limits shared by the path list and the outlines of a map that does not fit whole."""

from __future__ import annotations

from collections.abc import Callable

Count = Callable[[str], int]
"""Tokens of a text."""

SURELY = 12
"""Characters per token above which a text cannot fit: no text averages as many."""
CHARACTERS = 4
"""Estimated characters per token, where an exact count is not worth its time."""
LEAST = 8
"""Tokens too few for any outline or folder."""
IN_VAIN = 60
"""Number of failures in a row after which no more outlines or folders are tried."""
