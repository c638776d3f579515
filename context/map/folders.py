"""The list of paths where not every outline fits in the map: which folders are listed, which only counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from context.map.limits import CHARACTERS, IN_VAIN, LEAST, SURELY, Count
from context.project.project_paths import folder_name, project_paths

if TYPE_CHECKING:
    from context.find.ranking import Order
    from context.project.snapshot import Snapshot

_LIST_SHARE = 50
"""Percent of the map's room that the list may take."""
_MOST_NAMED = 300
"""Folders that are named as left out at most; the others are counted."""


def fit_folders(
    snapshot: Snapshot, order: Order, room: int, count: Count, spent: int
) -> tuple[list[str], int, tuple[tuple[str, int], ...]]:
    """The folders' lines, the tokens spent with them, and the folders whose files are not listed.

    All paths where they take at most half of the room; else the folders of the best ranked files are
    listed in that half, and the others say how many files they hold, as far as there is room.
    """
    held = project_paths(snapshot.paths)
    lines = held.lines
    limit = max(spent, room * _LIST_SHARE // 100)
    if held.size <= limit * SURELY:
        costs = {folder: count(line) for folder, line in lines.items()}
        if spent + sum(costs.values()) <= limit:
            return list(lines.values()), spent + sum(costs.values()), ()
    chosen: dict[str, str] = {}
    in_vain = 0
    for folder in order.folders():
        short = f"{folder_name(folder)}: {len(held.folders[folder])} files\n"
        cost = count(short)
        in_vain = in_vain + 1 if spent + cost > limit else 0
        if not in_vain:
            chosen[folder] = short
            spent += cost
        elif in_vain >= IN_VAIN:
            break
    for folder, short in chosen.items():
        if limit - spent < LEAST:
            break
        # A line that is much too long is not even counted.
        if len(lines[folder]) > (limit - spent) * SURELY:
            continue
        more = count(lines[folder]) - count(short)
        if spent + more <= limit:
            chosen[folder] = lines[folder]
            spent += more
    left = [folder for folder in lines if chosen.get(folder) != lines[folder]]
    unlisted = [(folder_name(folder), len(lines[folder]) // CHARACTERS) for folder in left[:_MOST_NAMED]]
    if len(left) > _MOST_NAMED:
        unlisted.append((f"{len(left) - _MOST_NAMED} more folders", 0))
    return [chosen[folder] for folder in sorted(chosen)], spent, tuple(unlisted)
