"""A process that reads and outlines files for another, and gathers them in segments of the index.

Started by :mod:`context.workers`. Each request and each answer is one line of JSON. ``{"read": paths}`` is
answered by ``{"files": [...]}``, one entry a path: its number in the segment that is being gathered, or
why it gave no text; ``"segment"`` is the name of the segment once it is on disk, with all files since the
last one. ``{"flush": true}`` writes what is gathered. ``{"merge": [[name, live], ...], "to": name}`` makes
one segment of several, of the files whose bytes in ``live`` (base64) are not 0.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path
from typing import Any

from context.draft import Draft
from context.facts import facts_of
from context.segment import DamagedSegment, Segment
from context.segment_writing import write_segment
from context.source import Unread, read

_FIRST = 30
"""Files in the first segment, so that something is known soon; each later one may hold more."""


class Gathering:
    """The files of one project that this process was asked to read."""

    def __init__(self, root: Path, folder: Path, most: int, *, lines: bool) -> None:
        self._root, self._folder, self._most, self._lines = root, folder, most, lines
        self._draft = Draft()
        self._files = _FIRST

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What one request is answered with. Raises OSError."""
        if "merge" in request:
            return self._merge(request["merge"], request["to"])
        files = [self._read(path) for path in request.get("read", ())]
        full = self._draft.size > self._most or len(self._draft) >= self._files
        if full:
            self._files *= 4
        return {"files": files, "segment": self._write() if full or "flush" in request else None}

    def _read(self, path: str) -> int | list[Any]:
        source = read(self._root, path)
        if isinstance(source, Unread):
            return [source.why, source.gone]
        return self._draft.add(facts_of(source, lines=self._lines))

    def _write(self) -> str | None:
        if not len(self._draft):
            return None
        name = f"{os.urandom(16).hex()}.segment"
        write_segment([(self._draft, None)], self._folder / name)
        self._draft = Draft()
        return name

    def _merge(self, parts: list[list[str]], to: str) -> dict[str, Any]:
        try:
            held = [(Segment(self._folder / name), base64.b64decode(live)) for name, live in parts]
            write_segment(held, self._folder / to)
        except DamagedSegment as problem:
            return {"why": str(problem)}
        return {"segment": to}


def main() -> None:
    """Answer until the other side hangs up. Arguments: the project's root, the folder for segments, the
    postings to hold at most, and ``lines`` where line checksums are wanted."""
    os.nice(5)
    root, folder, most, *more = sys.argv[1:]
    gathering = Gathering(Path(root), Path(folder), int(most), lines="lines" in more)
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(json.dumps(gathering.answer(json.loads(line))).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
