"""Reading and outlining many files in other processes: parsing holds the interpreter's lock.

A worker is this interpreter again with this interpreter's module path, not the project's folder, so nothing
there is ever imported. Where no worker can be started, or one dies, the caller reads the files itself.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from context.index import Facts, facts_of, unpack_facts
from context.source import Source, Unread, read

BATCH = 24
"""Files that a worker is asked for at once: what is under way bounds the memory."""
_MOST = 4
_START = "import sys, json; sys.path[:] = json.loads(sys.argv.pop()); from context.worker import main; main()"


@dataclass(frozen=True, slots=True)
class Found:
    """One file that was read: its digest and facts, or why it gave no text."""

    path: str
    digest: str
    facts: Facts | None
    problem: Unread | None = None


class WorkerLost(Exception):
    """A worker could not be started, died, or said something that is no answer."""


def read_all(root: Path, paths: list[str]) -> Generator[Found, None, None]:
    """Read and outline ``paths`` in workers, in any order; what they cannot do is done here."""
    batches = [paths[at : at + BATCH] for at in range(0, len(paths), BATCH)]
    batches.reverse()
    workers = _start(root, min(_MOST, os.cpu_count() or 1, len(batches)))
    try:
        with ThreadPoolExecutor(max(1, len(workers)), "spark-index") as threads:
            asked: dict[Future[list[Found]], tuple[_Worker, list[str]]] = {}
            for worker in workers:
                if batches:
                    batch = batches.pop()
                    asked[threads.submit(worker.read, batch)] = (worker, batch)
            try:
                while asked:
                    for done in wait(asked, return_when=FIRST_COMPLETED).done:
                        worker, batch = asked.pop(done)
                        try:
                            found = done.result()
                        except WorkerLost:
                            batches.append(batch)
                            continue
                        if batches:
                            batch = batches.pop()
                            asked[threads.submit(worker.read, batch)] = (worker, batch)
                        yield from found
            finally:
                # Before the threads are waited for: one may be reading from a worker.
                for worker in workers:
                    worker.stop()
        for batch in reversed(batches):
            for path in batch:
                yield read_here(root, path)
    finally:
        for worker in workers:
            worker.stop()


def read_here(root: Path, path: str) -> Found:
    """Read and outline one file in this process."""
    source = read(root, path)
    if isinstance(source, Source):
        return Found(path, source.digest, facts_of(source))
    return Found(path, "", None, source)


def _start(root: Path, count: int) -> list[_Worker]:
    workers = []
    for _ in range(count):
        try:
            workers.append(_Worker(root))
        except WorkerLost:
            break
    return workers


class _Worker:
    """One process, asked by one thread at a time."""

    def __init__(self, root: Path) -> None:
        if not sys.executable:
            raise WorkerLost("the interpreter does not know its own path")
        modules = [path for path in sys.path if path]
        self._root = root
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, str(root), json.dumps(modules)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as problem:
            raise WorkerLost(f"no process can be started: {problem}") from problem

    def read(self, paths: list[str]) -> list[Found]:
        """The facts of ``paths``. Raises WorkerLost."""
        asked, answered = self._process.stdin, self._process.stdout
        assert asked is not None and answered is not None
        try:
            asked.write(json.dumps(paths).encode("ascii") + b"\n")
            asked.flush()
            answers: list[dict[str, Any]] = json.loads(answered.readline())
            return [_found(path, answer) for path, answer in zip(paths, answers, strict=True)]
        except (OSError, ValueError, KeyError, TypeError) as problem:
            self.stop()
            raise WorkerLost(f"a worker stopped: {problem}") from problem

    def stop(self) -> None:
        """End the process; its pipes are closed once it is gone."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


def _found(path: str, answer: dict[str, Any]) -> Found:
    if "why" in answer:
        return Found(path, "", None, Unread(path, answer["why"], answer["gone"]))
    key, outline, names, words, lines = answer["facts"]
    return Found(path, answer["digest"], unpack_facts(key, outline, names, words, bytes.fromhex(lines)))
