"""Limits shared by the path list and the outlines of a map that does not fit whole."""

from __future__ import annotations

from collections.abc import Callable

Count = Callable[[str], int]
"""Counts the tokens of a text."""

MAX_CHARACTERS_PER_TOKEN = 12
"""Characters per token that no text reaches on average, so that a longer one cannot fit."""
CHARACTERS_PER_TOKEN = 4
"""Estimated characters per token, for sizes that need no exact count."""
MIN_TOKENS = 8
"""Number of tokens below which no outline or folder fits."""
MOST_FAILURES = 60
"""Number of failures in a row after which no more outlines or folders are tried."""
