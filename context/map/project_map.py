"""Builds the project map: every file's outline if all fit, else the list of paths and outlines by rank.

The map is near the beginning of the window and is sent once in a conversation. Later turns send only the
outlines that changed, so that the server's prompt cache keeps the rest.

Lists the folders in a map that has no room for all outlines: with their files, or with a count.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING

from context.index.entries import file_block
from context.map.blocks import (
    CHARACTERS_PER_TOKEN,
    MAX_CHARACTERS_PER_TOKEN,
    MIN_TOKENS,
    MOST_FAILURES,
    Count,
    KnownBlocks,
    MapPart,
    known_paths,
    shown_blocks,
)
from context.map.outlines import OUTLINES, fit_outlines, outlines_of
from context.project.attributes import unedited_in
from context.project.project_paths import folder_name, project_paths
from context.project.snapshot import NOT_APPROVED, REMOVED
from context.text.safe import LIST_FENCE

if TYPE_CHECKING:
    from context.find.order import Order, Ranking
    from context.map.blocks import FrozenMap
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


_COMPLETE = (
    "## Project map\n\nEvery file of the project with the definitions in it, in path order (what is built, "
    "generated or vendored by its name alone). Blocks further down override earlier ones.\n\n" + LIST_FENCE
)
_PARTIAL = (
    "## Project map\n\nThe files of the project by folder, then the definitions in those that matter most, "
    "in path order (a last line tells how many more a file has). "
    "Blocks further down override earlier ones.\n\n" + LIST_FENCE
)
_WITHHELD = (REMOVED, NOT_APPROVED)
REFREEZE = 8_000
"""Number of tokens of changes above which a new map is cheaper than the frozen one."""
_DELTA = (
    "## Project map: what changed in it\n\nThese entries override the earlier ones of the same files. "
    "Where only some definitions changed, `-` marks what is gone and `+` what is there now.\n\n" + LIST_FENCE
)
_MORE = (
    "## Project map: more of it\n\nDefinitions of further files that seem to matter (a last line tells how "
    "many more a file has).\n\n" + LIST_FENCE
)
_MOST_CHANGED = 0.7
"""The largest share of an entry's length at which its changes are sent instead of the whole entry."""
_MOST_MORE = 40
"""Number of files that are tried."""
_LEAST_MORE = 150
"""Number of tokens below which none is."""
_LEAST_SCORE = 0.05
"""The score from which a file seems to matter."""
_MOST_COMPARED = 4_000_000
"""Largest product of the two entries' line counts for which they are compared line by line."""


def changed_block(before: str, block: str) -> str:
    """A file's entry with only the changed definitions, each below those that enclose it; the whole entry if
    most of it changed."""
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
                enclosing = [*_enclosing(enclosing, line), line]
            continue
        first = new[new_start] if new_start < new_end else old[old_start]
        around = _enclosing(enclosing, first)
        kept += [f" {line}" for at, line in enumerate(around) if around[: at + 1] != said[: at + 1]]
        said = around
        kept += [f"-{line}" for line in old[old_start:old_end]]
        kept += [f"+{line}" for line in new[new_start:new_end]]
        for line in new[new_start:new_end]:
            enclosing = [*_enclosing(enclosing, line), line]
    text = "\n".join(kept) + "\n"
    return text if len(text) <= _MOST_CHANGED * len(block) else block


def _enclosing(enclosing: list[str], line: str) -> list[str]:
    """The lines of ``enclosing`` that are indented less than ``line``."""
    depth = len(line) - len(line.lstrip(" "))
    return [other for other in enclosing if len(other) - len(other.lstrip(" ")) < depth]


def full_cost(snapshot: Snapshot, count: Count, room: int) -> int:
    """The tokens of the map with every outline; an estimate if that is far too large for ``room``."""
    size = project_paths(snapshot.paths).size + snapshot.entries.size - snapshot.words.unedited_size
    if size > room * MAX_CHARACTERS_PER_TOKEN:
        return size // CHARACTERS_PER_TOKEN
    framing = count(_COMPLETE) + count(LIST_FENCE)
    by_name = unedited_in(snapshot)
    return framing + sum(count(_entry(snapshot, path, by_name(path))) for path in snapshot.paths)


def list_cost(snapshot: Snapshot, count: Count, room: int) -> int:
    """The tokens of the map with all paths and nothing else, at most ``room``."""
    spent = count(_PARTIAL) + count(LIST_FENCE)
    for line in project_paths(snapshot.paths).lines.values():
        if spent >= room:
            return room
        spent += count(line)
    return min(spent, room)


def build_map(
    snapshot: Snapshot, ranking: Ranking, room: int, count: Count, whole: frozenset[str], full: int
) -> MapPart:
    """Build the map in at most ``room`` tokens.

    ``whole`` are the files whose text the window shows; if room is short, they are outlined last.
    ``full`` is the result of :func:`full_cost`.
    """
    if not snapshot.paths:
        return MapPart()
    if full <= room:
        unedited = unedited_in(snapshot)
        named = [path for path in snapshot.paths if unedited(path)]
        held = set(named)
        blocks = {path: _entry(snapshot, path, path in held) for path in snapshot.paths}
        text = "".join(blocks.values())
        for path in named:
            del blocks[path]
        known = KnownBlocks(blocks, snapshot.paths)
        by_name = tuple((path, snapshot.entries.outline_size(path) // CHARACTERS_PER_TOKEN) for path in named)
        return MapPart(_COMPLETE + text + LIST_FENCE, full, known, by_name=by_name)
    framing = count(_PARTIAL) + count(LIST_FENCE)
    lines, spent, unlisted = fit_folders(snapshot, ranking.order, room, count, framing)
    if not lines:
        return MapPart(unlisted=unlisted)
    fitted = fit_outlines(snapshot, ranking, room - spent, count, whole)
    text = _PARTIAL + "".join(lines)
    if fitted.entries:
        text += OUTLINES + "".join(fitted.entries[path] for path in sorted(fitted.entries))
    blocks = {path: _block(snapshot, path) for path in fitted.entries}
    known = KnownBlocks(blocks, snapshot.paths)
    text += LIST_FENCE
    return MapPart(text, spent + fitted.tokens, known, fitted.unoutlined, unlisted, in_part=fitted.in_part)


def reuse_frozen_map(
    snapshot: Snapshot, frozen: FrozenMap, room: int, least: int, count: Count
) -> tuple[MapPart, MapPart] | None:
    """The frozen map unchanged, and the changes to it; None if a new map is due.

    It is due if the frozen one does not fit, if it has much less than would fit now (``least`` tokens), or if
    the changes exceed :data:`REFREEZE`.
    """
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
    """The changes to the map since it was shown, in at most ``room`` tokens.

    ``whole`` are files whose whole text the model knows, so that their definitions are not sent.
    """
    blocks: dict[str, str] = {}
    outlines: dict[str, str] = {}
    listed = project_paths(snapshot.paths)
    for path, before in shown_blocks(shown).items():
        if not before or path in whole or path not in listed or snapshot.unread.get(path) in _WITHHELD:
            continue  # an outline that was sent before its file was removed cannot be taken back
        block = _block(snapshot, path)
        if before != block:
            outlines[path] = block
            blocks[path] = changed_block(before, block)
    added, gone = _difference(known_paths(shown), snapshot.paths)
    unedited = unedited_in(snapshot)
    for path in added:
        blocks[path] = _entry(snapshot, path, unedited(path))
        outlines[path] = "" if unedited(path) else blocks[path]
    for path in gone:
        blocks[path] = f"{file_block(path, '').rstrip()}: gone\n"
    spent = count(_DELTA) + count(LIST_FENCE)
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
    taken = frozenset(path for path in fitting if path not in listed)
    return MapPart(
        _DELTA + "".join(blocks[path] for path in fitting) + LIST_FENCE,
        spent,
        outlines,
        tuple(unoutlined),
        gone=taken,
    )


def more_outlines(
    snapshot: Snapshot,
    ranking: Ranking,
    known: Mapping[str, str],
    files: Collection[str],
    room: int,
    count: Count,
) -> MapPart:
    """Outlines for a following request, in at most ``room`` tokens: of files that seem to matter, of which
    the model knows neither the definitions (``known``, by path) nor any text (``files``)."""
    if room < _LEAST_MORE:
        return MapPart()
    shown = shown_blocks(known)
    likely = (
        path
        for path in ranking.order.top
        if not shown.get(path) and path not in files and ranking.scores.get(path, 0.0) >= _LEAST_SCORE
    )
    found = outlines_of(islice(likely, _MOST_MORE), snapshot, ranking, room - count(LIST_FENCE), count, _MORE)
    if not found.entries:
        return MapPart()
    text = _MORE + "".join(found.entries[path] for path in sorted(found.entries)) + LIST_FENCE
    blocks = {path: _block(snapshot, path) for path in found.entries}
    return MapPart(text, found.tokens + count(LIST_FENCE), blocks, in_part=found.in_part)


def _difference(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The paths that were added, and those that are gone."""
    if before is now:
        return [], []
    known, listed = set(before), set(now)
    return [path for path in now if path not in known], [path for path in before if path not in listed]


def _entry(snapshot: Snapshot, path: str, by_name: bool) -> str:
    """A file's block in a complete map, which has files that nobody edits by hand by name alone."""
    return file_block(path, "") if by_name else _block(snapshot, path)


def _block(snapshot: Snapshot, path: str) -> str:
    return snapshot.entries.block(path)
