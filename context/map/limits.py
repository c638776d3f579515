"""What both halves of a map without room for everything go by: its list of paths, and its outlines."""

from __future__ import annotations

from collections.abc import Callable

Count = Callable[[str], int]
"""Tokens of a text."""

SURELY = 12
"""Characters a token from which a text surely does not fit: none is as long on average."""
CHARACTERS = 4
"""Characters a token is taken to have where it is not worth counting."""
LEAST = 8
"""Tokens in which no outline and no folder fits."""
IN_VAIN = 60
"""Outlines or folders in a row that did not fit, after which no more are tried."""
