"""Patterns for paths, as people and models write them: ``*.py``, ``src/**/*.ts``.

A pattern may come from a model or a pasted text, so matching must not go back over what it has tried: a
regular expression with a dozen stars would take longer than anyone lives, and hold up all threads meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache

_ANY = "**"
Part = Callable[[str], object]


@lru_cache(maxsize=32)
def glob(pattern: str) -> Callable[[str], bool]:
    """Whether a path matches: ``*``, ``?`` and ``[…]`` stay within a folder, ``**`` does not; a pattern
    without ``/`` is for file names in any folder."""
    pattern = pattern.removeprefix("./")
    parts: list[Part | None] = []
    for word in (pattern if "/" in pattern else f"{_ANY}/{pattern}").split("/"):
        if word.startswith(_ANY) and parts[-1:] != [None]:
            parts.append(None)
        if word.strip("*") or not word.startswith(_ANY):
            # Each star of such an expression is settled by the first place that what follows it fits.
            parts.append(re.compile(translate(word)).match)
        if word.strip("*") and word.endswith(_ANY):
            parts.append(None)
    if pattern.endswith(f"/{_ANY}"):
        parts.append(re.compile("").match)  # what is below a folder, and not the folder
    return lambda path: _matches(parts, path.split("/"))


def _matches(parts: list[Part | None], names: list[str]) -> bool:
    """Whether ``names`` are what ``parts`` say, None being any number of them: only the last None ever has
    to take one more, since what stood before it fitted as early as it could."""
    part = name = 0
    again: tuple[int, int] | None = None
    while name < len(names):
        wanted = parts[part] if part < len(parts) else _never
        if wanted is None:
            part += 1
            again = (part, name)
        elif wanted(names[name]):
            part += 1
            name += 1
        elif again is None:
            return False
        else:
            part, name = again[0], again[1] + 1
            again = (part, name)
    return all(left is None for left in parts[part:])


def _never(_: str) -> bool:
    return False
