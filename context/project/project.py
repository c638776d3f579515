"""The live picture of a project folder: scanned once, then kept current save by save.

``scan``, ``update`` and ``reconcile`` block and belong in a worker thread; any thread may read ``snapshot``.
Work is done in slices, so that other threads are never blocked for long.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from context.disk.changes import Status
from context.disk.file_list import Listing, list_git, list_walk, listed_by_git
from context.disk.git import Git, GitUnavailable
from context.disk.source import Unread, name_problem, read
from context.index.cache import Store
from context.index.file_text import file_text
from context.index.freed_memory import release_memory
from context.index.index import Index
from context.index.index_updater import SECRET, IndexUpdater
from context.index.worker_pool import Merger, WorkerLost
from context.project.git_uses import Commits, Differences, GitUses
from context.project.project_paths import ProjectPaths
from context.project.snapshot import Snapshot, frozen
from context.text.sorting import set_in_parts, sorted_in_parts

__all__ = ["SECRET", "Project"]

_MANY = 400
"""Number of paths above which an update scans the whole project instead."""
_PUBLISH_EVERY = 0.25
"""Seconds between two snapshots while a project is read."""
_PUBLISH_PAUSE = 20e-6
"""Seconds between them per file, since a snapshot of a large project takes a few milliseconds."""
_FEW = 20
"""A snapshot is nearly complete if at most one file in this many is missing."""
_HISTORY_WAIT = 0.3
"""Seconds that a nearly complete snapshot waits for the history."""
_LARGE = 10_000
"""Number of files from which memory is returned to the system after reading."""


class ReadsProject(Protocol):
    """What looks into a project need: a :class:`Project`, or one with edits that are not written."""

    @property
    def root(self) -> Path:
        """The project's folder."""
        ...

    @property
    def snapshot(self) -> Snapshot:
        """The newest snapshot."""
        ...

    @property
    def progress(self) -> tuple[int, int]:
        """The number of files that are known, and the number of all files."""
        ...

    def update(self, paths: Iterable[str]) -> Snapshot:
        """Read these files anew."""
        ...


class Project:
    """A project folder. ``cache`` is the folder for the index and the history, or None for no cache."""

    def __init__(self, root: Path, cache: Path | None = None) -> None:
        self.root = root.resolve()
        self._store = Store(cache, self.root)
        self._index = Index(self._store)
        self._closing = threading.Event()
        self._updater = IndexUpdater(self.root, self._index, self._closing.is_set)
        self._differences = Differences()
        self._lock = threading.Lock()
        self._snapshot = Snapshot(self.root)
        self._git: Git | None = None
        self._asked: Git | None = None  # what runs git now, or did last
        self._uses = GitUses()
        self._paths: tuple[str, ...] = ()
        self._commits = Commits(self._store, self._uses.history)
        self._loaded = False
        self._merging: tuple[threading.Thread, Merger] | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The newest snapshot; during a scan, later ones know more files."""
        return self._snapshot

    @property
    def progress(self) -> tuple[int, int]:
        """The number of files that are known (read, or found to give no text), and the number of all files.

        It is cheap, and any thread may read it.
        """
        total = len(self._paths)
        known = total if self._snapshot.complete else len(self._index) + len(self._updater.unread)
        return min(total, known), total

    def take_news(self) -> tuple[str, ...]:
        """What began to fail or to work again since the last call, in words for the user. Any thread may call
        it."""
        return () if self._closing.is_set() else self._uses.take_news()

    @property
    def ask_git_in(self) -> float | None:
        """Seconds until :meth:`reconcile` should be called for a git that failed; None if it did not. Any
        thread may read it."""
        return self._uses.again_in

    def close(self) -> None:
        """Stop a running scan soon, and save the index in the cache; the snapshot stays valid."""
        self._closing.set()
        if self._asked is not None:
            self._asked.stop()
        merging = self._merging
        if merging is not None:
            merging[1].stop()
            merging[0].join()
        with self._lock:
            self._index.save()

    def scan(self, nearly: Callable[[], object] | None = None) -> Snapshot:
        """List the project, find what changed and index what is not known yet.

        The first call reads everything; later calls read only files whose time stamps changed. Problems with
        files do not raise; they are in the snapshot's ``unread`` and ``notes``. ``nearly`` is called in this
        thread as soon as at most a few files are missing.
        """
        with self._lock:
            return self._scan(nearly)

    def update(self, paths: Iterable[str]) -> Snapshot:
        """Update ``paths`` (relative to the root), which may have changed, appeared or disappeared."""
        with self._lock:
            wanted = {path.strip("/") for path in paths} - {""}
            if not wanted:
                return self._snapshot
            if len(wanted) > _MANY or not self._paths or any(self._needs_scan(path) for path in wanted):
                return self._scan()
            try:
                self._update(sorted(wanted))
            except GitUnavailable:
                # Git may work again once it is reopened; if not, the scan works without it.
                return self._scan()
            return self._publish(complete=self._snapshot.complete)

    def reconcile(self) -> Snapshot:
        """Find changes that no event reported, for example after a burst of events or a pause of the user.

        With git, only git and the time stamps of the files that it names are checked.
        """
        with self._lock:
            if self._index.drop_damaged() or self._git is None or not self._snapshot.complete:
                return self._scan()
            try:
                before = set(self._differences.changes)
                listing = self._ask_all(self._git)
                moved = self._commits.moved(self._git)
            except GitUnavailable:
                return self._scan()
            problems = {path for path in listing.files if name_problem(path) is not None}
            files = tuple(path for path in listing.files if path not in problems)
            if files != self._paths or moved:  # after a checkout, time stamps are not reliable
                return self._scan()
            self._commits.retry(self._git)
            listed = ProjectPaths(files)
            touched = {path for path in (*before, *self._differences.changes) if path in listed}
            # A file may have vanished and come back while it was looked at.
            touched |= {path for path in files if self._is_unknown(path)}
            self._take(sorted(touched))
            return self._publish(complete=True)

    def _needs_scan(self, path: str) -> bool:
        name = path.rpartition("/")[2]
        if path.split("/", 1)[0] == ".git" or name in (".gitignore", ".gitattributes"):
            return True
        if self._git is None and self._is_unknown(path):
            return True
        return not (self.root / path).is_symlink() and (self.root / path).is_dir()

    def _is_unknown(self, path: str) -> bool:
        return self._index.place(path) is None and path not in self._updater.unread

    # The scan

    def _scan(self, nearly: Callable[[], object] | None = None) -> Snapshot:
        if not self._loaded:
            self._loaded = True
            self._index.load()
            self._paths = tuple(sorted_in_parts(self._index.paths()))
            self._publish(complete=False)
        listing = self._list()
        if listing is None:
            return self._publish(complete=False)
        history = self._commits.start(self._git)
        problems = {path: why for path in listing.files if (why := name_problem(path)) is not None}
        self._paths = (
            tuple(path for path in listing.files if path not in problems) if problems else listing.files
        )
        self._updater.reset_unread(listing.unread | problems)
        listed = set_in_parts(self._paths)
        for path in self._index.paths():
            if path not in listed:
                self._index.remove(path)
        if not self._snapshot.complete:
            self._publish(complete=False)

        def known(left: int) -> None:
            if nearly is not None and left * _FEW <= len(listed):
                history.join(_HISTORY_WAIT)
                if not self._snapshot.complete:
                    self._publish(complete=False)
                nearly()

        if self._take(self._paths, known):
            self._after_scan(listed)
        history.join()
        return self._publish(complete=not self._closing.is_set())

    def _take(self, paths: Iterable[str], known: Callable[[int], None] | None = None) -> bool:
        """Read those of ``paths`` that must be read; False if the project was closed meanwhile.

        ``known`` is called with their number. Snapshots are published while they are read, except that a
        complete snapshot stays until all are read if only a few changed.
        """
        stamps: dict[str, int] = {}
        published = time.monotonic()
        every = max(_PUBLISH_EVERY, len(self._paths) * _PUBLISH_PAUSE)
        for path in paths:
            stamp = self._updater.stamp_to_read(path)
            if stamp is not None:
                stamps[path] = stamp
            if self._closing.is_set():
                return False
        if known is not None:
            known(len(stamps))
        stays = self._snapshot.complete and len(stamps) <= max(_MANY, len(self._paths) // _FEW)
        changed = sorted(self._differences.changes)
        for _ in self._updater.read_files(stamps, changed):
            now = time.monotonic()
            if now - published > every and not stays:
                published = now
                self._publish(complete=False)
            if self._closing.is_set():
                return False
        return not self._closing.is_set()

    def _after_scan(self, listed: set[str]) -> None:
        index, unread = self._index, self._updater.unread
        self._paths = tuple(path for path in self._paths if path in unread or index.place(path) is not None)
        index.skipped = {path: known for path, known in index.skipped.items() if path in listed}
        index.save()
        if self._git is None:
            self._differences.compare(index.view()[0], unread)
        if len(self._paths) > _LARGE:
            release_memory()
        self._start_merging()

    def _start_merging(self) -> None:
        """Merge segments in the background if there are many."""
        merging = self._index.to_merge()
        folder = self._store.folder
        if merging is None or folder is None or self._merging is not None:
            return
        try:
            merger = Merger(self.root, folder)
        except WorkerLost:
            return

        def merge() -> None:
            made = merger.merge(merging.names, merging.live, merging.to)
            with self._lock:
                self._merging = None
                if made is not None and self._index.merged(merging, made):
                    self._index.save()
                    self._publish(complete=self._snapshot.complete)
                if len(self._paths) > _LARGE:
                    release_memory()

        thread = threading.Thread(target=merge, name="spark-merge", daemon=True)
        # The thread needs the lock, which is held here, so it cannot end before it is recorded below.
        thread.start()
        self._merging = thread, merger
        if self._closing.is_set():
            merger.stop()

    def _list(self) -> Listing | None:
        """List the files and, with git, the changes. None where the project was closed meanwhile."""
        self._git = None
        use = self._uses.files
        try:
            use.begin()
            git = Git.open(self.root)
            listing = self._ask_all(git)
            self._git = git
            use.worked()
        except GitUnavailable as problem:
            if self._closing.is_set():
                return None
            use.failed(problem)
            listing = list_walk(self.root)
            self._differences.without_git()
        self._updater.lines = self._git is None
        return listing

    def _ask_all(self, git: Git) -> Listing:
        """Ask git for the files and the changes. Raises GitUnavailable."""
        self._asked = git
        if self._closing.is_set():
            git.stop()
        # Both walk the folder, so running them side by side is faster.
        with ThreadPoolExecutor(1, "spark-git") as other:
            changes = other.submit(self._differences.from_git, git, self._uses.branch)
            listing = list_git(git)
            changes.result()
        return listing

    # One save

    def _update(self, paths: list[str]) -> None:
        """Read the files that changed, and ask git about them if necessary. Raises GitUnavailable."""
        ask: list[str] = []
        paths = self._with_contents(paths)
        index, unread = self._index, self._updater.unread
        for path in paths:
            if name_problem(path) is not None:
                continue
            before = index.digest(path)
            listed = bool(before) or path in unread
            unread.pop(path, None)
            stamp = self._updater.stamp_to_read(path)
            if stamp is not None:
                self._updater.read_file(path, stamp)
            after = index.digest(path)
            change = self._differences.changes.get(path)
            if change is None and before and before == after:
                continue
            if not after or not listed or change is None or change.status is Status.DELETED:
                ask.append(path)
            elif change.base is not None and change.status is Status.MODIFIED and self._same_lines(path):
                # The lines are those of HEAD again, but only git can compare the bytes.
                ask.append(path)
        if ask:
            self._ask(ask)
        if self._git is None:
            self._differences.compare(index.view()[0], unread, paths)

    def _same_lines(self, path: str) -> bool:
        source = read(self.root, path)
        return isinstance(source, Unread) or file_text(source).sums == self._differences.changes[path].base

    def _ask(self, paths: list[str]) -> None:
        """Update from git whether the files belong to the project, and whether they changed.

        Raises GitUnavailable.
        """
        listed = ProjectPaths(self._paths)  # a set of all paths would block all other threads
        known = {path for path in paths if path in listed}
        gone = {path for path in paths if not os.path.lexists(self.root / path)}
        new = {*paths} - known - gone
        if self._git is not None:
            self._differences.ask(self._git, paths)
            new &= listed_by_git(self._git, new)
        for path in paths:
            if path not in known and path not in new:
                self._index.remove(path)
                self._updater.unread.pop(path, None)
        if gone & known or new:
            self._paths = listed.changed(new, gone & known)
        for path in filter(self._is_unknown, sorted((known | new) - gone)):
            # It did not exist when it was looked at, but exists again.
            stamp = self._updater.stamp_to_read(path)
            if stamp is not None:
                self._updater.read_file(path, stamp)

    def _with_contents(self, paths: list[str]) -> list[str]:
        """``paths``, and the files that were in a folder that is gone."""
        gone = tuple(
            f"{path}/"
            for path in paths
            if self._index.place(path) is None and not os.path.lexists(self.root / path)
        )
        if not gone:
            return paths
        return sorted({*paths, *(path for path in self._paths if path.startswith(gone))})

    def _publish(self, *, complete: bool) -> Snapshot:
        entries, words = self._index.view()
        self._snapshot = Snapshot(
            root=self.root,
            paths=self._paths,
            entries=entries,
            words=words,
            changes=self._differences.shown,
            branch=self._differences.branch,
            unread=frozen(self._updater.unread),
            history=self._commits.history,
            notes=self._uses.notes,
            git=self._git is not None,
            above=self._git.prefix.count("/") if self._git is not None else 0,
            complete=complete,
        )
        return self._snapshot
