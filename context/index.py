"""What is known of each file's content, by its hash: outline, names, words, line checksums; kept on disk.

The cache is one SQLite file a project. SQLite's own locks let several sparks share it; it is a cache, so
when it is damaged, locked for long or cannot be written, the work is simply done again.
"""

from __future__ import annotations

import hashlib
import sqlite3
from array import array
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from context.blocks import harmless
from context.changes import Lines, line_sums
from context.languages import language_of
from context.outline import outline
from context.redact import redact
from context.source import Source
from context.words import words

_FORMAT = 1
_WAIT = 2.0
"""Seconds to wait for another process that is writing the cache."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, outline TEXT, names TEXT, words TEXT, lines BLOB);
CREATE TABLE IF NOT EXISTS files (path TEXT PRIMARY KEY, stamp TEXT, key TEXT, digest TEXT);
"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What one content, read as one language, holds."""

    key: str
    outline: str
    """The rendered outline, secrets masked."""
    names: frozenset[str]
    """Names defined for others."""
    packed_words: str
    """The words with their counts, as text: a third of a dictionary's memory."""
    lines: Lines

    @property
    def words(self) -> dict[str, int]:
        """The words of the text and, again, of the defined names, with their counts."""
        fields = self.packed_words.split(" ") if self.packed_words else []
        return dict(zip(fields[::2], map(int, fields[1::2]), strict=True))


@dataclass(frozen=True, slots=True)
class Known:
    """A file as the cache last saw it. ``stamp`` tells whether it may have changed since; a file that gave
    no text has an empty ``key``, and why in ``digest``."""

    stamp: str
    key: str
    digest: str


def key_of(path: str, digest: str) -> str:
    """The cache key of a content: outlines differ by language, so by the file's name too."""
    language = language_of(path)
    return f"{digest}:{language.name if language else ''}"


def facts_of(source: Source) -> Facts:
    """Read a content: parse, outline, collect words."""
    found = outline(source.path, source.text)
    counted = words(source.text)
    counted.update(words(" ".join(found.names)))
    return Facts(
        key_of(source.path, source.digest),
        harmless(redact(found.text).text),
        found.names,
        " ".join(f"{word} {count}" for word, count in counted.items()),
        line_sums(source),
    )


class Cache:
    """The facts of one project on disk. Every method is safe on a missing, damaged or read-only cache."""

    def __init__(self, folder: Path | None, root: Path) -> None:
        name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._file = None if folder is None else folder / f"outlines-{name}-{_version()}.sqlite"

    def load(self) -> tuple[dict[str, Known], dict[str, Facts]]:
        """All that is cached: files by path, facts by key."""
        if self._file is None or not self._file.exists():
            return {}, {}
        try:
            with closing(self._open()) as store:
                files = {
                    path: Known(stamp, key, digest)
                    for path, stamp, key, digest in store.execute(
                        "SELECT path, stamp, key, digest FROM files"
                    )
                }
                facts = {
                    row[0]: unpack_facts(*row)
                    for row in store.execute("SELECT key, outline, names, words, lines FROM facts")
                }
        except (sqlite3.Error, ValueError, TypeError, AttributeError):
            self._discard()
            return {}, {}
        return files, facts

    def save(self, files: dict[str, Known], facts: Iterable[Facts]) -> None:
        """Keep ``files`` as all there is, add ``facts``, and drop those of no file."""
        if self._file is None:
            return
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as store, store:
                store.execute("DELETE FROM files")
                store.executemany(
                    "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?)",
                    ((path, known.stamp, known.key, known.digest) for path, known in files.items()),
                )
                store.executemany(
                    "INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?)", map(pack_facts, facts)
                )
                store.execute("DELETE FROM facts WHERE key NOT IN (SELECT key FROM files)")
        except sqlite3.DatabaseError as problem:
            if not isinstance(problem, sqlite3.OperationalError):
                self._discard()
        except OSError:
            self._file = None

    def _open(self) -> sqlite3.Connection:
        assert self._file is not None
        store = sqlite3.connect(self._file, timeout=_WAIT)
        store.execute("PRAGMA synchronous = OFF")
        store.executescript(_SCHEMA)
        return store

    def _discard(self) -> None:
        if self._file is not None:
            try:
                self._file.unlink(missing_ok=True)
            except OSError:
                self._file = None


def pack_facts(facts: Facts) -> tuple[str, str, str, str, bytes]:
    """Facts as plain values, for the disk and for other processes."""
    return facts.key, facts.outline, " ".join(sorted(facts.names)), facts.packed_words, facts.lines.tobytes()


def unpack_facts(key: str, text: str, names: str, counted: str, lines: bytes) -> Facts:
    """The facts that :func:`pack_facts` made plain values of."""
    sums: Lines = array("I")
    sums.frombytes(lines)
    return Facts(key, text, frozenset(names.split(" ") if names else ()), counted, sums)


@lru_cache(maxsize=1)
def _version() -> str:
    """Changes whenever outlines may: with the format, the languages and the queries."""
    files = [resources.files("context") / "languages.toml"]
    files += sorted((resources.files("context") / "queries").iterdir(), key=lambda file: file.name)
    digest = hashlib.sha256(str(_FORMAT).encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]
