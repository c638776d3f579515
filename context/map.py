"""The project map: every file's outline where all fit, else the list of paths and outlines by rank.

It stands early in the window and is sent once a conversation; later turns send only the outlines that
changed, so that the server's prompt cache keeps the rest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING

from context.snapshot import REMOVED

if TYPE_CHECKING:
    from context.seen import FrozenMap
    from context.snapshot import Snapshot

_COMPLETE = (
    "## Project map\n\nEvery file of the project with the definitions in it, in path order. "
    "Blocks further down override earlier ones.\n\n"
)
_PARTIAL = (
    "## Project map\n\nThe files of the project by folder, then the definitions in those that matter most, "
    "in path order. Blocks further down override earlier ones.\n\n"
)
REFREEZE = 8_000
"""Tokens of changes to a frozen map from which a new map is cheaper."""
_TIGHT = 72
"""Characters of a signature where not every outline fits."""
_LIST_SHARE = 50
"""Percent of the map's room that the list of paths may take where not every outline fits."""
_OUTLINES = "### Definitions\n\n"
_DELTA = (
    "## Project map: what changed in it\n\nThese entries override the earlier ones of the same files. "
    "Where only some definitions changed, `-` marks what is gone and `+` what is there now.\n\n"
)
_WORTH = 0.7
"""The changed definitions alone are worth it with at most this share of the whole entry's characters."""
_MOST_COMPARED = 4_000_000
"""Lines of an entry before times lines after, up to which they are compared."""

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class MapPart:
    """The map, or a delta of it; ``text`` is empty when nothing fitted or nothing changed.

    ``outlines`` are the blocks shown, by path (empty: known but not outlined), uncut; ``unlisted`` and
    ``unoutlined`` name what did not fit, with its tokens; ``gone`` what the map held before.
    """

    text: str = ""
    tokens: int = 0
    outlines: Mapping[str, str] = field(default_factory=dict)
    unoutlined: tuple[tuple[str, int], ...] = ()
    unlisted: tuple[tuple[str, int], ...] = ()
    gone: frozenset[str] = frozenset()

    @property
    def outlined(self) -> int:
        """How many files are there with their definitions."""
        return sum(1 for block in self.outlines.values() if block)


def file_block(path: str, outline: str) -> str:
    """A file's entry in the map. Counts of such blocks add up exactly (see ``context.tokens``)."""
    name = f"./{path}" if path[0].isspace() else path
    if not outline:
        return f"{name}\n"
    inside = "".join(f" {line}\n" for line in outline.split("\n") if line)
    return f"{name}:\n{inside}"


@lru_cache(maxsize=20_000)
def tight_block(block: str) -> str:
    """A file's entry where room is short: long signatures cut, documentation left out."""
    lines = block.split("\n")
    cut = [line.partition(" — ")[0] for line in lines[1:]]
    return "\n".join([lines[0], *(line if len(line) <= _TIGHT else f"{line[: _TIGHT - 1]}…" for line in cut)])


def changed_block(before: str, block: str) -> str:
    """A file's entry with its changed definitions alone, each under what encloses it; the whole entry
    where most of it changed."""
    old, new = before.split("\n")[1:-1], block.split("\n")[1:-1]
    if not old or not new or len(old) * len(new) > _MOST_COMPARED:
        return block
    name = block.partition("\n")[0].removesuffix(":")
    kept = [f"{name} (what changed):"]
    enclosing: list[str] = []
    said: list[str] = []
    for tag, old_start, old_end, new_start, new_end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            for line in new[new_start:new_end]:
                enclosing = [*_around(enclosing, line), line]
            continue
        first = new[new_start] if new_start < new_end else old[old_start]
        around = _around(enclosing, first)
        kept += [f" {line}" for at, line in enumerate(around) if around[: at + 1] != said[: at + 1]]
        said = around
        kept += [f"-{line}" for line in old[old_start:old_end]]
        kept += [f"+{line}" for line in new[new_start:new_end]]
        for line in new[new_start:new_end]:
            enclosing = [*_around(enclosing, line), line]
    text = "\n".join(kept) + "\n"
    return text if len(text) <= _WORTH * len(block) else block


def _around(enclosing: list[str], line: str) -> list[str]:
    """Of the lines before ``line`` those that it stands inside, by their indentation."""
    depth = len(line) - len(line.lstrip(" "))
    return [other for other in enclosing if len(other) - len(other.lstrip(" ")) < depth]


def full_cost(snapshot: Snapshot, count: Count) -> int:
    """Tokens of the map with every outline."""
    return count(_COMPLETE) + sum(count(_block(snapshot, path)) for path in snapshot.paths)


def list_cost(snapshot: Snapshot, count: Count) -> int:
    """Tokens of the map with every path and nothing else."""
    return count(_PARTIAL) + sum(count(line) for line in _folder_lines(snapshot.paths).values())


def build_map(
    snapshot: Snapshot, order: Iterable[str], room: int, count: Count, whole: frozenset[str], full: int
) -> MapPart:
    """The map in at most ``room`` tokens. ``order`` is all paths by rank; ``whole`` are files whose text
    the window shows anyway: where room is short they are outlined last of all.
    ``full`` is :func:`full_cost`."""
    if not snapshot.paths:
        return MapPart()
    if full <= room:
        blocks = {path: _block(snapshot, path) for path in snapshot.paths}
        return MapPart(_COMPLETE + "".join(blocks.values()), full, blocks)
    ranked = list(order)
    lines, spent, unlisted = _fit_folders(snapshot, ranked, room, count)
    if not lines:
        return MapPart(unlisted=unlisted)
    chosen: dict[str, str] = {}
    unoutlined: list[tuple[str, int]] = []
    heading = count(_OUTLINES)
    for path in sorted(ranked, key=lambda path: path in whole):
        entry = snapshot.entries.get(path)
        if entry is None or not entry.facts.outline:
            continue
        cost = count(tight_block(entry.block))
        if spent + heading + cost <= room:
            chosen[path] = entry.block
            spent += cost + heading
            heading = 0
        else:
            unoutlined.append((path, cost))
    text = _PARTIAL + "".join(lines)
    if chosen:
        text += _OUTLINES + "".join(tight_block(chosen[path]) for path in sorted(chosen))
    return MapPart(
        text, spent, {path: chosen.get(path, "") for path in snapshot.paths}, tuple(unoutlined), unlisted
    )


def build_again(
    snapshot: Snapshot, frozen: FrozenMap, room: int, least: int, count: Count
) -> tuple[MapPart, MapPart] | None:
    """The frozen map as it was, and what changed in it since; None when it is time to make a new one: it
    does not fit, it says much less than would fit now, or the changes have grown past :data:`REFREEZE`."""
    if frozen.tokens > room or frozen.tokens * 2 < least:
        return None
    delta = build_delta(snapshot, frozen.outlines, min(room - frozen.tokens, REFREEZE), count)
    if delta.unoutlined:
        return None
    return MapPart(frozen.text, frozen.tokens, frozen.outlines), delta


def build_delta(
    snapshot: Snapshot,
    shown: Mapping[str, str],
    room: int,
    count: Count,
    whole: frozenset[str] = frozenset(),
) -> MapPart:
    """What changed in the map since it was shown, in at most ``room`` tokens. Of the files in ``whole``
    the model knows the text, and so their definitions."""
    blocks: dict[str, str] = {}
    outlines: dict[str, str] = {}
    for path in snapshot.paths:
        before = shown.get(path)
        block = _block(snapshot, path)
        if before is not None and snapshot.unread.get(path) == REMOVED:
            continue  # what was shown of it cannot be taken back, and its name is known
        if before is None or (before and before != block and path not in whole):
            outlines[path] = block
            blocks[path] = changed_block(before, block) if before else block
    listed = set(snapshot.paths)
    for path in shown:
        if path not in listed:
            blocks[path] = f"{file_block(path, '').rstrip()}: gone\n"
    spent = count(_DELTA)
    fitting: list[str] = []
    unoutlined: list[tuple[str, int]] = []
    for path in sorted(blocks):
        cost = count(blocks[path])
        if spent + cost <= room:
            fitting.append(path)
            spent += cost
        else:
            unoutlined.append((path, cost))
            outlines.pop(path, None)
    if not fitting:
        return MapPart(unoutlined=tuple(unoutlined))
    gone = frozenset(path for path in fitting if path not in listed)
    return MapPart(
        _DELTA + "".join(blocks[path] for path in fitting), spent, outlines, tuple(unoutlined), gone=gone
    )


def _block(snapshot: Snapshot, path: str) -> str:
    entry = snapshot.entries.get(path)
    return file_block(path, "") if entry is None else entry.block


def _folder_lines(paths: Iterable[str]) -> dict[str, str]:
    names: dict[str, list[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        names.setdefault(folder, []).append(name)
    return {folder: f"{_folder_name(folder)}: {', '.join(held)}\n" for folder, held in sorted(names.items())}


def _folder_name(folder: str) -> str:
    return f"{'./' if not folder or folder[0].isspace() else ''}{folder}{'/' if folder else ''}"


def _fit_folders(
    snapshot: Snapshot, ranked: list[str], room: int, count: Count
) -> tuple[list[str], int, tuple[tuple[str, int], ...]]:
    """The folders' lines, their tokens, and the folders whose files are not listed.

    All paths where they take at most half of the room; else the folders of the best ranked files are
    listed in that half, and the others say how many files they hold, as far as there is room.
    """
    lines = _folder_lines(snapshot.paths)
    costs = {folder: count(line) for folder, line in lines.items()}
    spent = count(_PARTIAL)
    limit = max(spent, room * _LIST_SHARE // 100)
    if spent + sum(costs.values()) <= limit:
        return list(lines.values()), spent + sum(costs.values()), ()
    held = Counter(path.rpartition("/")[0] for path in snapshot.paths)
    short = {folder: f"{_folder_name(folder)}: {held[folder]} files\n" for folder in lines}
    chosen: dict[str, str] = {}
    best_first = dict.fromkeys(path.rpartition("/")[0] for path in ranked)
    for folder in best_first:
        cost = count(short[folder])
        if spent + cost <= limit:
            chosen[folder] = short[folder]
            spent += cost
    for folder in best_first:
        more = costs[folder] - count(short[folder])
        if folder in chosen and spent + more <= limit:
            chosen[folder] = lines[folder]
            spent += more
    left = tuple(
        (_folder_name(folder), costs[folder]) for folder in lines if chosen.get(folder) != lines[folder]
    )
    return [chosen[folder] for folder in lines if folder in chosen], spent, left
