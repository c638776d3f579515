"""Finds saves by polling: recent files every second, the whole project every 15 seconds."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

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
