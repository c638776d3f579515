"""Suggests known names close to a mistyped one."""

from __future__ import annotations

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
