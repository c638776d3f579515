"""Matches paths with glob patterns such as ``*.py`` and ``src/**/*.ts``.

A pattern may come from a model or from pasted text, so matching does not backtrack: a regular expression with
a dozen stars could take exponential time, and would block all threads meanwhile.
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
    """Compile a pattern to a function that says whether a path matches.

    ``*``, ``?`` and ``[…]`` match within a folder, ``**`` also across folders. A pattern without ``/``
    matches file names in any folder.
    """
    pattern = pattern.removeprefix("./")
    parts: list[Part | None] = []
    for word in (pattern if "/" in pattern else f"{_ANY}/{pattern}").split("/"):
        if word.startswith(_ANY) and parts[-1:] != [None]:
            parts.append(None)
        if word.strip("*") or not word.startswith(_ANY):
            # ``translate`` gives each star its first possible match and never backtracks into it.
            parts.append(re.compile(translate(word)).match)
        if word.strip("*") and word.endswith(_ANY):
            parts.append(None)
    if pattern.endswith(f"/{_ANY}"):
        parts.append(re.compile("").match)  # the contents of a folder, not the folder itself
    return lambda path: _matches(parts, path.split("/"))


def _matches(parts: list[Part | None], names: list[str]) -> bool:
    """Whether ``names`` match ``parts``, in which None stands for any number of names.

    After a mismatch only the last None takes one more name: the parts before it matched as early as possible.
    """
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
