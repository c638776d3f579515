"""Words that many messages share: names close to a mistyped one, the lines behind a path, how to install."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable

_CUTOFF = 0.6
"""Least similarity of two names, from 0 to 1, as difflib counts it."""


def spelled_like(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The names of ``known`` closest to ``name``, best first: those that contain it, then those that are
    spelled alike. Case does not matter."""
    from difflib import get_close_matches  # imported when a name is mistyped, to keep start-up fast

    lower = {each.lower(): each for each in sorted(known, reverse=True)}
    wanted = name.strip().lower()
    if not wanted:
        return []
    holding = sorted((each for each in lower if wanted in each), key=lambda each: (each.index(wanted), each))
    near = get_close_matches(wanted, lower, most, _CUTOFF)
    found = dict.fromkeys([*(each for each in near if each == wanted), *holding, *near])
    return [lower[each] for each in found][:most]


def listed(names: list[str] | tuple[str, ...], most: int) -> str:
    """The first ``most`` of ``names``, and the number of the others, as in "a, b and 3 more"."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def install_command(package: str) -> str:
    """The command after which ``package`` can be imported here."""
    return f"{shlex.quote(sys.executable)} -m pip install {package}"


def line_range(start: int, end: int) -> str:
    """``start`` is the first line, from 1, and ``end`` is one past the last; empty where ``end`` is 0."""
    last = f"-{end - 1}" if end - 1 > start else ""
    return f":{start}{last}" if end else ""
