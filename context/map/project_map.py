"""The project map: every file's outline where all fit, else the list of paths and outlines by rank.

It stands early in the window and is sent once a conversation; later turns send only the outlines that
changed, so that the server's prompt cache keeps the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from context.index.entries import file_block
from context.map.blocks import KnownBlocks, known_paths, shown_blocks
from context.map.folders import fit_folders
from context.map.limits import CHARACTERS, SURELY, Count
from context.map.outlines import OUTLINES, fit_outlines
from context.project.project_paths import project_paths
from context.project.snapshot import REMOVED

if TYPE_CHECKING:
    from context.find.ranking import Ranking
    from context.map.blocks import FrozenMap
    from context.project.snapshot import Snapshot

_COMPLETE = (
    "## Project map\n\nEvery file of the project with the definitions in it, in path order (what is built, "
    "generated or vendored by its name alone). Blocks further down override earlier ones.\n\n"
)
_PARTIAL = (
    "## Project map\n\nThe files of the project by folder, then the definitions in those that matter most, "
    "in path order (a last line tells how many more a file has). "
    "Blocks further down override earlier ones.\n\n"
)
REFREEZE = 8_000
"""Tokens of changes to a frozen map from which a new map is cheaper."""
_DELTA = (
    "## Project map: what changed in it\n\nThese entries override the earlier ones of the same files. "
    "Where only some definitions changed, `-` marks what is gone and `+` what is there now.\n\n"
)
_WORTH = 0.7
"""The changed definitions alone are worth it with at most this share of the whole entry's characters."""
_MOST_COMPARED = 4_000_000
"""Lines of an entry before times lines after, up to which they are compared."""


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
    in_part: int = 0
    """How many outlines show only the definitions that match best."""
    by_name: tuple[tuple[str, int], ...] = ()
    """Files that a complete map has by name alone, with about how many tokens their outlines are."""

    @property
    def outlined(self) -> int:
        """How many files are there with their definitions."""
        return sum(1 for block in shown_blocks(self.outlines).values() if block)


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
    """The lines before ``line`` that enclose it, by their indentation."""
    depth = len(line) - len(line.lstrip(" "))
    return [other for other in enclosing if len(other) - len(other.lstrip(" ")) < depth]


def full_cost(snapshot: Snapshot, count: Count, room: int) -> int:
    """Tokens of the map with every outline; where that is far from fitting in ``room``, about how many."""
    size = project_paths(snapshot.paths).size + snapshot.entries.size - snapshot.words.unedited_size
    if size > room * SURELY:
        return size // CHARACTERS
    return count(_COMPLETE) + sum(count(_entry(snapshot, path)) for path in snapshot.paths)


def list_cost(snapshot: Snapshot, count: Count, room: int) -> int:
    """Tokens of the map with every path and nothing else, at most ``room``."""
    spent = count(_PARTIAL)
    for line in project_paths(snapshot.paths).lines.values():
        if spent >= room:
            return room
        spent += count(line)
    return min(spent, room)


def build_map(
    snapshot: Snapshot, ranking: Ranking, room: int, count: Count, whole: frozenset[str], full: int
) -> MapPart:
    """The map in at most ``room`` tokens. ``order`` is all paths by rank; ``whole`` are files whose text
    the window shows anyway: where room is short they are outlined last of all.
    ``full`` is :func:`full_cost`."""
    if not snapshot.paths:
        return MapPart()
    if full <= room:
        blocks = {path: _entry(snapshot, path) for path in snapshot.paths}
        text = "".join(blocks.values())
        named = [path for path in snapshot.paths if _by_name(snapshot, path)]
        for path in named:
            del blocks[path]
        known = KnownBlocks(blocks, snapshot.paths)
        by_name = tuple((path, snapshot.entries.outline_size(path) // CHARACTERS) for path in named)
        return MapPart(_COMPLETE + text, full, known, by_name=by_name)
    lines, spent, unlisted = fit_folders(snapshot, ranking.order, room, count, count(_PARTIAL))
    if not lines:
        return MapPart(unlisted=unlisted)
    fitted = fit_outlines(snapshot, ranking, room - spent, count, whole)
    text = _PARTIAL + "".join(lines)
    if fitted.entries:
        text += OUTLINES + "".join(fitted.entries[path] for path in sorted(fitted.entries))
    blocks = {path: _block(snapshot, path) for path in fitted.entries}
    known = KnownBlocks(blocks, snapshot.paths)
    return MapPart(text, spent + fitted.tokens, known, fitted.unoutlined, unlisted, in_part=fitted.in_part)


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
    listed = project_paths(snapshot.paths)
    for path, before in shown_blocks(shown).items():
        if not before or path in whole or path not in listed or snapshot.unread.get(path) == REMOVED:
            continue  # what was shown of a removed one cannot be taken back
        block = _block(snapshot, path)
        if before != block:
            outlines[path] = block
            blocks[path] = changed_block(before, block)
    added, gone = _difference(known_paths(shown), snapshot.paths)
    for path in added:
        blocks[path] = _entry(snapshot, path)
        outlines[path] = "" if _by_name(snapshot, path) else blocks[path]
    for path in gone:
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
    taken = frozenset(path for path in fitting if path not in listed)
    return MapPart(
        _DELTA + "".join(blocks[path] for path in fitting), spent, outlines, tuple(unoutlined), gone=taken
    )


def _difference(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Which paths were added, and which are gone."""
    if before is now:
        return [], []
    known, listed = set(before), set(now)
    return [path for path in now if path not in known], [path for path in before if path not in listed]


def _entry(snapshot: Snapshot, path: str) -> str:
    """A file's block in a complete map."""
    return file_block(path, "") if _by_name(snapshot, path) else _block(snapshot, path)


def _by_name(snapshot: Snapshot, path: str) -> bool:
    """Whether a file, as one that nobody edits by hand, stands in a complete map by its name alone."""
    unedited = snapshot.words.unedited
    return bool(unedited) and snapshot.entries.place(path) in unedited


def _block(snapshot: Snapshot, path: str) -> str:
    return snapshot.entries.block(path)
