"""Lists the folders in a map that has no room for all outlines: with their files, or with a count."""

from __future__ import annotations

from typing import TYPE_CHECKING

from context.map.limits import (
    CHARACTERS_PER_TOKEN,
    MAX_CHARACTERS_PER_TOKEN,
    MIN_TOKENS,
    MOST_FAILURES,
    Count,
)
from context.project.project_paths import folder_name, project_paths

if TYPE_CHECKING:
    from context.find.ranking import Order
    from context.project.snapshot import Snapshot

_LIST_SHARE = 20
"""Percentage of the map's room that the list may take."""
_SMALL_LIST = 800
"""Number of tokens that it may take in a small map as well, up to half of the room."""
_MOST_NAMED = 300
"""Number of folders that are reported as left out one by one; the others are counted."""


def fit_folders(
    snapshot: Snapshot, order: Order, room: int, count: Count, spent: int
) -> tuple[list[str], int, tuple[tuple[str, int], ...]]:
    """The folders' lines, the tokens spent including theirs, and the folders whose files are not listed.

    All paths are listed if they take at most a fifth of the room (half of a small one). Otherwise the folders
    of the best ranked files are listed in that part, and the others get the number of their files, as far as
    there is room.
    """
    held = project_paths(snapshot.paths)
    lines = held.lines
    limit = max(spent, room * _LIST_SHARE // 100, min(_SMALL_LIST, room // 2))
    if held.size <= limit * MAX_CHARACTERS_PER_TOKEN:
        costs = {folder: count(line) for folder, line in lines.items()}
        if spent + sum(costs.values()) <= limit:
            return list(lines.values()), spent + sum(costs.values()), ()
    chosen: dict[str, str] = {}
    listed: set[str] = set()
    failures = 0
    for folder in order.folders():
        short = f"{folder_name(folder)}: {len(held.folders[folder])} files\n"
        cost = count(short)
        failures = failures + 1 if spent + cost > limit else 0
        if not failures:
            chosen[folder] = short
            spent += cost
        elif failures >= MOST_FAILURES:
            break
    for folder, short in chosen.items():
        if limit - spent < MIN_TOKENS:
            break
        # A line that is far too long need not be counted.
        if len(lines[folder]) > (limit - spent) * MAX_CHARACTERS_PER_TOKEN:
            continue
        more = count(lines[folder]) - count(short)
        if spent + more <= limit:
            chosen[folder] = lines[folder]
            listed.add(folder)
            spent += more
    left = [folder for folder in lines if folder not in listed]
    unlisted = [
        (folder_name(folder), len(lines[folder]) // CHARACTERS_PER_TOKEN) for folder in left[:_MOST_NAMED]
    ]
    if len(left) > _MOST_NAMED:
        unlisted.append((f"{len(left) - _MOST_NAMED} more folders", 0))
    return [chosen[folder] for folder in sorted(chosen)], spent, tuple(unlisted)
