"""The live picture of a project folder: scanned once, then kept current save by save.

``scan`` and ``update`` block and belong in a worker thread; ``snapshot`` is read from any. Work is done
in slices of single files, so other threads are never held up for longer than one parse.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from context.changes import Change, Lines, Status, git_changes
from context.git import Git, GitUnavailable
from context.history import History, read_history
from context.ignore import Listing, list_git, list_walk, listed_by_git
from context.index import Cache, Facts, Known, facts_of, key_of
from context.map import file_block
from context.postings import Postings, file_words
from context.redact import is_secret_file
from context.snapshot import FileEntry, Snapshot, frozen
from context.source import LARGEST, Source, Unread, name_problem, read, shown_name, too_large
from context.workers import Found, read_all

SECRET = "a secret file: never shown to the model"

_MANY = 400
"""Paths in one update past which the whole project is looked at again instead."""
_PUBLISH_EVERY = 0.25
_MANY_UNREAD = 150
"""Files to read from which it is worth starting other processes."""
_STALE = 3
_RACY_NS = 2_000_000_000
"""A file written this shortly before it was looked at may change again within its time stamp."""


class Project:
    """A project folder. ``cache`` is the folder for what may be computed again, or None for none."""

    def __init__(self, root: Path, cache: Path | None = None) -> None:
        self.root = root.resolve()
        self._cache = Cache(cache, self.root)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._snapshot = Snapshot(self.root)
        self._git: Git | None = None
        self._entries: dict[str, FileEntry] = {}
        self._unread: dict[str, str] = {}
        self._skipped: dict[str, Known] = {}
        self._changes: dict[str, Change] = {}
        self._paths: tuple[str, ...] = ()
        self._notes: tuple[str, ...] = ()
        self._postings = Postings()
        self._history = History()
        self._baseline: dict[str, Lines] | None = None
        self._unsaved: list[Facts] = []
        self._cached: tuple[dict[str, Known], dict[str, Facts]] | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The newest picture; while a scan runs, it grows."""
        return self._snapshot

    def close(self) -> None:
        """End a running scan soon, and keep in the cache what saves brought since; the snapshot stays."""
        self._closing.set()
        with self._lock:
            if self._unsaved:
                self._cache.save(self._known(), self._unsaved)
                self._unsaved = []

    def scan(self) -> Snapshot:
        """List the project, find what changed and index what is not known yet.

        The first call is the first build; later calls reconcile, reading only files whose time stamps
        moved. Raises nothing for what stands in the folder: see the snapshot's ``unread`` and ``notes``.
        """
        with self._lock:
            return self._scan()

    def update(self, paths: Iterable[str]) -> Snapshot:
        """Take in that ``paths`` (relative to the root) may have changed, appeared or gone."""
        with self._lock:
            wanted = {path.strip("/") for path in paths} - {""}
            if not wanted:
                return self._snapshot
            if len(wanted) > _MANY or not self._paths or any(self._needs_scan(path) for path in wanted):
                return self._scan()
            self._update(sorted(wanted))
            return self._publish(complete=self._snapshot.complete)

    def _needs_scan(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        if path.split("/", 1)[0] == ".git" or name in (".gitignore", ".gitattributes"):
            return True
        if self._git is None and path not in self._entries and path not in self._unread:
            return True
        return not (self.root / path).is_symlink() and (self.root / path).is_dir()

    # The scan

    def _scan(self) -> Snapshot:
        listing = self._list()
        history = self._start_history()
        problems = {path: name_problem(path) for path in listing.files}
        self._paths = tuple(path for path, problem in problems.items() if problem is None)
        self._unread = {shown_name(path): why for path, why in listing.unread.items()}
        self._unread |= {shown_name(path): why for path, why in problems.items() if why is not None}
        kept = self._entries
        self._entries = {}
        if len(self._postings) > _STALE * (len(kept) + 1000):
            self._postings, kept = self._renumbered(kept)
        if self._cached is None:
            self._cached = self._cache.load()
        files, facts = self._cached
        published = time.monotonic()
        self._publish(complete=False)
        for path, entry in self._all_entries(kept, files, facts):
            if entry is not None:
                self._entries[path] = entry
            now = time.monotonic()
            if now - published > _PUBLISH_EVERY:
                published = now
                self._publish(complete=False)
            if self._closing.is_set():
                break
        else:
            self._after_scan(files)
        history.join()
        return self._publish(complete=not self._closing.is_set())

    def _all_entries(
        self, kept: dict[str, FileEntry], files: dict[str, Known], facts: dict[str, Facts]
    ) -> Iterator[tuple[str, FileEntry | None]]:
        """Every listed file's entry: first those that need no reading, then, where many do, with the
        help of other processes, the changed files first."""
        unread: dict[str, str] = {}
        for path in self._paths:
            yield path, self._entry(path, kept.get(path), files.get(path), facts, unread)
        # Of a file whose content may be known from another branch, reading it tells.
        known = bool(facts) and len(files) > 0
        if known or len(unread) < _MANY_UNREAD:
            for path in unread:
                yield path, self._entry(path, kept.get(path), files.get(path), facts)
            return
        order = sorted(unread, key=lambda path: (path not in self._changes, path))
        with closing(read_all(self.root, order)) as answers:
            for found in answers:
                yield found.path, self._taken(found, unread[found.path], kept.get(found.path))

    def _taken(self, found: Found, stamp: str, kept: FileEntry | None) -> FileEntry | None:
        """The entry of a file that was read in another process."""
        if found.facts is None:
            if found.problem is not None:
                self._left_unread(found.problem)
                self._skipped[found.path] = Known(stamp, "", found.problem.why)
            return None
        if kept is not None and kept.digest == found.digest:
            return replace(kept, stamp=stamp)
        self._unsaved.append(found.facts)
        return self._numbered(found.path, stamp, found.digest, found.facts)

    def _start_history(self) -> threading.Thread:
        """Read the history beside the scan: it is git that works then."""

        def read_now() -> None:
            if self._git is None:
                self._history = History()
                return
            try:
                self._history = read_history(self._git, self._history)
            except GitUnavailable:
                # No commit yet, or too slow a repository: ranking does without.
                self._history = History()

        thread = threading.Thread(target=read_now, name="spark-history", daemon=True)
        thread.start()
        return thread

    def _known(self) -> dict[str, Known]:
        """All files as the cache keeps them."""
        self._skipped = {path: known for path, known in self._skipped.items() if path in self._unread}
        entries = self._entries.items()
        return {
            path: Known(entry.stamp, entry.facts.key, entry.digest) for path, entry in entries
        } | self._skipped

    def _after_scan(self, files: dict[str, Known]) -> None:
        self._paths = tuple(path for path in self._paths if path in self._entries or path in self._unread)
        known = self._known()
        if known != files or self._unsaved:
            self._cache.save(known, self._unsaved)
            self._unsaved = []
        self._cached = (known, {})
        if self._git is None:
            if self._baseline is None:
                self._baseline = {path: entry.facts.lines for path, entry in self._entries.items()}
            self._compare_with_baseline({*self._entries, *self._baseline})

    def _list(self) -> Listing:
        """List the files, and the changes where git knows them."""
        self._git = None
        self._notes = ()
        try:
            git = Git.open(self.root)
            listing = list_git(git)
            self._changes = git_changes(git)
            self._git = git
        except GitUnavailable as problem:
            if not problem.expected:
                self._notes = (str(problem),)
            listing = list_walk(self.root)
            self._changes = {}
        return listing

    def _entry(
        self,
        path: str,
        kept: FileEntry | None,
        known: Known | None,
        facts: dict[str, Facts],
        unread: dict[str, str] | None = None,
    ) -> FileEntry | None:
        """The entry of a listed file, from memory, cache or disk; None when it gives no text.

        With ``unread``, a file that has to be read is put there with its stamp instead.
        """
        if is_secret_file(path):
            self._unread[path] = SECRET
            return None
        try:
            about = os.lstat(self.root / path)
        except OSError:
            self._left_unread(read(self.root, path))
            return None
        stamp = _stamp(about)
        if kept is not None and stamp and kept.stamp == stamp:
            return kept
        if stat.S_ISREG(about.st_mode) and about.st_size > LARGEST:
            self._unread[path] = too_large(about.st_size)
            return None
        skipped = self._skipped.get(path, known)
        if skipped is not None and stamp and skipped.stamp == stamp and not skipped.key:
            self._unread[path] = skipped.digest
            self._skipped[path] = skipped
            return None
        if known is not None and stamp and known.stamp == stamp and known.key in facts:
            return self._numbered(path, stamp, known.digest, facts[known.key])
        if unread is not None:
            unread[path] = stamp
            return None
        source = read(self.root, path)
        if isinstance(source, Unread):
            self._left_unread(source)
            self._skipped[path] = Known(stamp, "", source.why)
            return None
        if kept is not None and kept.digest == source.digest:
            return replace(kept, stamp=stamp)
        found = facts.get(key_of(path, source.digest))
        if found is None:
            found = facts_of(source)
            self._unsaved.append(found)
        return self._numbered(path, stamp, source.digest, found)

    def _numbered(self, path: str, stamp: str, digest: str, facts: Facts) -> FileEntry:
        number = self._postings.add(file_words(path, facts.words), facts.names)
        return FileEntry(digest, stamp, number, facts, file_block(path, facts.outline))

    def _renumbered(self, kept: dict[str, FileEntry]) -> tuple[Postings, dict[str, FileEntry]]:
        """Postings of the kept files alone: earlier states of files had gathered in the old ones."""
        postings = Postings()
        return postings, {
            path: replace(entry, number=postings.add(file_words(path, entry.facts.words), entry.facts.names))
            for path, entry in kept.items()
        }

    def _left_unread(self, problem: Source | Unread) -> None:
        if isinstance(problem, Unread) and not problem.gone:
            self._unread[problem.path] = problem.why

    # One save

    def _update(self, paths: list[str]) -> None:
        ask: list[str] = []
        paths = self._with_contents(paths)
        for path in paths:
            if name_problem(path) is not None:
                continue
            listed = path in self._entries or path in self._unread
            self._unread.pop(path, None)
            kept = self._entries.get(path)
            entry = self._entry(path, kept, None, {})
            if entry is None:
                self._entries.pop(path, None)
            else:
                self._entries[path] = entry
            change = self._changes.get(path)
            if change is None and kept is not None and entry is not None and kept.digest == entry.digest:
                continue
            if entry is None or not listed or change is None or change.status is Status.DELETED:
                ask.append(path)
            elif (
                change.base is not None
                and change.status is Status.MODIFIED
                and not change.ranges(entry.facts.lines)
            ):
                # The lines are as they were; only git can tell whether the bytes are.
                ask.append(path)
        if ask:
            self._ask(ask)
        if self._git is None:
            self._compare_with_baseline(paths)

    def _ask(self, paths: list[str]) -> None:
        """Learn from git whether the files are part of the project, and changed."""
        known = set(self._paths)
        gone = {path for path in paths if not os.path.lexists(self.root / path)}
        new = {path for path in paths if path not in known} - gone
        if self._git is not None:
            try:
                changed = git_changes(self._git, tuple(paths))
                new &= listed_by_git(self._git, new)
            except GitUnavailable as problem:
                self._notes = (str(problem),)
                return
            for path in paths:
                self._changes.pop(path, None)
                if path in changed:
                    self._changes[path] = changed[path]
        for path in paths:
            if path not in known and path not in new:
                self._entries.pop(path, None)
                self._unread.pop(path, None)
        if gone & known or new:
            self._paths = tuple(sorted((known - gone) | new))

    def _with_contents(self, paths: list[str]) -> list[str]:
        """``paths``, and for a folder that is gone the files that were in it."""
        gone = [
            f"{path}/"
            for path in paths
            if path not in self._entries and not os.path.lexists(self.root / path)
        ]
        if not gone:
            return paths
        inside = [path for path in (*self._entries, *self._unread) if path.startswith(tuple(gone))]
        return sorted({*paths, *inside})

    def _compare_with_baseline(self, paths: Iterable[str]) -> None:
        """Without git: note how ``paths`` differ from the first scan of this project."""
        if self._baseline is None:
            return
        for path in paths:
            self._changes.pop(path, None)
            base = self._baseline.get(path)
            entry = self._entries.get(path)
            if entry is None:
                if base is not None and path not in self._unread:
                    self._changes[path] = Change(path, Status.DELETED, base)
            elif base is None:
                self._changes[path] = Change(path, Status.ADDED)
            elif base is not entry.facts.lines and base != entry.facts.lines:
                self._changes[path] = Change(path, Status.MODIFIED, base)

    def _publish(self, *, complete: bool) -> Snapshot:
        self._snapshot = Snapshot(
            root=self.root,
            paths=self._paths,
            entries=frozen(self._entries),
            changes=frozen(
                {path: change for path, change in self._changes.items() if name_problem(path) is None}
            ),
            unread=frozen(self._unread),
            live=frozen({entry.number: path for path, entry in self._entries.items()}),
            postings=self._postings,
            history=self._history,
            notes=self._notes,
            git=self._git is not None,
            complete=complete,
        )
        return self._snapshot


def _stamp(about: os.stat_result) -> str:
    """What changes when the file does; empty when it was written too shortly ago to tell."""
    if time.time_ns() - max(about.st_mtime_ns, about.st_ctime_ns) < _RACY_NS:
        return ""
    return f"{about.st_size}:{about.st_mtime_ns}:{about.st_ctime_ns}:{about.st_ino}"
