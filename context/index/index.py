"""The index of a project: where each file is stored, and which stored files are current.

Its parts are one draft in memory, which takes the files that were saved, and segments on disk. One thread
changes the index; :meth:`Index.view` returns values that any thread may read.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from context.index.cache import FileList, Store
from context.index.entries import GONE, Entries, place, split_place
from context.index.memory_segment import MemorySegment
from context.index.part import Facts, Part
from context.index.postings import Words
from context.index.segment import DamagedSegment, Segment
from context.index.segment_writing import write_segment

_FOLD = 2_000
"""Number of differences from the shared table of places above which a new table is made."""
_MOST_SEGMENTS = 4
_MOST_OUTDATED = 1_000
"""Number of outdated files from which segments are merged, if they are also half of all."""


@dataclass(frozen=True, slots=True)
class Merging:
    """A merge of segments: their parts in the index, their names, and their live files at the start."""

    parts: tuple[int, ...]
    names: tuple[str, ...]
    live: tuple[bytes, ...]
    to: str


class Index:
    """The known files of one project."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.skipped: dict[str, tuple[int, str]] = {}
        """Files that gave no text, with their stamps and the reasons."""
        self._parts: list[Part] = [MemorySegment()]
        self._live: list[bytearray] = [bytearray()]
        self._frozen: list[bytes | None] = [b""]
        self._stamps: list[array[int]] = [array("Q")]
        self._places: dict[str, int] = {}
        self._newer: dict[str, int] = {}
        self._files = 0
        self._length = 0
        self._size = 0
        self._unsaved = False

    def __len__(self) -> int:
        return self._files

    def load(self) -> None:
        """Load the cache."""
        stored = self.store.load()
        first = len(self._parts)
        for segment in stored.segments:
            self._append(segment)
        places: dict[str, int] = {}
        for path, at, number, stamp in stored.files:
            index = first + at
            places[path] = place(index, number)
            self._count(index, number, stamp)
        self._places = places
        self.skipped = stored.skipped
        self._unsaved = False

    def _append(self, part: Part) -> int:
        self._parts.append(part)
        self._live.append(bytearray(len(part)))
        self._frozen.append(None)
        self._stamps.append(array("Q", bytes(8 * len(part))))
        return len(self._parts) - 1

    def _count(self, index: int, number: int, stamp: int) -> None:
        self._live[index][number] = 1
        self._stamps[index][number] = stamp
        self._frozen[index] = None
        self._files += 1
        self._length += self._parts[index].lengths[number]
        self._size += self._parts[index].outline_size(number)

    def place(self, path: str) -> int | None:
        """A file's place in the index, or None."""
        at = self._newer.get(path)
        if at is None:
            at = self._places.get(path)
        return None if at == GONE else at

    def stamp(self, path: str) -> int:
        """The stamp of a file when it was read; 0 if it must be read again."""
        at = self.place(path)
        if at is None:
            return 0
        index, number = split_place(at)
        return self._stamps[index][number]

    def digest(self, path: str) -> str:
        """The hash of a file's content; empty if the file is not in the index."""
        at = self.place(path)
        return "" if at is None else self._parts[split_place(at)[0]].digest(split_place(at)[1])

    def paths(self) -> list[str]:
        """The paths of all known files."""
        known = [path for path in self._places if path not in self._newer]
        return known + [path for path, at in self._newer.items() if at != GONE]

    def restore(self, path: str, digest: str, stamp: int) -> bool:
        """Restore an earlier state of a file, such as that of another branch; False if it is not known."""
        for index in range(len(self._parts) - 1, -1, -1):
            number = self._parts[index].find(path, digest)
            if number is not None:
                self._set(path, index, number, stamp)
                return True
        return False

    def add(self, facts: Facts, stamp: int) -> None:
        """Add a file that was read in this process."""
        draft = self._parts[0]
        assert isinstance(draft, MemorySegment)
        number = draft.add(facts)
        self._live[0].append(0)
        self._stamps[0].append(0)
        self._set(facts.path, 0, number, stamp)

    def add_segment(self, file: Path, numbers: Mapping[str, int], stamps: Mapping[str, int]) -> bool:
        """Add a segment that a worker wrote, with the numbers of its files by path; False if it is damaged.

        ``stamps`` has those of these files, and perhaps of others.
        """
        try:
            segment = Segment(file)
        except (OSError, DamagedSegment):
            return False
        index = self._append(segment)
        for path, number in numbers.items():
            self._set(path, index, number, stamps[path])
        return True

    def _set(self, path: str, index: int, number: int, stamp: int) -> None:
        self.skipped.pop(path, None)
        before = self.place(path)
        now = place(index, number)
        self._unsaved = True
        if before == now:
            self._stamps[index][number] = stamp
            return
        self.remove(path)
        self._newer[path] = now
        self._count(index, number, stamp)

    def remove(self, path: str) -> None:
        """Remove a file."""
        at = self.place(path)
        if at is None:
            return
        index, number = split_place(at)
        self._live[index][number] = 0
        self._frozen[index] = None
        self._files -= 1
        self._length -= self._parts[index].lengths[number]
        self._size -= self._parts[index].outline_size(number)
        self._newer[path] = GONE
        self._unsaved = True

    def skip(self, path: str, stamp: int, why: str) -> None:
        """Record that a file gives no text."""
        self.remove(path)
        if self.skipped.get(path) != (stamp, why):
            self.skipped[path] = stamp, why
            self._unsaved = True

    def view(self) -> tuple[Entries, Words]:
        """The current state of the index."""
        if len(self._newer) > _FOLD:
            self._fold()
        live = tuple(self._freeze(index) for index in range(len(self._parts)))
        parts = tuple(self._parts)
        return (
            Entries(parts, self._places, dict(self._newer), self._size),
            Words(parts, live, self._files, self._length),
        )

    def _fold(self) -> None:
        places = self._places | self._newer
        for path, at in self._newer.items():
            if at == GONE:
                del places[path]
        self._places, self._newer = places, {}

    def _freeze(self, index: int) -> bytes:
        found = self._frozen[index]
        if found is None:
            found = self._frozen[index] = bytes(self._live[index])
        return found

    def drop_damaged(self) -> bool:
        """Remove the files of segments that turned out to be damaged; False if there are none."""
        damaged = {at for at, part in enumerate(self._parts) if isinstance(part, Segment) and part.damaged}
        for path in self.paths() if damaged else ():
            place_now = self.place(path)
            if place_now is not None and split_place(place_now)[0] in damaged:
                self.remove(path)
        if damaged:
            self._fold()
        for at in damaged:
            self._empty(at)
        return bool(damaged)

    def _empty(self, at: int) -> None:
        """Replace a part by an empty one."""
        self._parts[at] = MemorySegment()
        self._live[at] = bytearray()
        self._frozen[at] = b""
        self._stamps[at] = array("Q")

    # On disk

    def save(self) -> None:
        """Write what is not on disk yet: the draft as a segment, and the list of files."""
        folder = self.store.prepare()
        if folder is None or not self._unsaved:
            return
        if any(self._live[0]):
            name = self.store.new_name()
            try:
                write_segment([(self._parts[0], bytes(self._live[0]))], folder / name)
                segment = Segment(folder / name)
            except (OSError, DamagedSegment):
                self.store.folder = None
                return
            self._replace((0,), (bytes(self._live[0]),), segment)
        slots = [index for index, part in enumerate(self._parts) if isinstance(part, Segment) and len(part)]
        numbered = {index: at for at, index in enumerate(slots)}
        self._fold()
        # In columns: a tuple for each file would have the garbage collector look at everything there is,
        # which blocks all other threads.
        places, stamps = array("I"), array("Q")
        for at in self._places.values():
            index, number = split_place(at)
            places.append(numbered[index])
            places.append(number)
            stamps.append(self._stamps[index][number])
        names = [part.name for part in (self._parts[index] for index in slots) if isinstance(part, Segment)]
        self.store.save(names, FileList(list(self._places), places, stamps), self.skipped)
        self._unsaved = False

    def to_merge(self) -> Merging | None:
        """The segments to merge, if there are many or most of their files are outdated."""
        slots = [index for index, part in enumerate(self._parts) if isinstance(part, Segment) and len(part)]
        held = sum(len(self._parts[index]) for index in slots)
        live = sum(sum(self._live[index]) for index in slots)
        many = len(slots) > (_MOST_SEGMENTS if held > _MOST_OUTDATED else 1)
        if not many and not (held - live > _MOST_OUTDATED and live * 2 < held):
            return None
        parts = [(index, self._parts[index]) for index in slots]
        names = tuple(part.name for _, part in parts if isinstance(part, Segment))
        return Merging(tuple(slots), names, tuple(bytes(self._live[i]) for i in slots), self.store.new_name())

    def merged(self, merging: Merging, file: Path) -> bool:
        """Replace segments by the merged one; False if that is damaged."""
        try:
            segment = Segment(file)
        except (OSError, DamagedSegment):
            return False
        if len(segment) != sum(sum(map(bool, live)) for live in merging.live):
            return False
        self._replace(merging.parts, merging.live, segment)
        self._unsaved = True
        return True

    def _replace(self, old: tuple[int, ...], live: tuple[bytes, ...], segment: Segment) -> None:
        """Replace the parts ``old`` by ``segment``, which has their ``live`` files in order."""
        index = self._append(segment)
        moved: dict[int, int] = {}
        at = 0
        for part, mask in zip(old, live, strict=True):
            for number, alive in enumerate(mask):
                if alive:
                    moved[place(part, number)] = at
                    at += 1
        self._fold()
        places = dict(self._places)
        lost = []
        for path, before in places.items():
            part, number = split_place(before)
            if part in old:
                now = moved.get(before)
                if now is None:
                    # It was restored meanwhile, in a state that was not merged.
                    lost.append(path)
                    continue
                places[path] = place(index, now)
                self._live[index][now] = 1
                self._stamps[index][now] = self._stamps[part][number]
        for path in lost:
            self.remove(path)
            del places[path]
        self._places, self._newer = places, {}
        for part in old:
            self._empty(part)
