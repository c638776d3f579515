"""Reads and outlines many files in worker processes, since parsing holds the interpreter's lock.

A worker is the same interpreter with the same module path, without the project's folder, so nothing in it is
ever imported. If no worker can be started, or one dies, this process reads the files itself.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from collections.abc import Callable, Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from context.disk.source import Unread, read
from context.index.facts import facts_of
from context.index.file_text import file_text
from context.index.outliner import NotStarted, start_python
from context.index.part import Facts

BATCH = 48
"""Number of files in one request to a worker."""
_MOST = 4
_MOST_MEMORY = 220_000_000
"""Memory in bytes for all workers together. A worker hardly frees any, so it is replaced then."""
_LOOK_SECONDS = 0.1
"""Seconds between two looks whether the project is closing: one batch of large files takes over a second."""
_MODULE = "context.index.worker"


@dataclass(frozen=True, slots=True)
class Written:
    """A segment that was written: its file, and the numbers of the files in it by path."""

    file: Path
    numbers: dict[str, int]


class WorkerLost(Exception):
    """A worker could not be started, died, or gave an invalid answer."""


def read_all(
    root: Path,
    paths: list[str],
    folder: Path,
    *,
    lines: bool,
    is_closing: Callable[[], bool] = lambda: False,
) -> Generator[Written | Facts | Unread, None, None]:
    """Read and outline ``paths`` in workers, in any order, and the rest in this process.

    Segments are written to ``folder``. Once ``is_closing``, no more is read, and no worker is waited for.
    """
    batches = [paths[at : at + BATCH] for at in range(0, len(paths), BATCH)]
    batches.reverse()
    workers = _start(root, folder, min(_MOST, os.cpu_count() or 1, len(batches)), lines=lines)
    try:
        with ThreadPoolExecutor(max(1, len(workers)), "spark-index") as threads:
            asked: dict[Future[list[Written | Unread]], _Worker] = {}

            def ask(worker: _Worker) -> None:
                if batches:
                    asked[threads.submit(worker.read, batches.pop())] = worker
                elif worker.numbers:
                    asked[threads.submit(worker.flush)] = worker

            try:
                for worker in workers:
                    ask(worker)
                while asked:
                    if is_closing():
                        return
                    for done in wait(asked, _LOOK_SECONDS, FIRST_COMPLETED).done:
                        worker = asked.pop(done)
                        try:
                            found = done.result()
                        except WorkerLost:
                            batches.append(worker.unfinished())
                            continue
                        ask(worker)
                        yield from found
            finally:
                # Before waiting for the threads, since one may be reading from a worker.
                for worker in workers:
                    worker.stop()
        for batch in reversed(batches):
            for path in batch:
                yield read_here(root, path, lines=lines, is_closing=is_closing)
    finally:
        for worker in workers:
            worker.stop()


def read_here(
    root: Path, path: str, *, lines: bool, is_closing: Callable[[], bool] = lambda: False
) -> Facts | Unread:
    """Read one file in this process. Raises Abandoned once ``is_closing``."""
    source = read(root, path)
    if isinstance(source, Unread):
        return source
    return facts_of(source, lines=lines, found=file_text(source).outlined(is_closing))


def _start(root: Path, folder: Path, count: int, *, lines: bool) -> list[_Worker]:
    workers: list[_Worker] = []
    for _ in range(count):
        try:
            workers.append(_Worker(root, folder, _MOST_MEMORY // count, lines=lines))
        except WorkerLost:
            break
    return workers


class _Worker:
    """One worker process, used by one thread at a time."""

    def __init__(self, root: Path, folder: Path, most: int, *, lines: bool = False) -> None:
        self._arguments = [str(root), str(folder), str(most), *(["lines"] if lines else [])]
        self._folder = folder
        self._asked: list[str] = []
        self._changing = threading.Lock()
        self._stopped = self._worn = False
        self.numbers: dict[str, int] = {}
        """The files that were read but are in no segment yet, with their numbers."""
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            return start_python(_MODULE, *self._arguments)
        except NotStarted as problem:
            raise WorkerLost(str(problem)) from problem

    def read(self, paths: list[str]) -> list[Written | Unread]:
        """Have the worker read ``paths``. Raises WorkerLost."""
        self._asked = paths
        answer = self.ask({"read": paths})
        problems: list[Written | Unread] = []
        try:
            for path, found in zip(paths, answer["files"], strict=True):
                if isinstance(found, int):
                    self.numbers[path] = found
                else:
                    problems.append(Unread(path, str(found[0]), bool(found[1])))
        except (LookupError, TypeError, ValueError) as problem:
            self.stop()
            raise WorkerLost(f"a worker gave an invalid answer: {problem}") from problem
        self._asked = []
        return problems + self._written(answer)

    def flush(self) -> list[Written | Unread]:
        """Have the worker write what it has read. Raises WorkerLost."""
        return self._written(self.ask({"flush": True}))

    def _written(self, answer: dict[str, Any]) -> list[Written | Unread]:
        self._worn = answer.get("worn") is True
        name = answer.get("segment")
        if not isinstance(name, str):
            return []
        numbers, self.numbers = self.numbers, {}
        return [Written(self._folder / name, numbers)]

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Send a request and wait for its answer. Raises WorkerLost."""
        if self._worn:
            self._replace()
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None and answered is not None
        try:
            asked.write(json.dumps(request).encode("ascii") + b"\n")
            asked.flush()
            answer = json.loads(answered.readline())
            if not isinstance(answer, dict):
                raise ValueError("no table")
        except (OSError, ValueError) as problem:
            self.stop()
            raise WorkerLost(f"a worker stopped: {problem}") from problem
        return answer

    def unfinished(self) -> list[str]:
        """The files that it was asked for and that are in no segment."""
        return [*self.numbers, *self._asked]

    def _replace(self) -> None:
        """Continue with a new process. Raises WorkerLost."""
        with self._changing:
            if self._stopped:
                raise WorkerLost("it was stopped")
            self._end()
            self._process = self._start()
            self._worn = False

    def stop(self) -> None:
        """End the process; its pipes are closed once it is gone."""
        with self._changing:
            self._stopped = True
            self._end()

    def _end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


class Merger:
    """A worker that merges segments; :meth:`stop` may be called from any thread."""

    def __init__(self, root: Path, folder: Path) -> None:
        """Raises WorkerLost."""
        self._worker = _Worker(root, folder, 0)
        self._folder = folder

    def merge(self, names: tuple[str, ...], live: tuple[bytes, ...], to: str) -> Path | None:
        """Write the segment ``to``; None if that failed or was stopped."""
        parts = [
            [name, base64.b64encode(mask).decode("ascii")] for name, mask in zip(names, live, strict=True)
        ]
        try:
            answer = self._worker.ask({"merge": parts, "to": to})
        except WorkerLost:
            return None
        finally:
            self._worker.stop()
        return self._folder / to if answer.get("segment") == to else None

    def stop(self) -> None:
        """End the worker."""
        self._worker.stop()
