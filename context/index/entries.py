"""An immutable view of the index, by path; each file's data is looked up when needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from context.disk.changes import Lines
from context.index.part import Part
from context.text.safe import unfenced

GONE = -1
_MOST_CACHED, _MOST_LONG_CACHED = 4_000, 64
"""Numbers of blocks that are cached per part of the index: of short ones, and of long ones."""
_LONG = 8_000
"""Length in characters above which a block is long."""
_PART_BITS = 32
_NUMBER = (1 << _PART_BITS) - 1


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A text file: the hash of its content, its outline and its names."""

    path: str
    digest: str
    outline: str
    names: frozenset[str]
    """The names that it defines for other files."""

    @property
    def block(self) -> str:
        """The file in the project map: its path and its outline."""
        return file_block(self.path, self.outline)


def file_block(path: str, outline: str) -> str:
    """A file's entry in the map. Counts of such blocks add up exactly (see ``context.text.tokens``)."""
    name = f"./{path}" if path[0].isspace() else path
    if not outline:
        return f"{name}\n"
    outline = unfenced(outline)
    if "\n\n" in outline or outline[0] == "\n":
        outline = "".join(f"{line}\n" for line in outline.split("\n") if line)
    inside = outline.removesuffix("\n").replace("\n", "\n ")
    return f"{name}:\n {inside}\n" if inside else f"{name}:\n"


def place(part: int, number: int) -> int:
    """A file's place in the index as one number: the part, and the number in it."""
    return part << _PART_BITS | number


def split_place(at: int) -> tuple[int, int]:
    """The part of the index and the number in it, from a place."""
    return at >> _PART_BITS, at & _NUMBER


@dataclass(frozen=True)
class Entries(Mapping[str, FileEntry]):
    """Files by path.

    ``places`` is shared between snapshots and never changes; ``newer`` has the few that differ from it
    (:data:`GONE` for a removed file).
    """

    parts: tuple[Part, ...] = ()
    places: Mapping[str, int] = field(default_factory=dict)
    newer: Mapping[str, int] = field(default_factory=dict)
    size: int = 0
    """The approximate size of all outlines in bytes."""

    def place(self, path: str) -> int | None:
        """A file's place in the index, or None."""
        at = self.newer.get(path)
        if at is None:
            return self.places.get(path)
        return None if at == GONE else at

    def __getitem__(self, path: str) -> FileEntry:
        at = self.place(path)
        if at is None:
            raise KeyError(path)
        index, number = split_place(at)
        part = self.parts[index]
        return FileEntry(
            path, part.digest(number), part.outline(number), frozenset(part.names(number).split())
        )

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self.place(path) is not None

    def __iter__(self) -> Iterator[str]:
        newer = self.newer
        yield from (path for path in self.places if path not in newer)
        yield from (path for path, at in newer.items() if at != GONE)

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        if not self.newer:
            return len(self.places)
        kept = sum(1 for path in self.newer if path in self.places)
        return len(self.places) - kept + sum(1 for at in self.newer.values() if at != GONE)

    def without(self, paths: Iterable[str]) -> Entries:
        """The entries without those of ``paths``."""
        return replace(self, newer={**self.newer, **dict.fromkeys(paths, GONE)})

    def digest(self, path: str) -> str:
        """A file's hash; empty if the file is not in the index."""
        at = self.place(path)
        if at is None:
            return ""
        index, number = split_place(at)
        return self.parts[index].digest(number)

    def block(self, path: str) -> str:
        """A file's block in the project map; only its name if it is not in the index."""
        at = self.place(path)
        if at is None:
            return file_block(path, "")
        index, number = split_place(at)
        part = self.parts[index]
        found = part.blocks.get(number) or part.long_blocks.get(number)
        if found is None:
            found = file_block(path, part.outline(number))
            is_long = len(found) > _LONG
            cached, most = (part.long_blocks, _MOST_LONG_CACHED) if is_long else (part.blocks, _MOST_CACHED)
            if len(cached) >= most:
                cached.clear()
            cached[number] = found
        return found

    def outline(self, path: str) -> str:
        """A file's outline; empty if the file is not in the index."""
        at = self.place(path)
        if at is None:
            return ""
        index, number = split_place(at)
        return self.parts[index].outline(number)

    def layout(self, path: str, digest: str) -> bytes:
        """The packed line ranges of the definitions in this version of a file; empty if unknown."""
        at = self.place(path)
        if at is None:
            return b""
        index, number = split_place(at)
        part = self.parts[index]
        return part.layout(number) if part.digest(number) == digest else b""

    def lines(self, path: str) -> Lines | None:
        """The checksums of a file's lines, if the index has them."""
        at = self.place(path)
        if at is None:
            return None
        index, number = split_place(at)
        return self.parts[index].lines(number)

    def outline_size(self, path: str) -> int:
        """The approximate size of a file's outline in bytes."""
        at = self.place(path)
        if at is None:
            return 0
        index, number = split_place(at)
        return self.parts[index].outline_size(number)
