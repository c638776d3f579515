"""The index on disk: one cache folder per project, with segments, a list of the files in them,
and the history of commits.

Segments never change and have unique names, and the list is replaced as a whole: a reader sees its old
content or its new one. So several processes can work on one project, and the last to save decides what the
next one starts with. It is a cache: anything missing or damaged is computed again, and a failure to write
is ignored.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO
from zlib import crc32

from context.disk.git import Git
from context.index.commit_history import History, read_history
from context.index.segment import DamagedSegment, Segment


@contextmanager
def replacing(file: Path) -> Iterator[BinaryIO]:
    """A file to write the next content of ``file`` to, which takes its place at the end.

    After an error it is deleted and ``file`` is unchanged. It is not synced to disk, since a cache that a
    power cut damaged is computed again. Raises OSError.
    """
    temporary = file.with_name(f"{file.name}.{os.urandom(8).hex()}.new")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
        temporary.replace(file)
    except BaseException:  # A Ctrl+C leaves no file behind either.
        temporary.unlink(missing_ok=True)
        raise


_FORMAT = 9
_LIST, _HISTORY = "files", "history"
_AT_ONCE, _BYTES_AT_ONCE = 5_000, 200_000
"""Number of paths that are joined, and of bytes that are split, at once."""
_KEPT = 3600
"""Seconds that an unlisted segment is kept, since another process may be about to list it."""


@dataclass(frozen=True, slots=True)
class FileList:
    """The known files in columns: paths; for each its segment and its number in that; and stamps."""

    paths: list[str]
    places: array[int]
    stamps: array[int]


@dataclass(frozen=True, slots=True)
class Stored:
    """The contents of the cache.

    ``files`` are path, segment, number and stamp of each file; ``skipped`` has the stamp and the reason of
    each file that gave no text.
    """

    segments: list[Segment] = field(default_factory=list)
    files: Iterable[tuple[str, int, int, int]] = ()
    skipped: dict[str, tuple[int, str]] = field(default_factory=dict)


class Store:
    """The index of one project on disk; without a ``folder`` nothing is kept."""

    def __init__(self, folder: Path | None, root: Path) -> None:
        name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.folder = None if folder is None else folder / f"index-{name}-{_version()}"

    def prepare(self) -> Path | None:
        """Create the folder if necessary; None if there is none or it cannot be created."""
        if self.folder is not None:
            try:
                for folder in (*reversed(self.folder.parents), self.folder):
                    if not folder.is_dir():
                        # It holds what the project says: Path.mkdir would make parents for everybody.
                        folder.mkdir(mode=0o700, exist_ok=True)
            except OSError:
                self.folder = None
        return self.folder

    def new_name(self) -> str:
        """A unique name for a segment."""
        return f"{os.urandom(16).hex()}.segment"

    def load(self) -> Stored:
        """Read everything on disk; the result is empty if the list or one of its segments is damaged."""
        if self.folder is None:
            return Stored()
        try:
            data = (self.folder / _LIST).read_bytes()
            head, _, body = data.partition(b"\n")
            table = json.loads(head)
            if table["checksum"] != crc32(body):
                raise DamagedSegment(f"{self.folder} has a damaged list")
            return self._unpacked(table, body)
        except (OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError, DamagedSegment):
            return Stored()

    def _unpacked(self, table: Mapping[str, list[str]], body: bytes) -> Stored:
        assert self.folder is not None
        segments = [Segment(self.folder / name) for name in table["segments"]]
        cuts = [0, *map(int, table["cuts"])]
        paths_part, places_part, stamps_part = (body[start:end] for start, end in pairwise(cuts))
        paths = list(_split(paths_part))
        places, stamps = array("I"), array("Q")
        places.frombytes(places_part)
        stamps.frombytes(stamps_part)
        if len(places) != 2 * len(paths) or len(stamps) != len(paths):
            raise DamagedSegment("the list's parts differ in length")
        counts = [len(segment) for segment in segments]
        listed = zip(paths, places[::2], places[1::2], stamps, strict=True)
        if places and max(places[::2]) >= len(segments):
            raise DamagedSegment("the list names a segment that is not there")
        # Lazily, since a list of so many tuples would keep the garbage collector busy.
        files = (entry for entry in listed if entry[2] < counts[entry[1]])
        skipped = {entry[0]: (int(entry[1]), str(entry[2])) for entry in table["skipped"]}
        return Stored(segments, files, skipped)

    def save(
        self,
        segments: list[str],
        files: FileList,
        skipped: Mapping[str, tuple[int, str]],
    ) -> None:
        """Replace the list, and delete segments that no list has named for a while."""
        folder = self.prepare()
        if folder is None:
            return
        try:
            # Mark our segments as used, so that no other process deletes them as old.
            for name in segments:
                os.utime(folder / name)
        except OSError:
            # Another process deleted one of ours as old, so its list is the better one.
            return
        paths = b"\0".join(
            "\0".join(files.paths[at : at + _AT_ONCE]).encode("utf-8", "surrogateescape")
            for at in range(0, len(files.paths), _AT_ONCE)
        )
        body = b"".join((paths, files.places.tobytes(), files.stamps.tobytes()))
        ends = [len(paths), len(paths) + 4 * len(files.places), len(body)]
        table = {
            "segments": segments,
            "cuts": ends,
            "checksum": crc32(body),
            "skipped": [[path, stamp, why] for path, (stamp, why) in skipped.items()],
        }
        try:
            with replacing(folder / _LIST) as out:
                out.write(json.dumps(table).encode() + b"\n" + body)
            self._tidy(folder, frozenset(segments))
        except OSError:
            self.folder = None

    def _tidy(self, folder: Path, named: frozenset[str]) -> None:
        before = time.time() - _KEPT
        with os.scandir(folder) as files:
            for file in files:
                old = file.name not in named and file.name != _LIST and file.stat().st_mtime < before
                if old and file.name.endswith((".segment", ".new")):
                    Path(file.path).unlink(missing_ok=True)


def _split(held: bytes) -> Iterator[str]:
    """The paths in a list, some at a time: other threads wait meanwhile."""
    start = 0
    while start < len(held):
        end = held.find(b"\0", start + _BYTES_AT_ONCE)
        end = len(held) if end < 0 else end
        yield from os.fsdecode(held[start:end]).split("\0")
        start = end + 1


@lru_cache(maxsize=1)
def _version() -> str:
    """A version that changes with the format, languages, queries and rules that the index depends on."""
    code, text = resources.files("context.code"), resources.files("context.text")
    files = [
        code / "languages.toml",
        code / "plain.toml",
        text / "generated.toml",
        text / "secrets.toml",
        text / "public_secrets.toml",
    ]
    files += sorted((code / "queries").iterdir(), key=lambda file: file.name)
    digest = hashlib.sha256(str(_FORMAT).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


class HistoryStore:
    """The history of one project in the cache: read if it is still valid, written when it was extended."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def read(self, git: Git, known: History) -> History:
        """Like :func:`read_history`, starting from the cached history. Raises GitUnavailable."""
        known = known if known.head else self._load(git.prefix)
        found = read_history(git, known)
        if found.head != known.head:
            self._save(git.prefix, found)
        return found

    def _load(self, prefix: str) -> History:
        if self._store.folder is None:
            return History()
        try:
            held = json.loads((self._store.folder / _HISTORY).read_bytes())
            head, names, commits = held["head"], held["paths"], held["commits"]
            messages = tuple(map(str, held["messages"]))
            if held["prefix"] != prefix or not isinstance(head, str) or len(messages) != len(commits):
                return History()
            return History(
                head, tuple(tuple(str(names[at]) for at in commit) for commit in commits), messages
            )
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return History()

    def _save(self, prefix: str, history: History) -> None:
        folder = self._store.prepare()
        if folder is None:
            return
        numbers: dict[str, int] = {}
        commits = [[numbers.setdefault(path, len(numbers)) for path in commit] for commit in history.commits]
        held = {
            "head": history.head,
            "prefix": prefix,
            "paths": list(numbers),
            "commits": commits,
            "messages": history.messages,
        }
        # If it cannot be written, it is read from git again next time.
        with suppress(OSError), replacing(folder / _HISTORY) as out:
            out.write(json.dumps(held).encode("ascii"))
