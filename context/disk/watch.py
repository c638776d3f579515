"""Watches a project for saves: by file-system events where there are any, else by polling.

Ignored folders (``node_modules``, ``.venv``) are not watched. In ``.git`` only HEAD and the index are
watched, and reported as ``.git/HEAD`` and ``.git/index``.

Finds saves by polling: recent files every second, the whole project every 15 seconds.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from context.disk.file_list import Listing, is_temporary, list_git, list_walk
from context.disk.git import Git, GitUnavailable

if TYPE_CHECKING:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver, ObservedWatch


EVERY = 1.0
"""Seconds between looks at the recent files."""
ALL_EVERY = 15
"""Number of looks after which the whole project is looked at."""
_RECENT = 200

Stamp = tuple[int, int, int]


class Poller:
    """Looks for changed files in a thread of its own and reports their paths.

    ``files`` lists the project's files; ``extra`` are further files, by the path to report them as.
    """

    def __init__(
        self,
        root: Path,
        files: Callable[[], Iterable[str]],
        report: Callable[[Iterable[str]], None],
        extra: dict[str, Path],
    ) -> None:
        self._root = root
        self._files = files
        self._report = report
        self._extra = extra
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="context-poll", daemon=True)
        self._stamps: dict[str, Stamp | None] = {}

    def start(self) -> None:
        """Record the current state of the files, and start the thread."""
        self._stamps = self._look([*self._files(), *self._extra])
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        looks = 0
        while not self._stopping.wait(EVERY):
            looks += 1
            if looks % ALL_EVERY == 0:
                now = self._look([*self._files(), *self._extra])
                gone = self._stamps.keys() - now.keys()
            else:
                now = self._look([*self._recent(), *self._extra])
                gone = set()
            changed = {path for path, stamp in now.items() if self._stamps.get(path) != stamp} | gone
            self._stamps |= now
            for path in gone:
                del self._stamps[path]
            if changed:
                self._report(changed)

    def _recent(self) -> list[str]:
        """The most recently written files, by their last known stamps."""
        times = {path: stamp[0] for path, stamp in self._stamps.items() if stamp is not None}
        return sorted(times, key=lambda path: -times[path])[:_RECENT]

    def _look(self, paths: Iterable[str]) -> dict[str, Stamp | None]:
        return {path: _stamp(self._extra.get(path, self._root / path)) for path in paths}


def _stamp(path: Path) -> Stamp | None:
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size, about.st_ino


SETTLE = 0.004
"""Seconds without a further event after which changes are returned."""
LONGEST = 0.05
"""Seconds after which changes are returned even if events keep coming."""

_MOST_WATCHES = 48
"""Number of folders that are watched one by one to avoid ignored ones; further ones are watched
recursively."""
_GIT_FILES = ("HEAD", "index")
_NETWORK = frozenset(
    {
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "9p",
        "afs",
        "ceph",
        "fuse.sshfs",
        "fuse.rclone",
        "fuse.s3fs",
        "drvfs",
    }
)


class Watcher:
    """Watches a project folder from :meth:`start` to :meth:`stop`.

    ``start`` blocks while it walks the folder, so call it in a worker thread. ``poll`` forces polling.
    ``note`` is a line for the user if changes are noticed late, else None.
    """

    def __init__(self, root: Path, *, poll: bool = False) -> None:
        self.root = root.resolve()
        self.note: str | None = None
        self._poll = poll
        self._observer: BaseObserver | None = None
        self._poller: Poller | None = None
        self._git_folder: Path | None = None
        self._ignored: frozenset[str] = frozenset()
        self._watches: dict[str, ObservedWatch] = {}
        self._alone: frozenset[str] = frozenset()
        self._handler: FileSystemEventHandler | None = None
        self._wanted: list[type[FileSystemEvent]] = []
        self._lock = threading.Lock()
        self._changed: set[str] = set()
        self._waiting: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None

    def start(self) -> None:
        """Start watching. If there are no events, poll instead and say so in ``note``."""
        listing = self._list()
        self._ignored = listing.ignored
        why = None
        if not self._poll:
            kind = file_system(self.root)
            why = f"this is a network file system ({kind})" if kind in _NETWORK else self._observe(listing)
        if self._poll or why is not None:
            self._poller = Poller(self.root, lambda: self._list().files, self._report, self._git_files())
            self._poller.start()
        if why is not None:
            self.note = f"changes are noticed within seconds, not at once: {why}"

    def stop(self) -> None:
        """Stop watching; the threads have ended when this returns."""
        observer, self._observer = self._observer, None
        if observer is not None:
            observer.stop()
            observer.join()
        poller, self._poller = self._poller, None
        if poller is not None:
            poller.stop()

    async def changes(self) -> frozenset[str]:
        """Wait for changes and return their paths, relative to the root. One caller at a time."""
        loop = asyncio.get_running_loop()
        event = asyncio.Event()
        with self._lock:
            self._waiting = (loop, event)
            if self._changed:
                event.set()
        await event.wait()
        deadline = loop.time() + LONGEST
        while loop.time() < deadline:
            event.clear()
            try:
                await asyncio.wait_for(event.wait(), SETTLE)
            except TimeoutError:
                break
        with self._lock:
            self._waiting = None
            changed, self._changed = frozenset(self._changed), set()
        return changed

    def _report(self, paths: Iterable[str]) -> None:
        """Record changed paths; any thread may call it."""
        with self._lock:
            self._changed.update(paths)
            if self._waiting is not None and self._changed:
                loop, event = self._waiting
                if not loop.is_closed():
                    loop.call_soon_threadsafe(event.set)

    def _list(self) -> Listing:
        try:
            git = Git.open(self.root)
            self._git_folder = git.folder
            return list_git(git)
        except GitUnavailable:
            return list_walk(self.root)

    def _git_files(self) -> dict[str, Path]:
        return {f".git/{name}": self._git_folder / name for name in _GIT_FILES} if self._git_folder else {}

    def _observe(self, listing: Listing) -> str | None:
        """Watch by events; the result says why that is impossible, or is None."""
        from watchdog.events import (
            DirCreatedEvent,
            DirDeletedEvent,
            DirMovedEvent,
            FileClosedEvent,
            FileCreatedEvent,
            FileDeletedEvent,
            FileModifiedEvent,
            FileMovedEvent,
            FileSystemEventHandler,
        )
        from watchdog.observers import Observer

        wanted: list[type[FileSystemEvent]] = [
            FileModifiedEvent,
            FileClosedEvent,
            FileCreatedEvent,
            FileDeletedEvent,
            FileMovedEvent,
            DirCreatedEvent,
            DirDeletedEvent,
            DirMovedEvent,
        ]

        report = self._on_event

        class Handler(FileSystemEventHandler):
            def on_any_event(self, event: FileSystemEvent) -> None:
                report(event)

        self._handler, self._wanted = Handler(), wanted
        observer = Observer()
        try:
            observer.start()
            plan = watch_plan(self.root, listing.ignored)
            self._alone = frozenset(folder for folder, recursive in plan.items() if not recursive)
            for folder, recursive in plan.items():
                self._watch(observer, folder, recursive=recursive)
            if self._git_folder is not None:
                observer.schedule(self._handler, str(self._git_folder), event_filter=wanted)
            # A missing watch below a folder is not reported, but one more watch then fails as well.
            with tempfile.TemporaryDirectory() as probe:
                observer.unschedule(observer.schedule(self._handler, probe, event_filter=wanted))
        except OSError as problem:
            observer.stop()
            observer.join()
            return f"the system gives no more file watches ({problem.strerror})"
        self._observer = observer
        return None

    def _watch(self, observer: BaseObserver, folder: str, *, recursive: bool) -> None:
        """Watch a folder, replacing the watch of an earlier folder of the same name."""
        assert self._handler is not None
        before = self._watches.pop(folder, None)
        if before is not None:
            observer.unschedule(before)
        self._watches[folder] = observer.schedule(
            self._handler, str(self.root / folder), recursive=recursive, event_filter=self._wanted
        )

    def _on_new_folder(self, path: str) -> None:
        """Watch a new folder whose parent is not watched recursively, and report the files in it."""
        name = self._name(path)
        observer = self._observer
        parent = name.rpartition("/")[0] if name else ""
        if not name or observer is None or parent not in self._alone:
            return
        self._ignored = self._list().ignored
        if name in self._ignored:
            return
        try:
            self._watch(observer, name, recursive=True)
        except OSError as problem:
            if (self.root / name).is_dir():
                self.note = f"changes in {name}/ are not noticed: {problem.strerror}"
            return
        for folder, _, names in os.walk(path):
            inside = os.path.relpath(folder, self.root)
            self._report(f"{inside}/{file}" for file in names)

    def _on_event(self, event: FileSystemEvent) -> None:
        if event.is_directory and event.event_type in ("created", "moved"):
            self._on_new_folder(os.fsdecode(event.dest_path or event.src_path))
        paths = (os.fsdecode(path) for path in (event.src_path, event.dest_path) if path)
        self._report(name for name in map(self._name, paths) if name is not None)

    def _name(self, path: str) -> str | None:
        """The path to report, or None if it does not belong to the project."""
        if self._git_folder is not None and Path(path).parent == self._git_folder:
            name = Path(path).name
            return f".git/{name}" if name in _GIT_FILES else None
        relative = os.path.relpath(path, self.root)
        parts = relative.split("/")
        if relative == "." or parts[0] in ("..", ".git") or is_temporary(relative):
            return None
        return (
            None if any("/".join(parts[:end]) in self._ignored for end in range(1, len(parts))) else relative
        )


def watch_plan(root: Path, ignored: frozenset[str]) -> dict[str, bool]:
    """The folders to watch (relative, ``""`` is the root), and whether each is watched recursively.

    The parents of an ignored folder are not watched recursively, but their other subfolders are, so that
    ignored folders are left out. If that takes too many watches, ignored folders are watched too.
    """
    around = {""} | {
        "/".join(parts[:end])
        for parts in (path.split("/") for path in {*ignored, ".git"})
        for end in range(len(parts))
    }
    plan: dict[str, bool] = {}
    waiting = [""]
    while waiting:
        folder = waiting.pop(0)
        if folder not in around or len(plan) + len(waiting) > _MOST_WATCHES:
            plan[folder] = True
            continue
        plan[folder] = False
        try:
            with os.scandir(root / folder) as entries:
                inside = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        paths = [f"{folder}/{name}" if folder else name for name in sorted(inside)]
        waiting += [path for path in paths if path not in ignored and path != ".git"]
    return plan


def file_system(path: Path) -> str:
    """The type of the file system of ``path``, as Linux names it; empty if unknown."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""
    best, kind = "", ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        place = left.split(" ")[4].replace("\\040", " ")
        inside = str(path) == place or str(path).startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best):
            best, kind = place, right.split(" ")[0]
    return kind
