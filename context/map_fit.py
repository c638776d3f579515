"""Where not every outline fits in the map: which folders are listed, and which files outlined."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from context.paths import about, folder_name

if TYPE_CHECKING:
    from context.rank import Order
    from context.snapshot import Snapshot

Count = Callable[[str], int]

OUTLINES = "### Definitions\n\n"
SURELY = 12
"""Characters a token from which a text surely does not fit: none is as long on average."""
CHARACTERS = 4
"""Characters a token is taken to have where it is not worth counting."""
_TIGHT = 72
"""Characters of a signature where not every outline fits."""
_LIST_SHARE = 50
"""Percent of the map's room that the list of paths may take where not every outline fits."""
_LEAST = 8
"""Tokens in which no outline fits."""
_IN_VAIN = 60
"""Outlines or folders in a row that did not fit, after which no more are tried."""
_MOST_NAMED = 300
"""Folders that are named as left out at most; the others are counted."""


@lru_cache(maxsize=20_000)
def tight_block(block: str) -> str:
    """A file's entry where room is short: long signatures cut, documentation left out."""
    lines = block.split("\n")
    cut = [line.partition(" — ")[0] for line in lines[1:]]
    return "\n".join([lines[0], *(line if len(line) <= _TIGHT else f"{line[: _TIGHT - 1]}…" for line in cut)])


def fit_outlines(
    snapshot: Snapshot, order: Order, room: int, spent: int, count: Count, whole: frozenset[str]
) -> tuple[dict[str, str], tuple[tuple[str, int], ...], int]:
    """The outlines that fit, by path; those that do not; and the tokens of all. Once many in a row did not
    fit, no more are tried: they are named together."""
    chosen: dict[str, str] = {}
    unoutlined: list[tuple[str, int]] = []
    heading = count(OUTLINES)
    in_vain = 0
    ranked = chain((path for path in order if path not in whole), (path for path in order if path in whole))
    for path in ranked:
        if not snapshot.entries.outline_size(path):
            continue
        # Nothing of fewer bytes than the room that is left can fail to fit, and nothing of many more fit.
        left = room - spent - heading
        block = tight_block(snapshot.entries.block(path)) if left >= _LEAST else ""
        cost = (
            count(block)
            if block and len(block) <= left * SURELY
            else snapshot.entries.outline_size(path) // CHARACTERS
        )
        if block and cost <= left and len(block) <= left * SURELY:
            chosen[path] = snapshot.entries.block(path)
            spent += cost + heading
            heading = 0
            in_vain = 0
            continue
        unoutlined.append((path, cost))
        in_vain += 1
        if in_vain >= _IN_VAIN:
            break
    rest = len(snapshot.entries) - len(chosen) - len(unoutlined)
    if in_vain >= _IN_VAIN and rest > 0:
        unoutlined.append((f"{rest} more files", 0))
    return chosen, tuple(unoutlined), spent


def fit_folders(
    snapshot: Snapshot, order: Order, room: int, count: Count, spent: int
) -> tuple[list[str], int, tuple[tuple[str, int], ...]]:
    """The folders' lines, the tokens spent with them, and the folders whose files are not listed.

    All paths where they take at most half of the room; else the folders of the best ranked files are
    listed in that half, and the others say how many files they hold, as far as there is room.
    """
    held = about(snapshot.paths)
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
        elif in_vain >= _IN_VAIN:
            break
    for folder, short in chosen.items():
        if limit - spent < _LEAST:
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
