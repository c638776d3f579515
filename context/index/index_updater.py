"""Updates the index: decides which files to read, and records which give no text."""

from __future__ import annotations

import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path

from context.disk.source import Source, Unread, largest, read, shown_name, too_large
from context.index.facts import facts_of
from context.index.file_text import file_text
from context.index.index import Index
from context.index.outliner import Abandoned
from context.index.part import Facts
from context.index.worker_pool import Written, read_all
from context.text.secrets import is_secret_file

SECRET = "a secret file: never shown to the model"

_MANY_UNREAD = 150
"""Number of files to read from which worker processes are used."""
_RACY_NS = 2_000_000_000
"""Age below which a file may change again without a new time stamp, in nanoseconds."""
_STAMP_BITS = (1 << 64) - 1


class IndexUpdater:
    """Updates the index of one project. ``unread`` maps files without text to the reason.

    Once ``is_closing``, no more is read, and no other process is waited for.
    """

    def __init__(self, root: Path, index: Index, is_closing: Callable[[], bool] = lambda: False) -> None:
        self._root = root
        # Joining paths as Path objects would take longer than everything else done with most files.
        self._prefix = f"{root}{os.sep}"
        self._index = index
        self._is_closing = is_closing
        self.unread: dict[str, str] = {}
        self.lines = True
        """Whether to keep line checksums, by which changes are found without git."""

    def stamp_to_read(self, path: str) -> int | None:
        """The stamp of a file that must be read; None if it need not be."""
        if is_secret_file(path):
            self._index.remove(path)
            self.unread[path] = SECRET
            return None
        try:
            about = os.lstat(self._prefix + path)
        except OSError:
            self.mark_unread(read(self._root, path), 0)
            return None
        stamp = _stamp(about)
        if stamp and self._index.stamp(path) == stamp:
            return None
        if stat.S_ISREG(about.st_mode) and about.st_size > largest(path):
            self._index.remove(path)
            self.unread[path] = too_large(about.st_size, path)
            return None
        skipped = self._index.skipped.get(path)
        if skipped is not None and stamp and skipped[0] == stamp:
            self._index.remove(path)
            self.unread[path] = skipped[1]
            return None
        return stamp

    def read_file(self, path: str, stamp: int) -> None:
        """Read one file in this process. It stays as it was known if the project is closed meanwhile."""
        source = read(self._root, path)
        if isinstance(source, Unread):
            self.mark_unread(source, stamp)
        elif not self._index.restore(path, source.digest, stamp):
            # The next window is likely to show it, and needs the outline too.
            with suppress(Abandoned):
                outline = file_text(source).outlined(self._is_closing)
                self._index.add(facts_of(source, lines=self.lines, found=outline), stamp)

    def read_files(self, stamps: Mapping[str, int], first: Iterable[str]) -> Iterator[None]:
        """Read files, many of them in worker processes, and those in ``first`` first. Ends early when the
        project is closed."""
        left: Iterable[str] = stamps
        if len(stamps) >= _MANY_UNREAD and len(self._index):
            # They may be known from another branch, which their hashes show.
            left = [path for path in stamps if not self._restored(path, stamps[path])]
            yield
        early = dict.fromkeys(path for path in first if path in stamps)
        # Not by way of one long call on all of them, which would block all other threads.
        order = [*early, *(path for path in left if path not in early)]
        if len(order) < _MANY_UNREAD:
            for path in order:
                self.read_file(path, stamps[path])
                yield
            return
        folder = self._index.store.prepare()
        with tempfile.TemporaryDirectory(prefix="spark-index-") as scratch:
            written = folder or Path(scratch)
            reading = read_all(self._root, order, written, lines=self.lines, is_closing=self._is_closing)
            with suppress(Abandoned), closing(reading) as answers:
                for found in answers:
                    self._add_found(found, stamps)
                    yield

    def _restored(self, path: str, stamp: int) -> bool:
        source = read(self._root, path)
        return isinstance(source, Source) and self._index.restore(path, source.digest, stamp)

    def _add_found(self, found: Written | Facts | Unread, stamps: Mapping[str, int]) -> None:
        if isinstance(found, Facts):
            self._index.add(found, stamps[found.path])
        elif isinstance(found, Unread):
            self.mark_unread(found, stamps[found.path])
        else:
            # No tuple for each file: the garbage collector would look at everything there is meanwhile, which
            # blocks all other threads.
            if not self._index.add_segment(found.file, found.numbers, stamps):
                for path in found.numbers:
                    self.read_file(path, stamps[path])

    def mark_unread(self, problem: Source | Unread, stamp: int) -> None:
        """Record that a file gave no text; one that vanished is only removed."""
        if isinstance(problem, Unread):
            if problem.gone:
                self._index.remove(problem.path)
                self.unread.pop(problem.path, None)
            else:
                self.unread[problem.path] = problem.why
                self._index.skip(problem.path, stamp, problem.why)

    def reset_unread(self, listed: Mapping[str, str]) -> None:
        """Replace the unread files by those in ``listed``, with their reasons."""
        self.unread = {shown_name(path): why for path, why in listed.items()}


def _stamp(about: os.stat_result) -> int:
    """A value that changes with the file; 0 if the file was written too recently to tell."""
    if time.time_ns() - max(about.st_mtime_ns, about.st_ctime_ns) < _RACY_NS:
        return 0
    told = hash((about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino))
    return told & _STAMP_BITS or 1
