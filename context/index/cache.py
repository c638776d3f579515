"""The index on disk: a folder a project in the cache, with segments and the list of files that points into
them.

Segments never change and have names of their own, and the list is replaced as a whole, so several sparks
on one project can each keep their own: the last to save decides what the next one starts with. It is a
cache: what is missing, damaged or cannot be written is done again.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from itertools import pairwise
from pathlib import Path
from zlib import crc32

from context.disk.replace_file import replacing
from context.index.segment import DamagedSegment, Segment

_FORMAT = 6
_LIST = "files"
_KEPT = 3600
"""Seconds that a segment stays which no list names: another process may be about to."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What the disk knows: segments, the files in them (path, segment, number, stamp), and files that gave
    no text (stamp and why by path)."""

    segments: list[Segment] = field(default_factory=list)
    files: Iterable[tuple[str, int, int, int]] = ()
    skipped: dict[str, tuple[int, str]] = field(default_factory=dict)


class Store:
    """The index of one project on disk, or none where ``folder`` is None."""

    def __init__(self, folder: Path | None, root: Path) -> None:
        name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self.folder = None if folder is None else folder / f"index-{name}-{_version()}"

    def prepare(self) -> Path | None:
        """The folder, made; None when there is none to be had."""
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError:
                self.folder = None
        return self.folder

    def new_name(self) -> str:
        """A name that no other segment has."""
        return f"{os.urandom(16).hex()}.segment"

    def load(self) -> Stored:
        """All that is on disk; nothing, when the list or a segment of it is damaged."""
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
        paths = os.fsdecode(paths_part).split("\0") if paths_part else []
        places, stamps = array("I"), array("Q")
        places.frombytes(places_part)
        stamps.frombytes(stamps_part)
        if len(places) != 2 * len(paths) or len(stamps) != len(paths):
            raise DamagedSegment("the list's parts differ in length")
        counts = [len(segment) for segment in segments]
        listed = zip(paths, places[::2], places[1::2], stamps, strict=True)
        if places and max(places[::2]) >= len(segments):
            raise DamagedSegment("the list names a segment that is not there")
        # One by one: a list of so many tuples would busy the collector of garbage.
        files = (entry for entry in listed if entry[2] < counts[entry[1]])
        skipped = {entry[0]: (int(entry[1]), str(entry[2])) for entry in table["skipped"]}
        return Stored(segments, files, skipped)

    def save(
        self,
        segments: list[str],
        files: list[tuple[str, int, int, int]],
        skipped: Mapping[str, tuple[int, str]],
    ) -> None:
        """Keep these as all there is, and drop segments that nothing names any more."""
        folder = self.prepare()
        if folder is None:
            return
        try:
            # Ours are in use: no other process is to take them for old.
            for name in segments:
                os.utime(folder / name)
        except OSError:
            # Another process has tidied ours away: its list is the better one.
            return
        paths = "\0".join(entry[0] for entry in files).encode("utf-8", "surrogateescape")
        places = array("I", (value for entry in files for value in entry[1:3]))
        stamps = array("Q", (entry[3] for entry in files))
        body = b"".join((paths, places.tobytes(), stamps.tobytes()))
        ends = [len(paths), len(paths) + 4 * len(places), len(body)]
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


@lru_cache(maxsize=1)
def _version() -> str:
    """Changes whenever what is known of a file may: with format, languages, queries and rules."""
    code, text = resources.files("context.code"), resources.files("context.text")
    files = [code / "languages.toml", text / "generated.toml", text / "secrets.toml"]
    files += sorted((code / "queries").iterdir(), key=lambda file: file.name)
    digest = hashlib.sha256(str(_FORMAT).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
