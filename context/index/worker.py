"""A worker process that reads and outlines files, and collects them in segments of the index.

It is started by :mod:`context.index.worker_pool`. Each request and each answer is one line of JSON.
``{"read": paths}`` is answered by ``{"files": [...]}`` with one entry per path: its number in the next
segment, or why it gave no text. ``"segment"`` is the name of a segment that was just written, with all
files since the last one. ``"worn": true`` says that the process has used its share of memory and should
be replaced. ``{"flush": true}`` writes what is collected. ``{"merge": [[name, live], ...], "to": name}``
merges segments, keeping the files whose bytes in ``live`` (base64) are not 0.
"""

from __future__ import annotations

import base64
import gc
import json
import os
import sys
from pathlib import Path
from typing import Any

from context.disk.source import Unread, read
from context.index.facts import facts_of
from context.index.memory_segment import MemorySegment, SortedRun
from context.index.outliner import memory_taken
from context.index.segment import DamagedSegment, Segment
from context.index.segment_writing import write_segment

_FIRST = 30
"""Number of files in the first segment, so that some are known soon; later ones may have more."""
_SHARE = 5
"""The collected files may take one part in this many of the memory."""
_RUN = 40_000
"""Number of postings above which a draft is packed: within the processor's caches it is far faster."""


class Gathering:
    """The files of one project that this process has read."""

    def __init__(self, root: Path, folder: Path, most: int, *, lines: bool) -> None:
        self._root, self._folder, self._most, self._lines = root, folder, most, lines
        self._draft = MemorySegment()
        self._runs: list[SortedRun] = []
        self._packed = 0
        self._size = 0
        self._files = _FIRST

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answers one request. Raises OSError."""
        if "merge" in request:
            return self._merge(request["merge"], request["to"])
        files = [self._read(path) for path in request.get("read", ())]
        worn = memory_taken() > self._most
        full = self._size > self._most // _SHARE or self._packed + len(self._draft) >= self._files
        if full:
            self._files *= 4
        write = full or worn or "flush" in request
        return {"files": files, "segment": self._write() if write else None, "worn": worn}

    def _read(self, path: str) -> int | list[Any]:
        source = read(self._root, path)
        if isinstance(source, Unread):
            return [source.why, source.gone]
        number = self._packed + self._draft.add(facts_of(source, lines=self._lines))
        if self._draft.size > _RUN:
            self._pack()
        return number

    def _pack(self) -> None:
        run = self._draft.pack()
        self._runs.append(run)
        self._packed += len(run)
        self._size += run.size
        self._draft = MemorySegment()

    def _write(self) -> str | None:
        if len(self._draft):
            self._pack()
        if not self._runs:
            return None
        name = f"{os.urandom(16).hex()}.segment"
        write_segment([(run, None) for run in self._runs], self._folder / name)
        self._runs.clear()
        self._packed = self._size = 0
        gc.collect()
        return name

    def _merge(self, parts: list[list[str]], to: str) -> dict[str, Any]:
        try:
            held = [(Segment(self._folder / name), base64.b64decode(live)) for name, live in parts]
            write_segment(held, self._folder / to)
        except DamagedSegment as problem:
            return {"why": str(problem)}
        return {"segment": to}


def main() -> None:
    """Answer requests until standard input ends.

    Arguments: the project's root, the folder for segments, the memory limit in bytes, and ``lines`` if line
    checksums are wanted.
    """
    os.nice(5)
    # Reading makes almost no reference cycles, so collecting them after each segment is enough.
    gc.freeze()
    gc.disable()
    root, folder, most, *more = sys.argv[1:]
    gathering = Gathering(Path(root), Path(folder), int(most), lines="lines" in more)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(gathering.answer(json.loads(line))).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
