"""A project's files as content that travels to workers: a manifest, and packs named by what is in them.

Files are spread over a fixed number of packs by their paths. A pack keeps its name as long as its files stay
the same, so that only the packs with changed files travel again. Files that hold keys by their names never
travel; neither do those that git ignores, unless the settings name their folder, nor the repository itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from context.disk.file_list import Listing, list_git, list_walk
from context.disk.git import Git, GitUnavailable
from context.text.secrets import may_hold_secrets, redact
from edits.files.path_jail import open_regular, opened_folder
from edits.files.text import FileError

PACKS = 32
MOST_BYTES = 2_000_000_000
"""The most bytes of a project that travels."""
_LARGEST_SEARCHED = 1_000_000
"""Files that git does not track are searched for keys up to this size."""
_FILE, _LINK = "file", "link"
_LENGTH = 8

Entry = tuple[str, str, int]
"""The kind of a file, the SHA-256 of its bytes or what a link leads to, and its permissions."""
Stamp = tuple[int, int, int, int]


class TooLarge(Exception):
    """The project is too large to travel; the message says how large it may be."""


@dataclass(frozen=True, slots=True)
class Content:
    """A project at one moment. ``packs`` are compressed; ``held_back`` counts files that may hold keys."""

    key: str
    manifest: bytes = field(repr=False)
    packs: Mapping[str, bytes] = field(repr=False)
    held_back: int = 0

    @property
    def size(self) -> int:
        """The bytes that travel to a worker that has nothing of it yet."""
        return len(self.manifest) + sum(map(len, self.packs.values()))


@dataclass(frozen=True, slots=True)
class _Pack:
    stamps: Mapping[str, Stamp]
    entries: Mapping[str, Entry]
    data: bytes = field(repr=False)
    held_back: int

    @property
    def key(self) -> str:
        return _digest(self.data)


class ContentReader:
    """Reads the content of ``project`` again and again. It blocks: call it in a worker thread.

    ``sent`` are ignored folders that travel too, such as ``node_modules``.
    """

    def __init__(self, project: Path, sent: Iterable[str] = ()) -> None:
        self._project = project
        self._sent = tuple(sent)
        self._packs: dict[int, _Pack] = {}

    def read(self) -> Content:
        """The project as it is now. Raises TooLarge."""
        tracked, others = self._paths()
        spread: dict[int, dict[str, Stamp]] = {}
        held_back = total = 0
        for path in sorted(tracked | others):
            if may_hold_secrets(path):
                held_back += 1
                continue
            seen = self._stamp(path)
            if seen is None:
                continue
            total += seen[1]
            spread.setdefault(hashlib.sha256(os.fsencode(path)).digest()[0] % PACKS, {})[path] = seen
        if total > MOST_BYTES:
            raise TooLarge(
                f"the project has {total / 1e6:,.0f} MB, and at most {MOST_BYTES / 1e6:,.0f} MB travel"
            )
        self._packs = {number: self._pack(number, stamps, others) for number, stamps in spread.items()}
        packs = {pack.key: pack.data for pack in self._packs.values()}
        entries = {path: entry for pack in self._packs.values() for path, entry in pack.entries.items()}
        listed = {"name": self._project.name, "files": entries, "packs": sorted(packs)}
        manifest = zlib.compress(json.dumps(listed, sort_keys=True).encode(), 1)
        held_back += sum(pack.held_back for pack in self._packs.values())
        return Content(_digest(manifest), manifest, packs, held_back)

    def _paths(self) -> tuple[set[str], set[str]]:
        """The files that git tracks, and the others that travel."""
        try:
            git = Git.open(self._project)
            listing = list_git(git)
            tracked = set(os.fsdecode(git.run("ls-files", "-z")).split("\0")) & set(listing.files)
        except GitUnavailable:
            listing, tracked = list_walk(self._project), set()
        return tracked, (set(listing.files) - tracked) | set(self._ignored(listing))

    def _ignored(self, listing: Listing) -> Iterator[str]:
        for folder in self._sent:
            if any(folder == each or folder.startswith(f"{each}/") for each in listing.ignored):
                for below, _, names in os.walk(self._project / folder):
                    inside = Path(below).relative_to(self._project)
                    yield from ((inside / name).as_posix() for name in names)

    def _stamp(self, path: str) -> Stamp | None:
        """A stamp that changes with the file; None for what is no file or link."""
        try:
            with self._folder(path) as (folder, name):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (OSError, FileError):
            return None
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISLNK(status.st_mode):
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode

    @contextmanager
    def _folder(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder of a file, and its name there. A folder that has become a link may lead out of the
        project: it raises FileError."""
        *folders, name = path.split("/")
        with opened_folder(self._project, tuple(folders)) as folder:
            yield folder, name

    def _pack(self, number: int, stamps: Mapping[str, Stamp], others: set[str]) -> _Pack:
        known = self._packs.get(number)
        if known is not None and known.stamps == stamps:
            return known
        entries: dict[str, Entry] = {}
        contents: dict[str, bytes] = {}
        held_back = 0
        for path, (*_, mode) in stamps.items():
            try:
                with self._folder(path) as (folder, name):
                    if stat.S_ISLNK(mode):
                        entries[path] = (_LINK, os.readlink(name, dir_fd=folder), 0)
                        continue
                    with os.fdopen(open_regular(folder, name), "rb") as file:
                        content = file.read()
            except (OSError, FileError):
                continue  # it has gone meanwhile, or nobody may read it
            if path in others and _holds_keys(content):
                held_back += 1
                continue
            digest = _digest(content)
            contents[digest] = content
            entries[path] = (_FILE, digest, stat.S_IMODE(mode) & 0o777)
        return _Pack(stamps, entries, pack(contents), held_back)


def files_of(manifest: bytes) -> tuple[str, Mapping[str, Entry]]:
    """The name of the project's folder and its files. Raises ValueError for what is no manifest."""
    try:
        listed = json.loads(zlib.decompress(manifest))
        return str(listed["name"]), {
            path: (kind, what, mode) for path, (kind, what, mode) in listed["files"].items()
        }
    except (zlib.error, KeyError, TypeError) as problem:
        raise ValueError(f"no manifest: {problem}") from problem


def pack(contents: Mapping[str, bytes]) -> bytes:
    """The contents of files, by their SHA-256, as one pack; the same contents give the same bytes."""
    parts: list[bytes] = []
    for digest in sorted(contents):
        content = contents[digest]
        parts += [bytes.fromhex(digest), len(content).to_bytes(_LENGTH, "big"), content]
    return zlib.compress(b"".join(parts), 1)


def unpacked(data: bytes) -> Iterator[tuple[str, bytes]]:
    """The contents in a pack. Raises ValueError where one is not what its SHA-256 says."""
    try:
        raw = zlib.decompress(data)
    except zlib.error as problem:
        raise ValueError(f"no pack: {problem}") from problem
    at = 0
    while at < len(raw):
        start = at + 32 + _LENGTH
        length = int.from_bytes(raw[at + 32 : start], "big")
        content = raw[start : start + length]
        if hashlib.sha256(content).digest() != raw[at : at + 32]:
            raise ValueError("a pack is damaged")
        yield raw[at : at + 32].hex(), content
        at = start + length


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _holds_keys(content: bytes) -> bool:
    """Whether a file that git does not track has a key in it."""
    if len(content) > _LARGEST_SEARCHED or b"\0" in content[:8_000]:
        return False
    return bool(redact(content.decode("utf-8", "replace")).kinds)
